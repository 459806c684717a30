/* SPDX-License-Identifier: MIT */
/*
 * A file is wound back to where it stood. What comes from a pipe, a socket or a terminal is handed
 * on through a pipe by a thread, which keeps what it read as long as another launch may follow, up
 * to a limit. Anything else, such as /dev/null, the launcher reads itself.
 *
 * `kept` holds what was read; `given` bytes of it are in the pipe of this launch. Once no launch
 * can follow, what is given is dropped.
 */
#include "cli/stdin_feed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cli/launch.h"

enum { STEP = 65536, LIMIT = 64 << 20 };

static off_t place = -1; /* where a file stood */
static struct {
    bool on;
    int bell; /* rings for the thread when any of what follows was changed by others */
    pthread_mutex_t mutex;
    struct rp_buffer kept;
    size_t given;
    int in, out; /* the pipe of this launch; -1: none */
    bool ended;  /* so has our input */
    bool lost;   /* not all of it is kept */
    bool last;
} feed = {.bell = -1, .in = -1, .out = -1, .mutex = PTHREAD_MUTEX_INITIALIZER};

static void drop_given(void)
{
    memmove(feed.kept.bytes, feed.kept.bytes + feed.given, feed.kept.length - feed.given);
    feed.kept.length -= feed.given;
    feed.given = 0;
}

static void close_pipe(void)
{
    if (feed.out >= 0)
        close(feed.out);
    feed.out = -1;
}

static void give(void)
{
    ssize_t done = write(feed.out, feed.kept.bytes + feed.given, feed.kept.length - feed.given);

    if (done > 0)
        feed.given += (size_t)done;
    else if (done < 0 && errno != EAGAIN && errno != EINTR)
        close_pipe(); /* nobody reads it */
    if (feed.last || feed.kept.length > LIMIT) {
        feed.lost |= feed.given > 0;
        drop_given();
    }
}

/* A terminal is read by who is in front. */
static bool may_read(void)
{
    return !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

static void take(void)
{
    bool has_room = rp_buffer_reserve(&feed.kept, STEP);
    ssize_t got = has_room ? read(STDIN_FILENO, feed.kept.bytes + feed.kept.length, STEP) : 0;

    if (got > 0)
        feed.kept.length += (size_t)got;
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        feed.ended = true;
}

/* With the mutex, but while it waits. */
static void step(void)
{
    bool is_behind = feed.given < feed.kept.length, takes = !is_behind && !feed.ended && may_read();
    struct pollfd files[3] = {{.fd = feed.bell, .events = POLLIN}, {.fd = -1}, {.fd = -1}};

    if (feed.out >= 0 && !is_behind && feed.ended)
        close_pipe();
    if (feed.out >= 0 && is_behind)
        files[1] = (struct pollfd){.fd = feed.out, .events = POLLOUT};
    if (feed.out >= 0 && takes)
        files[2] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    pthread_mutex_unlock(&feed.mutex);
    poll(files, 3, 200);
    pthread_mutex_lock(&feed.mutex);
    uint64_t rings;
    if (files[0].revents && read(feed.bell, &rings, sizeof rings) > 0)
        return; /* what was waited for may be of another launch */
    if (files[1].revents && feed.out >= 0)
        give();
    if (files[2].revents)
        take();
}

static void *work(void *unused)
{
    pthread_mutex_lock(&feed.mutex);
    for (;;)
        step();
    return unused;
}

/* It takes no signals: one of a pipe that nobody reads stays with it. */
static void start_thread(void)
{
    sigset_t all, before;
    pthread_t thread;

    feed.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    feed.on = feed.bell >= 0 && pthread_create(&thread, NULL, work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void rp_stdin_start(void)
{
    struct stat about;

    if (fstat(STDIN_FILENO, &about) != 0)
        return;
    if (S_ISREG(about.st_mode))
        place = lseek(STDIN_FILENO, 0, SEEK_CUR);
    else if (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) || isatty(STDIN_FILENO))
        start_thread();
}

static void ring(void)
{
    uint64_t one = 1;

    if (write(feed.bell, &one, sizeof one) < 0)
        return; /* it rings already */
}

/* The read end is the launcher's; ours is closed before the next. */
static bool make_pipe(void)
{
    int ends[2];

    close_pipe();
    if (feed.in >= 0)
        close(feed.in);
    feed.in = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    feed.in = ends[0];
    feed.out = ends[1];
    feed.given = 0;
    return true;
}

bool rp_stdin_begin(void)
{
    if (!feed.on)
        return place < 0 || lseek(STDIN_FILENO, place, SEEK_SET) == place;
    pthread_mutex_lock(&feed.mutex);
    bool is_whole = !feed.lost && make_pipe();
    pthread_mutex_unlock(&feed.mutex);
    ring();
    rp_launch_from(feed.in);
    return is_whole;
}

void rp_stdin_last(void)
{
    if (!feed.on || feed.last)
        return;
    pthread_mutex_lock(&feed.mutex);
    feed.last = true;
    pthread_mutex_unlock(&feed.mutex);
}
