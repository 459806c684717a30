/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// needs: mpi4
// also: solo
// about: persistent collectives started together with persistent wildcard receives
#include "check.h"

#if CHECK_HAS_MPI_4

enum { ROUNDS = 6, SLOTS = 4, TAG = 1 };

struct set {
    long values[2];
    long mine, sum;
    MPI_Request requests[SLOTS];
};

// Two receives, a barrier and a sum.
static void create(struct set *set)
{
    for (int i = 0; i < 2; i++)
        MPI_Recv_init(&set->values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                      &set->requests[i]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &set->requests[2]);
    MPI_Allreduce_init(&set->mine, &set->sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &set->requests[3]);
}

// By Waitall, or one by one. MPICH 4.0's Waitany and Waitsome do not complete persistent
// collectives.
static void complete(struct set *set, int step)
{
    MPI_Status statuses[SLOTS];

    if (step % 2)
        MPI_Waitall(SLOTS, set->requests, statuses);
    for (int i = SLOTS - 1; step % 2 == 0 && i >= 0; i--)
        MPI_Wait(&set->requests[i], &statuses[i]);
    for (int i = 0; i < 2; i++)
        check_note_message(set->values[i], &statuses[i]);
}

// Each rank sends to two others and so receives two messages.
static void exchange(struct set *set, int step)
{
    MPI_Request sends[2];
    long value = check_value(check.rank, step);

    set->mine = check.rank + step;
    MPI_Startall(2, set->requests);
    check_pace(step);
    MPI_Startall(2, set->requests + 2);
    for (int i = 0; i < 2; i++)
        MPI_Isend(&value, 1, MPI_LONG, (check.rank + 1 + i) % check.size, TAG, MPI_COMM_WORLD,
                  &sends[i]);
    complete(set, step);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    CHECK(set->sum == 6 + 4 * step, "sum %ld", set->sum);
}

int main(int argc, char **argv)
{
    struct set set;

    check_start(&argc, &argv);
    create(&set);
    for (int step = 0; step < ROUNDS; step++)
        exchange(&set, step);
    for (int i = 0; i < SLOTS; i++)
        MPI_Request_free(&set.requests[i]);
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_skip();
}

#endif
