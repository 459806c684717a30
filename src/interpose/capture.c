/* SPDX-License-Identifier: MIT */
/*
 * Each function asks the engine first: a replay has the value. Else the real function is asked, and
 * the engine is told. A value is an int and 64 bits; of a clock they are the difference to what the
 * same clock said before, of bytes there are as many values as it takes. Only calls by the program
 * itself count, and only by threads that are followed.
 */
#include "interpose/capture.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "preload/caller.h"
#include "preload/constants.h"
#include "entry/entry.h"
#include "entry/life.h"
#include "reprise.h"

int rp_captured;
pid_t rp_capture_told_pid;

__attribute__((constructor)) static void read_setting(void)
{
    static const char *const names[] = {"time", "random", "pid",
                                        "host"}; /* in the order of enum rp_capture */
    const char *list = rp_setting("REPRISE_MODE") ? rp_setting("REPRISE_CAPTURE") : NULL;

    for (int i = 0; list && i < 4; i++)
        if (rp_list_has(list, names[i]) || rp_list_has(list, "all"))
            rp_captured |= 1 << i;
}

/* Before MPI_Init */

enum { EARLY_MOST = 1 << 20 };

static struct rp_early_value *early;
static size_t early_count, early_room;
static uint64_t early_told;
static bool early_loaded;

int rp_capture_early(size_t index, struct rp_early_value *out)
{
    if (index >= early_count)
        return 0;
    *out = early[index];
    return 1;
}

uint64_t rp_capture_early_told(void)
{
    return early_told;
}

void rp_capture_add_early(const char *function, uintptr_t return_address, int32_t a, uint64_t c)
{
    if (early_count == early_room) {
        size_t room = early_room * 2 + 64;
        struct rp_early_value *more =
            room <= EARLY_MOST ? realloc(early, room * sizeof *early) : NULL;
        if (!more)
            return; /* a process that is no rank asks for ever */
        early = more;
        early_room = room;
    }
    early[early_count++] = (struct rp_early_value){function, return_address, a, c};
}

static bool recall_early(const struct rp_call *call, int32_t *a, uint64_t *c)
{
    if (!early_loaded)
        rp_replay_load_early();
    early_loaded = true;
    if (early_told >= early_count)
        return false;
    const struct rp_early_value *value = &early[early_told++];
    if (strcmp(value->function, call->function) != 0) {
        rp_error(
            "the replay left the record before MPI_Init: recorded is value %llu by %s, seen is %s",
            (unsigned long long)early_told, value->function, call->function);
        rp_end_job(REPRISE_EXIT_DIVERGED);
    }
    *a = value->a;
    *c = value->c;
    return true;
}

/* Asking and telling */

static bool is_replay(void)
{
    const char *mode = rp_setting("REPRISE_MODE");

    return mode && (strcmp(mode, "replay") == 0 || rp_setting("REPRISE_SOLO"));
}

bool rp_capture_has_old_pids(void)
{
    static int known = -1; /* asked for in handlers, too */

    if (known < 0)
        known = rp_setting("REPRISE_SOLO") || (is_replay() && rp_captured & RP_CAPTURE_PID);
    return known;
}

/* The engine ends with MPI; what is asked after is not captured. */
static bool was_engine;

/* A shell, a launcher or a checker that starts the program has the rank's environment, but no
 * MPI. */
static bool is_mpi_program(void)
{
    static bool found;

    if (!found) {
        rp_thread_state.depth++;
        found = rp_library_symbol("PMPI_Init") != NULL;
        rp_thread_state.depth--;
    }
    return found;
}

/* A worker of a program whose threads are not followed: its values are of no record. */
static void tell_of_strangers(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;

    if (rp_thread_state.identity != 0 && !rp_threads_on && !is_replay() &&
        !atomic_flag_test_and_set(&told))
        rp_note("a thread that does not call MPI asks for the time, or the like: this is not "
                "captured, since the program did not ask for MPI_THREAD_SERIALIZED or more; "
                "'reprise record --threads' captures it");
}

/* A runtime of OpenMP asks for the time while its threads wait, too (LLVM's on 64-bit Arm): only
 * what it asks for in omp_get_wtime is the program's. */
static __thread bool is_in_omp_get_wtime;

