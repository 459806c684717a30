/* SPDX-License-Identifier: MIT */
/*
 * A call that waits inside MPI for processes that die before MPI knows them waits for ever. A
 * thread keeps the time, and ends the job when it is up.
 */
#include "ft/ft_watchdog.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "ft/ft_abort.h"
#include "reprise.h"

static struct {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t stopped;
    bool runs, is_stopped;
    int seconds;
    const char *what, *why;
} watchdog = {.mutex = PTHREAD_MUTEX_INITIALIZER, .stopped = PTHREAD_COND_INITIALIZER};

static void *keep_time(void *unused)
{
    struct timespec until;
    int error = 0;

    (void)unused;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += watchdog.seconds;
    pthread_mutex_lock(&watchdog.mutex);
    while (!watchdog.is_stopped && error == 0)
        error = pthread_cond_timedwait(&watchdog.stopped, &watchdog.mutex, &until);
    bool is_up = !watchdog.is_stopped;
    pthread_mutex_unlock(&watchdog.mutex);
    if (is_up)
        rp_ft_give_up(REPRISE_EXIT_INTERNAL, "%s within %d s: %s", watchdog.what, watchdog.seconds,
                      watchdog.why);
    return NULL;
}

void rp_ft_watchdog_start(int seconds, const char *what, const char *why)
{
    watchdog.seconds = seconds;
    watchdog.what = what;
    watchdog.why = why;
    watchdog.is_stopped = false;
    watchdog.runs = pthread_create(&watchdog.thread, NULL, keep_time, NULL) == 0;
}

void rp_ft_watchdog_stop(void)
{
    if (!watchdog.runs)
        return;
    pthread_mutex_lock(&watchdog.mutex);
    watchdog.is_stopped = true;
    pthread_cond_signal(&watchdog.stopped);
    pthread_mutex_unlock(&watchdog.mutex);
    pthread_join(watchdog.thread, NULL);
    watchdog.runs = false;
}
