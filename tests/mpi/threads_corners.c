/* SPDX-License-Identifier: MIT */
// ranks: 3
// also: solo
// det: refused: by another thread
// native: differs
// about: threads that create threads, poll until told to stop, are cancelled by others, meet
//     mutexes of all kinds, use new communicators first, wait for a large send under an error
// about: handler, fork, and outlive MPI_Finalize
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGE = 2000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t hashes[8]; // one for each writer

static void note(int writer, long value)
{
    hashes[writer] = check_mix(hashes[writer] * 31 + (uint64_t)value + 1);
}

static long receive(int tag, MPI_Comm comm)
{
    long value = -1;
    MPI_Status status;

    MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, comm, &status);
    CHECK(value / 1000000 == status.MPI_SOURCE, "%ld from %d", value, status.MPI_SOURCE);
    return value;
}

/* Each thread creates the next, and receives what all ranks send to its level. */
static void *descend(void *data)
{
    int level = (int)(intptr_t)data;
    pthread_t next;

    if (level < 4)
        pthread_create(&next, NULL, descend, (void *)(intptr_t)(level + 1));
    check_sleep_ms(check.order == CHECK_DOWN ? level : 4 - level);
    for (int r = 0; r < check.size; r++)
        check_send(r, 10, level, MPI_COMM_WORLD); // one tag for all levels: they race
    for (int r = 0; r < check.size; r++)
        note(level, receive(10, MPI_COMM_WORLD));
    if (level < 4)
        pthread_join(next, NULL);
    return NULL;
}

static atomic_int stop;

static void *poll_until_told(void *unused)
{
    int flag = 0;

    (void)unused;
    while (!atomic_load(&stop)) {
        MPI_Iprobe(MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "nobody sends this");
    }
    return NULL;
}

/* How often it polls is open; what follows must come through. */
static void polling(void)
{
    pthread_t poller;

    pthread_create(&poller, NULL, poll_until_told, NULL);
    for (int r = 0; r < check.size; r++)
        check_send(r, 21, r, MPI_COMM_WORLD);
    for (int r = 0; r < check.size; r++)
        note(0, receive(21, MPI_COMM_WORLD));
    check_sleep_ms(check.order == CHECK_DOWN ? 20 : 5);
    atomic_store(&stop, 1);
    pthread_join(poller, NULL);
    check_send(check.rank, 22, 0, MPI_COMM_WORLD);
    note(0, receive(22, MPI_COMM_WORLD));
}

static MPI_Request cancelled;

static void *wait_for_cancelled(void *unused)
{
    MPI_Status status;
    int flag = 0;

    (void)unused;
    MPI_Wait(&cancelled, &status);
    MPI_Test_cancelled(&status, &flag);
    note(5, flag);
    return NULL;
}

static void cancelling(int source)
{
    static long value;
    pthread_t waiter;

    MPI_Irecv(&value, 1, MPI_LONG, source, 30, MPI_COMM_WORLD, &cancelled);
    MPI_Request copy = cancelled;
    pthread_create(&waiter, NULL, wait_for_cancelled, NULL);
    check_sleep_ms(10);
    MPI_Cancel(&copy);
    pthread_join(waiter, NULL);
}

static pthread_mutex_t robust;

static void *die_with_it(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&robust);
    return NULL;
}

static void mutexes(void)
{
    pthread_mutexattr_t kind;
    pthread_mutex_t checked;
    pthread_t thread;
    struct timespec now;

    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &kind);
    CHECK(pthread_mutex_lock(&checked) == 0 && pthread_mutex_lock(&checked) == EDEADLK,
          "errorcheck");
    pthread_mutex_unlock(&checked);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_NORMAL);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &kind);
    pthread_create(&thread, NULL, die_with_it, NULL);
    pthread_join(thread, NULL);
    CHECK(pthread_mutex_lock(&robust) == EOWNERDEAD, "robust");
    pthread_mutex_consistent(&robust);
    clock_gettime(CLOCK_MONOTONIC, &now);
    CHECK(pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &now) == 0, "clocklock");
    CHECK(pthread_mutex_trylock(&lock) == EBUSY, "trylock");
    pthread_mutex_unlock(&lock);
}

static MPI_Comm comms[2];

static void *probe_first(void *data)
{
    int number = (int)(intptr_t)data, flag = 0;
    MPI_Status status;

    check_sleep_ms((check.order == CHECK_DOWN ? 1 - number : number) * 10);
    check_send(check.rank, 40, number, comms[number]);
    while (MPI_Iprobe(MPI_ANY_SOURCE, 40, comms[number], &flag, &status), !flag)
        sched_yield();
    note(6 + number, receive(40, comms[number]));
    return NULL;
}

static void communicators(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, probe_first, (void *)(intptr_t)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comms[i]);
}

static void ignore(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
}

static void *release_receiver(void *unused)
{
    (void)unused;
    check_sleep_ms(20);
    check_send(1, 50, 0, MPI_COMM_WORLD);
    return NULL;
}

/* Rank 0 waits for a send that can end only when its other thread has sent. */
static void large_send(void)
{
    static char large[LARGE];
    MPI_Errhandler handler;
    MPI_Request request;
    pthread_t thread;

    MPI_Comm_create_errhandler(ignore, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (check.rank == 0) {
        MPI_Isend(large, LARGE, MPI_CHAR, 1, 51, MPI_COMM_WORLD, &request);
        pthread_create(&thread, NULL, release_receiver, NULL);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        pthread_join(thread, NULL);
    } else if (check.rank == 1) {
        note(0, receive(50, MPI_COMM_WORLD));
        MPI_Recv(large, LARGE, MPI_CHAR, 0, 51, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

static void forking(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        pthread_mutex_lock(&lock);
        _exit(7);
    }
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "child: %d", status);
}

static pthread_cond_t over_now = PTHREAD_COND_INITIALIZER;
static int over;

static void *wait_for_the_end(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!over)
        pthread_cond_wait(&over_now, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[3];

    if (check_start_thread(&argc, &argv, MPI_THREAD_MULTIPLE) < MPI_THREAD_MULTIPLE)
        return check_skip();
    pthread_create(&threads[0], NULL, descend, (void *)(intptr_t)1);
    pthread_join(threads[0], NULL);
    polling();
    cancelling(MPI_ANY_SOURCE);
    cancelling(0);
    mutexes();
    communicators();
    large_send();
    forking();
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, wait_for_the_end, NULL);
    for (int i = 0; i < 8; i++)
        check_note((long)hashes[i]);
    check_end();
    pthread_mutex_lock(&lock);
    over = 1;
    pthread_cond_broadcast(&over_now);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