static bool is_callers(uintptr_t place)
{
    enum rp_caller who = rp_caller_who(place);

    return who != RP_CALLER_OTHER && (who != RP_CALLER_OPENMP || is_in_omp_get_wtime);
}

static bool is_ours(int kind, uintptr_t place)
{
    if (__builtin_expect(!(rp_captured & kind), 1) || rp_is_inside() || !is_callers(place))
        return false;
    if (!rp_engine)
        return !was_engine && syscall(SYS_gettid) == syscall(SYS_getpid) && is_mpi_program();
    was_engine = true;
    if (rp_thread_state.depth == 0 || rp_threads_adopt())
        return true;
    tell_of_strangers();
    return false;
}

/* Whether a replay has the value. `last`: it is told as the difference to the value before, of
 * whatever thread; NULL: as it is. */
static bool recalled_since(const struct rp_call *call, uint64_t *last, int32_t *a, uint64_t *c)
{
    bool known = false;

    if (rp_engine && !rp_engine->leads)
        return false;
    bool is_early = !rp_engine;
    if (!is_early)
        rp_threads_enter();
    rp_thread_state.depth++;
    if (is_early)
        known = is_replay() && recall_early(call, a, c);
    else if (rp_engine && (known = rp_engine->value(call, a, c)))
        rp_engine->value_taken();
    if (known && last)
        *c = *last += *c; /* in the order of the record: no other thread comes between */
    rp_thread_state.depth--;
    if (!is_early)
        rp_threads_leave();
    return known;
}

static bool recalled(const struct rp_call *call, int32_t *a, uint64_t *c)
{
    return recalled_since(call, NULL, a, c);
}

static void noted_since(const struct rp_call *call, uint64_t *last, int32_t a, uint64_t c)
{
    bool is_early = !rp_engine;

    rp_thread_state.depth++;
    if (!is_early)
        rp_threads_enter();
    uint64_t told = last ? c - *last : c;
    if (last)
        *last = c;
    if (is_early && !is_replay())
        rp_capture_add_early(call->function, call->return_address, a, told);
    else if (!is_early && rp_engine && !rp_engine->leads)
        rp_engine->value(call, &a, &told);
    if (!is_early)
        rp_threads_leave();
    rp_thread_state.depth--;
}

static void noted(const struct rp_call *call, int32_t a, uint64_t c)
{
    noted_since(call, NULL, a, c);
}

/* A number that grows, as a difference. */
static bool recalled_clock(const struct rp_call *call, uint64_t *last, uint64_t *value)
{
    int32_t unused;

    return recalled_since(call, last, &unused, value);
}

static void noted_clock(const struct rp_call *call, uint64_t *last, uint64_t value)
{
    noted_since(call, last, 0, value);
}

/* Bytes: how many, and eight at a time. */
static bool recalled_bytes(const struct rp_call *call, void *buffer, size_t room, int32_t *result)
{
    uint64_t c;

    if (!recalled(call, result, &c))
        return false;
    for (size_t at = 0, size = c < room ? (size_t)c : room; at < size; at += sizeof c) {
        int32_t unused;
        uint64_t word = 0;
        if (!recalled(call, &unused, &word))
            break;
        memcpy((char *)buffer + at, &word, size - at < sizeof word ? size - at : sizeof word);
    }
    return true;
}

static void noted_bytes(const struct rp_call *call, const void *buffer, size_t size, int32_t result)
{
    noted(call, result, size);
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)buffer + at, size - at < sizeof word ? size - at : sizeof word);
        noted(call, 0, word);
    }
}

/* Time */

