/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores of windows whose writers are known: each value names its writer, or the turns
 * do.
 */
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 8, ROUNDS = 60 };
static int rank, size;

/* Values name their writers: 16 * round + rank + 1. */
static long name(int round)
{
    return 16 * round + rank + 1;
}

/* MPICH needs the target's help. */
static void help(long polls)
{
    int flag;

    if (polls % 16 == 0)
        sched_yield();
    if (polls % 1024 == 0)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void wait_for(volatile long *counter, long least)
{
    for (long polls = 1; *counter / 16 < least; polls++)
        if (polls % 16 == 0)
            sched_yield();
}

/* Window 0: polled by its owner, with each round a Put of another rank. */
static void by_puts(void)
{
    volatile long *mine;
    MPI_Win win;

    MPI_Win_allocate(8 * SLOTS, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_lock_all(0, win);
    for (int round = 1; round <= ROUNDS / 2; round++) {
        int target = (rank + 1 + round % (size - 1)) % size;
        long value = name(round), seen;
        if (round % 2)
            MPI_Put(&value, 1, MPI_LONG, target, round % SLOTS, 1, MPI_LONG, win); /* PUT */
        else
            MPI_Fetch_and_op(&value, &seen, MPI_LONG, target, round % SLOTS, MPI_REPLACE, win);
        MPI_Win_flush(target, win);
        for (long polls = 1; mine[round % SLOTS] / 16 < round; polls++) /* POLL */
            help(polls);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Window 1, shared: all store everywhere, and load everything. */
static void by_stores(void)
{
    volatile long *all, *mine;
    MPI_Win win;
    MPI_Aint bytes;
    int unit;

    MPI_Win_allocate_shared(8 * (SLOTS + 1), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &all);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 1; round <= ROUNDS; round++) {
        long copy[SLOTS], value = name(round);
        int at = (round * 7 + rank) % (SLOTS * size);
#ifdef __clang__ /* the plugin of GCC refuses it */
        if (round % 4 == 0)
            __atomic_exchange_n(&all[at], value, __ATOMIC_SEQ_CST);
        else
#endif
            if (round % 4 == 1)
            memcpy((void *)&all[at], &value, sizeof value);
        else
            all[at] = value; /* STORE */
        for (int i = 0; i < SLOTS * size; i++)
            copy[i % SLOTS] = all[i]; /* LOAD */
        memcpy(copy, (void *)all, sizeof copy);
        all[SLOTS * size + rank] = value;
        wait_for(&all[SLOTS * size + (rank + 1) % size], round - 1);
    }
    MPI_Win_free(&win);
}

/* Window 2, shared: two values only, by turns; rank 0 reads them. */
static void by_turns(void)
{
    struct {
        volatile long value, told, read;
    } * all, *mine;
    MPI_Win win;
    MPI_Aint bytes;
    int unit;

    MPI_Win_allocate_shared(rank == 0 ? sizeof *all : 0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                            &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &all);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 1; round <= ROUNDS; round++) {
        int writer = 1 + round % (size - 1);
        if (rank == writer) {
            wait_for(&all->read, round - 1);
            all->value = 7 + 2 * (round % 2); /* TURN */
            __atomic_store_n(&all->told, name(round), __ATOMIC_RELEASE);
        } else if (rank == 0) {
            wait_for(&all->told, round);
            if (all->value != 7 + 2 * (round % 2)) /* READ */
                abort();
            __atomic_store_n(&all->read, name(round), __ATOMIC_RELEASE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    by_puts();
    by_stores();
    by_turns();
    MPI_Finalize();
    return 0;
}
