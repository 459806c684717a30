/* SPDX-License-Identifier: MIT */
// ranks: 2
// natively: 60
// timeout: 60
// options: -O3 -march=native
// about: window memory into which another rank stores, loaded from places that a table tells, some
//     of them several times by one instruction, where the processor has such; vectors of which some
//     elements are loaded, or stored
#include "check.h"

enum { WORDS = 64, PLACES = 96, ROUNDS = 400 };

static long *mine, *theirs; // parts of a shared window
static int places[PLACES];

__attribute__((noinline)) static long sum_at(const long *restrict words, const int *restrict where,
                                             int count)
{
    long sum = 0;

    for (int i = 0; i < count; i++)
        sum += words[where[i]];
    return sum;
}

/* Of the marked ones, which are others in each round. */
__attribute__((noinline)) static long sum_marked(const long *restrict words,
                                                 const int *restrict marks, int count, int mark)
{
    long sum = 0;

    for (int i = 0; i < count; i++)
        if (marks[i] > mark)
            sum += words[i];
    return sum;
}

__attribute__((noinline)) static void set_marked(long *restrict words, const int *restrict marks,
                                                 int count, int mark)
{
    for (int i = 0; i < count; i++)
        if (marks[i] < mark)
            words[i] = mark;
}

/* One word, loaded on condition. */
__attribute__((noinline)) static long sum_one(const long *restrict words, const int *restrict marks,
                                              int count, int which)
{
    long sum = 0;

    for (int i = 0; i < count; i++)
        if (marks[i] & 1)
            sum += words[which] ^ i;
    return sum;
}

/* What is stored before a flag is there when the flag is seen. */
static void exchange(void)
{
    long all = 0, marked = 0;

    for (int i = 0; i < WORDS; i++)
        theirs[i] = check.rank + i;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    ((volatile long *)theirs)[WORDS] = 1;
    while (((volatile long *)mine)[WORDS] == 0)
        sched_yield();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int i = 0; i < PLACES; i++)
        all += 1 - check.rank + places[i];
    for (int i = 0; i < WORDS; i++)
        marked += places[i] > 20 ? 1 - check.rank + i : 0;
    CHECK(sum_marked(mine, places, WORDS, 20) == marked,
          "rank %d does not see marked words that were stored", check.rank);
    CHECK(sum_at(mine, places, PLACES) == all, "rank %d does not see words that were stored",
          check.rank);
}

int main(int argc, char **argv)
{
    MPI_Aint size;
    MPI_Win win;
    int unit;

    check_start(&argc, &argv);
    MPI_Win_allocate_shared((WORDS + 1) * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD,
                            &mine, &win);
    MPI_Win_shared_query(win, 1 - check.rank, &size, &unit, &theirs);
    for (int i = 0; i < PLACES; i++)
        places[i] = (int)(check_mix((uint64_t)i) % 7 * 9);
    for (int i = 0; i < WORDS; i++)
        mine[i] = i;
    mine[WORDS] = 0;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = round % 3; i < WORDS; i += 3)
            ((volatile long *)theirs)[i] = round * 1000 + i;
        check_note(sum_at(mine, places, PLACES - round % 9));
        check_note(sum_marked(mine, places, WORDS - round % 5, round % 50));
        set_marked(mine, places, WORDS - round % 7, round % 20);
        check_note(sum_one(mine, places, WORDS - round % 11, round % WORDS));
        if (round % 16 == 0)
            sched_yield();
        if (round % 100 == 99)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_note(sum_at(mine, places, PLACES));
    MPI_Barrier(MPI_COMM_WORLD);
    exchange();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (check.rank > 0)
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
    fflush(stdout);
    return check_end();
}