double rp_capture_Wtime(const struct rp_call *call)
{
    double value;
    int32_t unused;
    uint64_t bits;

    if (!rp_engine || (rp_thread_state.depth != 0 && rp_is_elsewhere("MPI_Wtime", 0)))
        return call->next->Wtime();
    if (recalled(call, &unused, &bits)) {
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    rp_thread_state.depth++;
    value = call->next->Wtime();
    rp_thread_state.depth--;
    memcpy(&bits, &value, sizeof bits);
    noted(call, 0, bits);
    return value;
}

enum { CLOCKS = 16, BILLION = 1000000000 };

RP_ENTRY int clock_gettime(clockid_t clock, struct timespec *out)
{
    static uint64_t last[CLOCKS];
    uint64_t now;
    bool captured = __builtin_expect(rp_captured != 0, 0) && clock >= 0 && clock < CLOCKS &&
                    is_ours(RP_CAPTURE_TIME, RP_CALLER);

    if (captured) {
        struct rp_call call = RP_CALL("clock_gettime");
        if (recalled_clock(&call, &last[clock], &now)) {
            *out = (struct timespec){(time_t)(now / BILLION), (long)(now % BILLION)};
            return 0;
        }
        int rc = RP_REAL(int(clockid_t, struct timespec *), "clock_gettime")(clock, out);
        noted_clock(&call, &last[clock], (uint64_t)out->tv_sec * BILLION + (uint64_t)out->tv_nsec);
        return rc;
    }
    return RP_REAL(int(clockid_t, struct timespec *), "clock_gettime")(clock, out);
}

RP_ENTRY int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    static uint64_t last;
    uint64_t now;

    if (__builtin_expect(rp_captured != 0, 0) && is_ours(RP_CAPTURE_TIME, RP_CALLER)) {
        struct rp_call call = RP_CALL("gettimeofday");
        if (recalled_clock(&call, &last, &now)) {
            *out = (struct timeval){(time_t)(now / 1000000), (suseconds_t)(now % 1000000)};
            return 0;
        }
        int rc = RP_REAL(int(struct timeval *, void *), "gettimeofday")(out, zone);
        noted_clock(&call, &last, (uint64_t)out->tv_sec * 1000000 + (uint64_t)out->tv_usec);
        return rc;
    }
    return RP_REAL(int(struct timeval *, void *), "gettimeofday")(out, zone);
}

/* Who looks whether there is this function finds ours, also without OpenMP. */
static double ask_openmp(double (*real)(void))
{
    struct timespec now = {0};

    if (!real) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    }
    is_in_omp_get_wtime = true;
    double time = real();
    is_in_omp_get_wtime = false;
    return time;
}

RP_ENTRY double omp_get_wtime(void)
{
    return ask_openmp(RP_REAL(double(void), "omp_get_wtime"));
}

/* Fortran's name. */
RP_ENTRY double omp_get_wtime_(void)
{
    return ask_openmp(RP_REAL(double(void), "omp_get_wtime_"));
}

RP_ENTRY time_t time(time_t *out)
{
    static uint64_t last;
    uint64_t now;

    if (__builtin_expect(rp_captured == 0, 1) || !is_ours(RP_CAPTURE_TIME, RP_CALLER))
        return RP_REAL(time_t(time_t *), "time")(out);
    struct rp_call call = RP_CALL("time");
    if (!recalled_clock(&call, &last, &now)) {
        now = (uint64_t)RP_REAL(time_t(time_t *), "time")(NULL);
        noted_clock(&call, &last, now);
    }
    if (out)
        *out = (time_t)now;
    return (time_t)now;
}

RP_ENTRY clock_t clock(void)
{
    static uint64_t last;
    uint64_t now;

    if (__builtin_expect(rp_captured == 0, 1) || !is_ours(RP_CAPTURE_TIME, RP_CALLER))
        return RP_REAL(clock_t(void), "clock")();
    struct rp_call call = RP_CALL("clock");
    if (!recalled_clock(&call, &last, &now)) {
        now = (uint64_t)RP_REAL(clock_t(void), "clock")();
        noted_clock(&call, &last, now);
    }
    return (clock_t)now;
}

RP_ENTRY int timespec_get(struct timespec *out, int base)
{
    static uint64_t last;
    uint64_t now;

    if (__builtin_expect(rp_captured == 0, 1) || base != TIME_UTC ||
        !is_ours(RP_CAPTURE_TIME, RP_CALLER))
        return RP_REAL(int(struct timespec *, int), "timespec_get")(out, base);
    struct rp_call call = RP_CALL("timespec_get");
    if (recalled_clock(&call, &last, &now)) {
        *out = (struct timespec){(time_t)(now / BILLION), (long)(now % BILLION)};
        return base;
    }
    int rc = RP_REAL(int(struct timespec *, int), "timespec_get")(out, base);
    noted_clock(&call, &last, (uint64_t)out->tv_sec * BILLION + (uint64_t)out->tv_nsec);
    return rc;
}

