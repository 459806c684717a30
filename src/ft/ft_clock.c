/* SPDX-License-Identifier: MIT */
/*
 * What waits in MPI for processes that die before they are known there waits for ever: a thread
 * keeps the time, and ends the job when it is up.
 */
#include <pthread.h>
#include <time.h>

#include "ft/ft.h"
#include "reprise.h"

static pthread_t thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stopped = PTHREAD_COND_INITIALIZER;
static bool runs, is_stopped;
static int patience;
static const char *complaint, *reason;

static void *keep_time(void *unused)
{
    struct timespec until;
    int error = 0;

    (void)unused;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += patience;
    pthread_mutex_lock(&mutex);
    while (!is_stopped && error == 0)
        error = pthread_cond_timedwait(&stopped, &mutex, &until);
    bool is_up = !is_stopped;
    pthread_mutex_unlock(&mutex);
    if (is_up)
        rp_ft_give_up(REPRISE_EXIT_INTERNAL, "%s within %d s: %s", complaint, patience, reason);
    return NULL;
}

void rp_ft_clock_start(int seconds, const char *what, const char *why)
{
    patience = seconds;
    complaint = what;
    reason = why;
    is_stopped = false;
    runs = pthread_create(&thread, NULL, keep_time, NULL) == 0;
}

void rp_ft_clock_stop(void)
{
    if (!runs)
        return;
    pthread_mutex_lock(&mutex);
    is_stopped = true;
    pthread_cond_signal(&stopped);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    runs = false;
}
