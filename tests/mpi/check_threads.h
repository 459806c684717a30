/* SPDX-License-Identifier: MIT */
// Threads that each keep a hash of what they observe; check_join folds the hashes in thread order.
#ifndef CHECK_THREADS_H
#define CHECK_THREADS_H

#include "check.h"

#include <pthread.h>

enum { CHECK_THREADS = 4 };

struct check_thread {
    pthread_t thread;
    int number;
    uint64_t hash;
};

static struct check_thread check_threads[CHECK_THREADS];

static inline void check_thread_note(struct check_thread *self, long value)
{
    self->hash = check_mix(self->hash * 31 + (uint64_t)value + 0x9e3779b97f4a7c15u);
    if (check.trace)
        fprintf(stderr, "NOTE %d.%d: %ld\n", check.rank, self->number, value);
}

static inline void check_thread_note_status(struct check_thread *self, long value,
                                            const MPI_Status *status)
{
    check_thread_note(self, value);
    check_thread_note(self, status->MPI_SOURCE);
    check_thread_note(self, status->MPI_TAG);
}

// Sleeps before a send: ranks in the forced order, threads of a rank in the same.
static inline void check_thread_pace(const struct check_thread *self)
{
    int place = check.order == CHECK_DOWN ? CHECK_THREADS - 1 - self->number : self->number;

    check_sleep_ms(place * check.pace_ms / 4);
}

// Starts MPI for several threads; false: this MPI cannot.
static inline int check_start_threads(int *argc, char ***argv)
{
    return check_start_thread(argc, argv, MPI_THREAD_MULTIPLE) == MPI_THREAD_MULTIPLE;
}

static inline void check_run_threads(void *(*body)(void *))
{
    for (int i = 0; i < CHECK_THREADS; i++) {
        check_threads[i].number = i;
        pthread_create(&check_threads[i].thread, NULL, body, &check_threads[i]);
    }
    for (int i = 0; i < CHECK_THREADS; i++) {
        pthread_join(check_threads[i].thread, NULL);
        check_note((long)check_threads[i].hash);
    }
}

#endif
