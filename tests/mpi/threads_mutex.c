/* SPDX-License-Identifier: MIT */
// ranks: 3
// also: solo
// det: refused: by another thread
// native: differs
// about: threads take work from a queue with a mutex and a condition variable, and call MPI under
//     another mutex; who gets what is part of the result
#include "check_threads.h"

enum { ITEMS = 40, TAG = 3 };

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, mpi_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static long queue[ITEMS];
static int head, tail, closed;

static void put(long item)
{
    pthread_mutex_lock(&queue_lock);
    queue[tail++] = item;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&queue_lock);
}

static void finish(void)
{
    pthread_mutex_lock(&queue_lock);
    closed = 1;
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(&queue_lock);
}

static long take(void)
{
    long item = -1;

    pthread_mutex_lock(&queue_lock);
    while (head == tail && !closed)
        pthread_cond_wait(&filled, &queue_lock);
    if (head < tail)
        item = queue[head++];
    pthread_mutex_unlock(&queue_lock);
    return item;
}

/* One message to the right, one from anywhere; a try first, whose outcome is noted. */
static void exchange(struct check_thread *self, long item)
{
    long value = -1;
    int right = (check.rank + 1) % check.size;
    MPI_Status status;
    MPI_Request request;

    int busy = pthread_mutex_trylock(&mpi_lock);
    check_thread_note(self, busy);
    if (busy)
        pthread_mutex_lock(&mpi_lock);
    MPI_Isend(&item, 1, MPI_LONG, right, TAG, MPI_COMM_WORLD, &request);
    MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&mpi_lock);
    check_thread_note(self, item);
    check_thread_note_status(self, value, &status);
}

static void *work(void *data)
{
    struct check_thread *self = data;

    for (long item; (item = take()) >= 0;) {
        exchange(self, item);
        check_sleep_ms((item + check.rank) % 3);
    }
    return NULL;
}

static void *fill(void *unused)
{
    (void)unused;
    for (int i = 0; i < ITEMS; i++) {
        if (i % 8 == 0)
            check_pace(i);
        put(i);
    }
    finish();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t filler;
    struct timespec now;

    if (check_start_thread(&argc, &argv, MPI_THREAD_SERIALIZED) < MPI_THREAD_SERIALIZED)
        return check_skip();
    pthread_create(&filler, NULL, fill, NULL);
    check_run_threads(work);
    pthread_join(filler, NULL);
    clock_gettime(CLOCK_REALTIME, &now);
    pthread_mutex_lock(&queue_lock);
    check_note(pthread_cond_timedwait(&filled, &queue_lock, &now));
    pthread_mutex_unlock(&queue_lock);
    return check_end();
}
