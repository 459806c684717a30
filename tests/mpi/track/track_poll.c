/* SPDX-License-Identifier: MIT */
// ranks: 3
// natively: 60
// timeout: 60
// about: ranks wait for flags in window memory, and count how long: in a shared window without any
//     MPI call, and with few in one that others put into
#include "check.h"

enum { ROUNDS = 20 };

// Without yielding: a rank alone polls as often as in the record, and would give way as often,
// whoever else runs then.
static void wait_for(volatile long *flag, long value)
{
    long polls = 0;

    while (*flag != value)
        polls++;
    check_note(polls);
    check_note(*flag);
}

// A token goes round by stores, with a message beside it.
static void by_stores(void)
{
    struct {
        volatile long flag;
        double data[5];
    } * all, *mine;
    MPI_Win win;
    MPI_Aint size;
    int unit, next = (check.rank + 1) % check.size;

    MPI_Win_allocate_shared(sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &all);
    memset(mine, 0, sizeof *mine);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 1; round <= ROUNDS; round++) {
        if (check.rank > 0 || round > 1)
            wait_for(&mine->flag, check.rank > 0 ? round : round - 1);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        for (int i = 0; i < 5; i++)
            check_note((long)mine->data[i]);
        for (int i = 0; i < 5; i++)
            all[next].data[i] = mine->data[i] + check.rank + i;
        __atomic_store_n(&all[next].flag, round, __ATOMIC_RELEASE);
    }
    if (check.rank == 0)
        wait_for(&mine->flag, ROUNDS);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(check.rank > 0 || mine->data[1] == ROUNDS * 6, "the token brought %g", mine->data[1]);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static void by_puts(void)
{
    volatile long *mine;
    int next = (check.rank + 1) % check.size;
    MPI_Win win;

    MPI_Win_allocate(2 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    mine[0] = mine[1] = 0;
    MPI_Win_lock_all(0, win);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long round = 1; round <= ROUNDS; round++) {
        long seen, polls = 0;
        int flag;
        MPI_Put(&round, 1, MPI_LONG, next, 0, 1, MPI_LONG, win);
        MPI_Accumulate(&round, 1, MPI_LONG, next, 1, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush(next, win);
        while ((seen = mine[0]) < round) // the neighbour may be ahead
            if (++polls % 16 == 0)       // MPICH needs the target's help
                MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        check_note(seen);
        check_note(polls);
        check_note(mine[1]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(mine[1] == ROUNDS * (ROUNDS + 1) / 2, "%ld arrived", mine[1]);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    by_stores();
    by_puts();
    if (check.rank > 0)
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
    fflush(stdout);
    return check_end();
}
