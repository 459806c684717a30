/* SPDX-License-Identifier: MIT */
/*
 * System calls of the program take logical time, by a table. They count when the thread that calls
 * MPI makes them outside of MPI, from the program or a library that works for it
 * (preload/caller.h).
 */
#include "det/det_costs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "det/det_state.h"
#include "job/settings.h"
#include "log/syscall_costs.h"
#include "preload/caller.h"

#define RP_ENTRY __attribute__((visibility("default")))

static struct rp_syscall_costs costs;

enum rp_status rp_det_costs_start(struct rp_problem *why)
{
    const char *path = rp_setting("REPRISE_COSTS");

    costs = rp_syscall_costs_usual;
    return path ? rp_syscall_costs_read(path, &costs, why) : RP_OK;
}

static bool counts(uintptr_t caller)
{
    return rp_det.is_on && rp_det_is_owner && rp_det.depth == 0 && rp_det.inside == 0 &&
           rp_caller_is_program(caller);
}

static void add_cost(uintptr_t caller, uint64_t ticks)
{
    if (counts(caller))
        rp_shared_tick(ticks);
}

/* Into how many pieces a pipe, terminal or socket cuts what passes through it is not the program's
 * to decide either: only files count. */
static void add_cost_of_bytes(uintptr_t caller, int descriptor, uint64_t call, uint64_t kib,
                              ssize_t bytes)
{
    struct stat about;

    if (counts(caller) && fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode))
        rp_shared_tick(call + (bytes > 0 ? (uint64_t)bytes * kib / 1024 : 0));
}

static uint64_t ticks_of(int64_t seconds, int64_t nanoseconds)
{
    return seconds < 0 ? 0
                       : (uint64_t)seconds * 1000000 * costs.microsecond +
                             (uint64_t)nanoseconds * costs.microsecond / 1000;
}

/* Sleeping. What is left of an interrupted sleep was not slept, but how much that is depends on
 * more than the program: the whole time counts. */

RP_ENTRY unsigned sleep(unsigned seconds)
{
    add_cost(RP_CALLER, ticks_of(seconds, 0));
    return RP_REAL(sleep, "sleep")(seconds);
}

RP_ENTRY int usleep(useconds_t microseconds)
{
    add_cost(RP_CALLER, ticks_of(0, (int64_t)microseconds * 1000));
    return RP_REAL(usleep, "usleep")(microseconds);
}

RP_ENTRY int nanosleep(const struct timespec *time, struct timespec *left)
{
    if (time)
        add_cost(RP_CALLER, ticks_of(time->tv_sec, time->tv_nsec));
    return RP_REAL(nanosleep, "nanosleep")(time, left);
}

RP_ENTRY int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                             struct timespec *left)
{
    if (time && !(flags & TIMER_ABSTIME))
        add_cost(RP_CALLER, ticks_of(time->tv_sec, time->tv_nsec));
    return RP_REAL(clock_nanosleep, "clock_nanosleep")(clock, flags, time, left);
}

RP_ENTRY int thrd_sleep(const struct timespec *time, struct timespec *left)
{
    if (time)
        add_cost(RP_CALLER, ticks_of(time->tv_sec, time->tv_nsec));
    return RP_REAL(thrd_sleep, "thrd_sleep")(time, left);
}

/* Waiting with a time-out counts only if that is what ended it: when a descriptor gets ready is not
 * the program's to decide. Nor is how much is left until a time of day, as other calls have it. */

static uint64_t ticks_until(const struct timespec *timeout)
{
    return timeout ? ticks_of(timeout->tv_sec, timeout->tv_nsec) : 0;
}

static uint64_t ticks_of_milliseconds(int timeout)
{
    return timeout > 0 ? ticks_of(0, (int64_t)timeout * 1000000) : 0;
}

RP_ENTRY int select(int count, fd_set *to_read, fd_set *to_write, fd_set *others,
                    struct timeval *timeout)
{
    uint64_t ticks = timeout ? ticks_of(timeout->tv_sec, (int64_t)timeout->tv_usec * 1000) : 0;
    int found = RP_REAL(select, "select")(count, to_read, to_write, others, timeout);

