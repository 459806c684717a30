/* SPDX-License-Identifier: MIT */
/* Ranks that store into a shared window and poll it; the argument says what goes wrong. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile long *all;
static void *other_thread(void *unused)
{
    return (void *)all[1];
}

/* What the loop is told it looks up, and what another rank has stored there leads it astray. */
static const short table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__attribute__((noinline)) static long look_up(const long *words, int count)
{
    long sum = 0;
    for (int i = 0; i < count; i += 2)
        sum = 31 * sum + table[words[i]] + words[i + 1];
    return sum;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    static volatile int count = 32; /* so that there is a loop */
    int rank, unit;
    long seen = 0;
    pthread_t thread;
    MPI_Aint size;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "none") == 0) {
        MPI_Bcast(&seen, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        return MPI_Finalize();
    }
    MPI_Win_allocate_shared(512, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &all, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &all);
    all[rank] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 1; i <= 2000; i++) {
        all[rank] = i;
        seen += all[1 - rank];
    }
    if (strcmp(what, "thread") == 0) {
        pthread_create(&thread, NULL, other_thread, NULL);
        pthread_join(thread, NULL);
    }
    if (strcmp(what, "crash") == 0 && rank == 1) {
        for (int i = 8; i < 40; i++)
            all[i] = i % 8;
        seen = look_up((long *)all + 8, count);
        all[1] = -1;
        while (all[1] != -2)
            ;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        seen = look_up((long *)all + 8, count);
    } else if (strcmp(what, "crash") == 0) {
        while (all[1] != -1)
            ;
        all[20] = 1L << 44;
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        all[1] = -2;
    }
    if (strcmp(what, "hang") == 0 && rank == 1) {
        all[1] = -1;
        while (all[1] != -2)
            seen++;
    } else if (strcmp(what, "hang") == 0) {
        while (all[1] != -1)
            seen++;
        raise(SIGKILL);
    }
    printf("rank %d: %ld\n", rank, seen);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
