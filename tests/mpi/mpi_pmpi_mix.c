/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: a program that calls PMPI_ names itself for some of its wildcard receives and completions
#include "check.h"

enum { ROUNDS = 4, SLOTS = 3 };

static void by_recv(int tag)
{
    for (int i = 1; i < check.size; i++) {
        long value = -1;
        MPI_Status status;
        if (i % 2)
            PMPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
        else
            MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
        check_note_message(value, &status);
    }
}

static void post(int tag, long *values, MPI_Request *requests)
{
    PMPI_Irecv(&values[0], 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[1]);
    PMPI_Irecv(&values[2], 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[2]);
}

static void by_waitany(int tag)
{
    int index;
    long values[SLOTS];
    MPI_Request requests[SLOTS];
    MPI_Status status;

    post(tag, values, requests);
    while (MPI_Waitany(SLOTS, requests, &index, &status), index != MPI_UNDEFINED) {
        check_note(index);
        check_note_message(values[index], &status);
    }
}

static void by_testsome(int tag)
{
    int count, indices[SLOTS];
    long values[SLOTS], failed = 0;
    MPI_Request requests[SLOTS];
    MPI_Status statuses[SLOTS];

    post(tag, values, requests);
    while (PMPI_Testsome(SLOTS, requests, &count, indices, statuses), count != MPI_UNDEFINED) {
        failed += count == 0;
        for (int i = 0; i < count; i++) {
            check_note(indices[i]);
            check_note_message(values[indices[i]], &statuses[i]);
        }
        sched_yield();
    }
    check_note(failed);
}

int main(int argc, char **argv)
{
    static void (*const kinds[])(int) = {by_recv, by_waitany, by_testsome};

    check_start(&argc, &argv);
    for (int step = 0; step < 3 * ROUNDS; step++) {
        if (check.rank == 0)
            kinds[step % 3](step);
        else
            check_send_paced(0, step, step);
    }
    return check_end();
}