    add_cost(RP_CALLER, found == 0 ? ticks : 0);
    return found;
}

RP_ENTRY int poll(struct pollfd *descriptors, nfds_t count, int timeout)
{
    int found = RP_REAL(poll, "poll")(descriptors, count, timeout);

    add_cost(RP_CALLER, found == 0 ? ticks_of_milliseconds(timeout) : 0);
    return found;
}

RP_ENTRY int pselect(int count, fd_set *to_read, fd_set *to_write, fd_set *others,
                     const struct timespec *timeout, const sigset_t *mask)
{
    int found = RP_REAL(pselect, "pselect")(count, to_read, to_write, others, timeout, mask);

    add_cost(RP_CALLER, found == 0 ? ticks_until(timeout) : 0);
    return found;
}

RP_ENTRY int ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout,
                   const sigset_t *mask)
{
    int found = RP_REAL(ppoll, "ppoll")(descriptors, count, timeout, mask);

    add_cost(RP_CALLER, found == 0 ? ticks_until(timeout) : 0);
    return found;
}

/* What programs call that were compiled with _FORTIFY_SOURCE. */
RP_ENTRY int __poll_chk(struct pollfd *descriptors, nfds_t count, int timeout, size_t size)
{
    int found = RP_REAL(__poll_chk, "__poll_chk")(descriptors, count, timeout, size);

    add_cost(RP_CALLER, found == 0 ? ticks_of_milliseconds(timeout) : 0);
    return found;
}

RP_ENTRY int __ppoll_chk(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout,
                         const sigset_t *mask, size_t size)
{
    int found = RP_REAL(__ppoll_chk, "__ppoll_chk")(descriptors, count, timeout, mask, size);

    add_cost(RP_CALLER, found == 0 ? ticks_until(timeout) : 0);
    return found;
}

RP_ENTRY int epoll_wait(int descriptor, struct epoll_event *events, int count, int timeout)
{
    int found = RP_REAL(epoll_wait, "epoll_wait")(descriptor, events, count, timeout);

    add_cost(RP_CALLER, found == 0 ? ticks_of_milliseconds(timeout) : 0);
    return found;
}

RP_ENTRY int epoll_pwait(int descriptor, struct epoll_event *events, int count, int timeout,
                         const sigset_t *mask)
{
    int found = RP_REAL(epoll_pwait, "epoll_pwait")(descriptor, events, count, timeout, mask);

    add_cost(RP_CALLER, found == 0 ? ticks_of_milliseconds(timeout) : 0);
    return found;
}

RP_ENTRY int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    int signal = RP_REAL(sigtimedwait, "sigtimedwait")(set, info, timeout);

    add_cost(RP_CALLER, signal < 0 && errno == EAGAIN ? ticks_until(timeout) : 0);
    return signal;
}

/* Files */

RP_ENTRY ssize_t read(int descriptor, void *into, size_t bytes)
{
    ssize_t done = RP_REAL(read, "read")(descriptor, into, bytes);

    add_cost_of_bytes(RP_CALLER, descriptor, costs.read, costs.read_kib, done);
    return done;
}

RP_ENTRY ssize_t pread(int descriptor, void *into, size_t bytes, off_t offset)
{
    ssize_t done = RP_REAL(pread, "pread")(descriptor, into, bytes, offset);

    add_cost_of_bytes(RP_CALLER, descriptor, costs.read, costs.read_kib, done);
    return done;
}

RP_ENTRY ssize_t write(int descriptor, const void *from, size_t bytes)
{
    ssize_t done = RP_REAL(write, "write")(descriptor, from, bytes);

    add_cost_of_bytes(RP_CALLER, descriptor, costs.write, costs.write_kib, done);
    return done;
}

RP_ENTRY ssize_t pwrite(int descriptor, const void *from, size_t bytes, off_t offset)
{
    ssize_t done = RP_REAL(pwrite, "pwrite")(descriptor, from, bytes, offset);

    add_cost_of_bytes(RP_CALLER, descriptor, costs.write, costs.write_kib, done);
    return done;
}

RP_ENTRY int fsync(int descriptor)
{
    add_cost(RP_CALLER, costs.sync);
    return RP_REAL(fsync, "fsync")(descriptor);
}