RP_ENTRY int getrusage(__rusage_who_t who, struct rusage *usage)
{
    int32_t rc;

    if (__builtin_expect(rp_captured == 0, 1) || !is_ours(RP_CAPTURE_TIME, RP_CALLER))
        return RP_REAL(int(__rusage_who_t, struct rusage *), "getrusage")(who, usage);
    struct rp_call call = RP_CALL("getrusage");
    if (!recalled_bytes(&call, usage, sizeof *usage, &rc)) {
        rc = RP_REAL(int(__rusage_who_t, struct rusage *), "getrusage")(who, usage);
        noted_bytes(&call, usage, rc == 0 ? sizeof *usage : 0, rc);
    }
    return rc;
}

RP_ENTRY clock_t times(struct tms *used)
{
    int32_t unused;
    uint64_t now;

    if (__builtin_expect(rp_captured == 0, 1) || !used || !is_ours(RP_CAPTURE_TIME, RP_CALLER))
        return RP_REAL(clock_t(struct tms *), "times")(used);
    struct rp_call call = RP_CALL("times");
    if (recalled(&call, &unused, &now)) {
        recalled_bytes(&call, used, sizeof *used, &unused);
        return (clock_t)now;
    }
    now = (uint64_t)RP_REAL(clock_t(struct tms *), "times")(used);
    noted(&call, 0, now);
    noted_bytes(&call, used, sizeof *used, 0);
    return (clock_t)now;
}

/* Random bytes */

RP_ENTRY ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
    int32_t rc;

    if (__builtin_expect(rp_captured == 0, 1) || !is_ours(RP_CAPTURE_RANDOM, RP_CALLER))
        return RP_REAL(ssize_t(void *, size_t, unsigned), "getrandom")(buffer, size, flags);
    struct rp_call call = RP_CALL("getrandom");
    if (!recalled_bytes(&call, buffer, size, &rc)) {
        rc = (int32_t)RP_REAL(ssize_t(void *, size_t, unsigned), "getrandom")(buffer, size, flags);
        noted_bytes(&call, buffer, rc > 0 ? (size_t)rc : 0, rc);
    }
    return rc;
}

RP_ENTRY int getentropy(void *buffer, size_t size)
{
    int32_t rc;

    if (__builtin_expect(rp_captured == 0, 1) || !is_ours(RP_CAPTURE_RANDOM, RP_CALLER))
        return RP_REAL(int(void *, size_t), "getentropy")(buffer, size);
    struct rp_call call = RP_CALL("getentropy");
    if (!recalled_bytes(&call, buffer, size, &rc)) {
        rc = RP_REAL(int(void *, size_t), "getentropy")(buffer, size);
        noted_bytes(&call, buffer, rc == 0 ? size : 0, rc);
    }
    return rc;
}

/* Not in every C library: declared here. */
uint32_t arc4random(void);
void arc4random_buf(void *buffer, size_t size);
uint32_t arc4random_uniform(uint32_t below);

RP_ENTRY uint32_t arc4random(void)
{
    int32_t value;
    uint64_t unused;

    if (__builtin_expect(rp_captured == 0, 1) || !is_ours(RP_CAPTURE_RANDOM, RP_CALLER))
        return RP_REAL(uint32_t(void), "arc4random")();
    struct rp_call call = RP_CALL("arc4random");
    if (!recalled(&call, &value, &unused)) {
        value = (int32_t)RP_REAL(uint32_t(void), "arc4random")();
        noted(&call, value, 0);
    }
    return (uint32_t)value;
}

RP_ENTRY void arc4random_buf(void *buffer, size_t size)
{
    int32_t unused;

    if (__builtin_expect(rp_captured == 0, 1) || !is_ours(RP_CAPTURE_RANDOM, RP_CALLER)) {
        RP_REAL(void(void *, size_t), "arc4random_buf")(buffer, size);
        return;
    }
    struct rp_call call = RP_CALL("arc4random_buf");
    if (!recalled_bytes(&call, buffer, size, &unused)) {
        RP_REAL(void(void *, size_t), "arc4random_buf")(buffer, size);
        noted_bytes(&call, buffer, size, 0);
    }
}

