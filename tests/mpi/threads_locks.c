/* SPDX-License-Identifier: MIT */
// ranks: 3
// also: solo
// det: refused: by another thread
// native: differs
// about: threads take work under spin locks, read-write locks, semaphores and C11 mutexes, and meet
//     at barriers; who gets what is part of the result
#include "check_threads.h"

#include <errno.h>
#include <semaphore.h>
#include <threads.h>

enum { ITEMS = 48, TAG = 3 };

static pthread_spinlock_t spin;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore, tokens;
static mtx_t c11;
static pthread_barrier_t barrier;
static long next_item[4];

static long take_spin(void)
{
    pthread_spin_lock(&spin);
    long item = next_item[0]++;
    pthread_spin_unlock(&spin);
    return item;
}

static long take_rw(struct check_thread *self)
{
    int read = pthread_rwlock_tryrdlock(&rw);
    check_thread_note(self, read);
    if (read == 0) {
        check_thread_note(self, next_item[1]);
        pthread_rwlock_unlock(&rw);
    }
    pthread_rwlock_rdlock(&rw);
    check_thread_note(self, next_item[1]);
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_wrlock(&rw);
    long item = next_item[1]++;
    check_thread_note(self, pthread_rwlock_wrlock(&rw) == EDEADLK);
    pthread_rwlock_unlock(&rw);
    return item;
}

static long take_semaphore(struct check_thread *self)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    if (sem_trywait(&semaphore) != 0) {
        check_thread_note(self, errno);
        if (sem_timedwait(&semaphore, &until) != 0) {
            check_thread_note(self, errno);
            while (sem_wait(&semaphore) != 0)
                ;
        }
    }
    long item = next_item[2]++;
    sem_post(&semaphore);
    return item;
}

static long take_c11(struct check_thread *self)
{
    int busy = mtx_trylock(&c11);
    check_thread_note(self, busy == thrd_busy);
    if (busy != thrd_success)
        mtx_lock(&c11);
    long item = next_item[3]++;
    mtx_unlock(&c11);
    return item;
}

static long take(struct check_thread *self, int kind)
{
    return kind == 0   ? take_spin()
           : kind == 1 ? take_rw(self)
           : kind == 2 ? take_semaphore(self)
                       : take_c11(self);
}

/* Only as many threads as there are tokens talk at once. */
static void exchange(struct check_thread *self, long item)
{
    long value = -1;
    MPI_Status status;

    while (sem_wait(&tokens) != 0)
        ;
    MPI_Sendrecv(&item, 1, MPI_LONG, (check.rank + 1) % check.size, TAG, &value, 1, MPI_LONG,
                 MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    sem_post(&tokens);
    check_thread_note_status(self, value, &status);
}

static void *work(void *data)
{
    struct check_thread *self = data;

    for (int kind = 0; kind < 4; kind++) {
        int first = pthread_barrier_wait(&barrier);
        CHECK(first == 0 || first == PTHREAD_BARRIER_SERIAL_THREAD, "barrier");
        check_thread_note(self, first);
        for (long item; (item = take(self, kind)) < ITEMS / 4;) {
            check_thread_note(self, item);
            exchange(self, item);
            check_sleep_ms((item + check.rank) % 2);
        }
    }
    return NULL;
}

static int work_c11(void *data)
{
    exchange(data, 100);
    return 7;
}

int main(int argc, char **argv)
{
    static struct check_thread other = {.number = CHECK_THREADS};
    thrd_t thread;
    int answer = 0;

    if (!check_start_threads(&argc, &argv))
        return check_skip();
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    sem_init(&semaphore, 0, 1);
    sem_init(&tokens, 0, 2);
    mtx_init(&c11, mtx_plain);
    pthread_barrier_init(&barrier, NULL, CHECK_THREADS);
    CHECK(thrd_create(&thread, work_c11, &other) == thrd_success, "thrd_create");
    check_run_threads(work);
    thrd_join(thread, &answer);
    check_note(answer);
    check_note((long)other.hash);
    return check_end();
}
