/* SPDX-License-Identifier: MIT */
// ranks: 3
// det: differs
// native: differs
// record: --threads
// about: MPI_Init, and a pool of threads that compute: who takes which job from the queue, and in
//     which order they are done, decides what the main thread sends
#include "check.h"

#include <pthread.h>

enum { THREADS = 3, JOBS = 20, STEPS = 3, TAG = 2 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_is_there = PTHREAD_COND_INITIALIZER,
                      all_is_done = PTHREAD_COND_INITIALIZER;
static int left, done, stop;
static int done_by[JOBS], order[JOBS];

static void *compute(void *data)
{
    int self = *(int *)data;

    pthread_mutex_lock(&mutex);
    for (;;) {
        while (left == 0 && !stop)
            pthread_cond_wait(&work_is_there, &mutex);
        if (stop)
            break;
        int job = --left;
        pthread_mutex_unlock(&mutex);
        check_sleep_ms(check.order == CHECK_DOWN ? THREADS - self : 1 + self);
        pthread_mutex_lock(&mutex);
        done_by[done] = self;
        order[done++] = job;
        if (done == JOBS)
            pthread_cond_signal(&all_is_done);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static long compute_all(void)
{
    long digest = 0;

    pthread_mutex_lock(&mutex);
    left = JOBS;
    done = 0;
    pthread_cond_broadcast(&work_is_there);
    while (done < JOBS)
        pthread_cond_wait(&all_is_done, &mutex);
    for (int i = 0; i < JOBS; i++)
        digest = digest * 31 + order[i] * THREADS + done_by[i];
    pthread_mutex_unlock(&mutex);
    return digest;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    check_start(&argc, &argv);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, compute, &numbers[i]);
    }
    for (int step = 0; step < STEPS; step++) {
        long digest = compute_all(), value = -1;
        MPI_Status status;
        check_note(digest);
        check_send((check.rank + 1) % check.size, TAG + (int)(digest & 1), digest, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        check_note(value);
        check_note(status.MPI_TAG);
    }
    pthread_mutex_lock(&mutex);
    stop = 1;
    pthread_cond_broadcast(&work_is_there);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return check_end();
}