RP_ENTRY uint32_t arc4random_uniform(uint32_t below)
{
    int32_t value;
    uint64_t unused;

    if (__builtin_expect(rp_captured == 0, 1) || !is_ours(RP_CAPTURE_RANDOM, RP_CALLER))
        return RP_REAL(uint32_t(uint32_t), "arc4random_uniform")(below);
    struct rp_call call = RP_CALL("arc4random_uniform");
    if (!recalled(&call, &value, &unused)) {
        value = (int32_t)RP_REAL(uint32_t(uint32_t), "arc4random_uniform")(below);
        noted(&call, value, 0);
    }
    return (uint32_t)value;
}

static bool is_random_device(int fd)
{
    struct stat about;

    return fstat(fd, &about) == 0 && S_ISCHR(about.st_mode) && major(about.st_rdev) == 1 &&
           (minor(about.st_rdev) == 8 || minor(about.st_rdev) == 9);
}

static bool is_random_read(int fd, uintptr_t caller)
{
    return __builtin_expect(rp_captured != 0, 0) && is_ours(RP_CAPTURE_RANDOM, caller) &&
           is_random_device(fd);
}

static ssize_t read_random(const struct rp_call *call, int fd, void *buffer, size_t size)
{
    int32_t rc;

    if (!recalled_bytes(call, buffer, size, &rc)) {
        rc = (int32_t)RP_REAL(ssize_t(int, void *, size_t), "read")(fd, buffer, size);
        noted_bytes(call, buffer, rc > 0 ? (size_t)rc : 0, rc);
    }
    return rc;
}

static size_t fread_random(const struct rp_call *call, void *buffer, size_t size, size_t count,
                           FILE *file)
{
    int32_t rc;

    if (!recalled_bytes(call, buffer, size * count, &rc)) {
        rc = (int32_t)RP_REAL(size_t(void *, size_t, size_t, FILE *), "fread")(buffer, size, count,
                                                                               file);
        noted_bytes(call, buffer, (size_t)rc * size, rc);
    }
    return (size_t)rc;
}

RP_ENTRY ssize_t read(int fd, void *buffer, size_t size)
{
    if (__builtin_expect(!is_random_read(fd, RP_CALLER), 1))
        return RP_REAL(ssize_t(int, void *, size_t), "read")(fd, buffer, size);
    struct rp_call call = RP_CALL("read");
    return read_random(&call, fd, buffer, size);
}

/* Such a device has no places. */
RP_ENTRY ssize_t pread(int fd, void *buffer, size_t size, off_t at)
{
    if (__builtin_expect(!is_random_read(fd, RP_CALLER), 1))
        return RP_REAL(ssize_t(int, void *, size_t, off_t), "pread")(fd, buffer, size, at);
    struct rp_call call = RP_CALL("pread");
    return read_random(&call, fd, buffer, size);
}

RP_ENTRY ssize_t pread64(int fd, void *buffer, size_t size, off64_t at)
{
    if (__builtin_expect(!is_random_read(fd, RP_CALLER), 1))
        return RP_REAL(ssize_t(int, void *, size_t, off64_t), "pread64")(fd, buffer, size, at);
    struct rp_call call = RP_CALL("pread");
    return read_random(&call, fd, buffer, size);
}

RP_ENTRY ssize_t readv(int fd, const struct iovec *parts, int count)
{
    ssize_t sum = 0;

    if (__builtin_expect(!is_random_read(fd, RP_CALLER), 1))
        return RP_REAL(ssize_t(int, const struct iovec *, int), "readv")(fd, parts, count);
    struct rp_call call = RP_CALL("readv");
    for (int i = 0; i < count; i++) {
        ssize_t got = read_random(&call, fd, parts[i].iov_base, parts[i].iov_len);
        if (got < 0)
            return sum > 0 ? sum : got;
        sum += got;
    }
    return sum;
}

RP_ENTRY size_t fread(void *restrict buffer, size_t size, size_t count, FILE *restrict file)
{
    if (__builtin_expect(rp_captured == 0, 1) || !is_random_read(fileno(file), RP_CALLER))
        return RP_REAL(size_t(void *, size_t, size_t, FILE *), "fread")(buffer, size, count, file);
    struct rp_call call = RP_CALL("fread");
    return fread_random(&call, buffer, size, count, file);
}

/* What the compiler makes of them if it is asked to check sizes. */

RP_ENTRY ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);
RP_ENTRY ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room)
{
    if (__builtin_expect(size > room || !is_random_read(fd, RP_CALLER), 1))
        return RP_REAL(ssize_t(int, void *, size_t, size_t), "__read_chk")(fd, buffer, size, room);
    struct rp_call call = RP_CALL("read");
    return read_random(&call, fd, buffer, size);
}

RP_ENTRY size_t __fread_chk(void *restrict buffer, size_t room, size_t size, size_t count,
                            FILE *restrict file);
RP_ENTRY size_t __fread_chk(void *restrict buffer, size_t room, size_t size, size_t count,
                            FILE *restrict file)
{
    if (__builtin_expect(rp_captured == 0, 1) || size * count > room ||
        !is_random_read(fileno(file), RP_CALLER))
        return RP_REAL(size_t(void *, size_t, size_t, size_t, FILE *),
                       "__fread_chk")(buffer, room, size, count, file);
    struct rp_call call = RP_CALL("fread");
    return fread_random(&call, buffer, size, count, file);
}

/* std::random_device::_M_getval(), which may ask the processor. */
RP_ENTRY unsigned _ZNSt13random_device9_M_getvalEv(void *self);
RP_ENTRY unsigned _ZNSt13random_device9_M_getvalEv(void *self)
{
    int32_t value;
    uint64_t unused;

    if (__builtin_expect(rp_captured == 0, 1) || !is_ours(RP_CAPTURE_RANDOM, RP_CALLER))
        return RP_REAL(unsigned(void *), "_ZNSt13random_device9_M_getvalEv")(self);
    struct rp_call call = RP_CALL("std::random_device");
    if (!recalled(&call, &value, &unused)) {
        rp_thread_state.depth++;
        value = (int32_t)RP_REAL(unsigned(void *), "_ZNSt13random_device9_M_getvalEv")(self);
        rp_thread_state.depth--;
        noted(&call, value, 0);
    }
    return (unsigned)value;
}

/* Process and host */

RP_ENTRY pid_t getpid(void)
{
    int32_t value;
    uint64_t unused;

    if (__builtin_expect(rp_captured == 0, 1) || !is_ours(RP_CAPTURE_PID, RP_CALLER))
        return RP_REAL(pid_t(void), "getpid")();
    struct rp_call call = RP_CALL("getpid");
    if (!recalled(&call, &value, &unused)) {
        value = RP_REAL(pid_t(void), "getpid")();
        noted(&call, value, 0);
    } else {
        rp_capture_told_pid = value;
    }
    return value;
}

static int host_name(const struct rp_call *call, char *name, size_t size)
{
    int32_t rc;

    if (!recalled_bytes(call, name, size, &rc)) {
        rc = RP_REAL(int(char *, size_t), "gethostname")(name, size);
        noted_bytes(call, name, rc == 0 ? strnlen(name, size - 1) + 1 : 0, rc);
    }
    return rc;
}

RP_ENTRY int gethostname(char *name, size_t size)
{
    if (__builtin_expect(rp_captured == 0, 1) || !is_ours(RP_CAPTURE_HOST, RP_CALLER))
        return RP_REAL(int(char *, size_t), "gethostname")(name, size);
    struct rp_call call = RP_CALL("gethostname");
    return host_name(&call, name, size);
}

RP_ENTRY int __gethostname_chk(char *name, size_t size, size_t room);
RP_ENTRY int __gethostname_chk(char *name, size_t size, size_t room)
{
    if (__builtin_expect(rp_captured == 0, 1) || size > room ||
        !is_ours(RP_CAPTURE_HOST, RP_CALLER))
        return RP_REAL(int(char *, size_t, size_t), "__gethostname_chk")(name, size, room);
    struct rp_call call = RP_CALL("gethostname");
    return host_name(&call, name, size);
}

RP_ENTRY int uname(struct utsname *about)
{
    int32_t rc;

    if (__builtin_expect(rp_captured == 0, 1) || !is_ours(RP_CAPTURE_HOST, RP_CALLER))
        return RP_REAL(int(struct utsname *), "uname")(about);
    struct rp_call call = RP_CALL("uname");
    if (!recalled_bytes(&call, about, sizeof *about, &rc)) {
        rc = RP_REAL(int(struct utsname *), "uname")(about);
        noted_bytes(&call, about, rc == 0 ? sizeof *about : 0, rc);
    }
    return rc;
}
