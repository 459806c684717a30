/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: MPI_Waitall over sends, named, wildcard and null requests, with statuses and with
//     MPI_STATUSES_IGNORE
#include "check.h"

enum { ROUNDS = 8, SLOTS = 9, TAG_WILD = 1, TAG_NAMED = 2 };

// Sends to all, wildcard and named receives from all, and nulls in between. Every rank does the
// same.
static void post(int step, const long *mine, long *values, MPI_Request *requests)
{
    int left = (check.rank + check.size - 1) % check.size, right = (check.rank + 1) % check.size;
    int across = (check.rank + 2) % check.size;

    MPI_Irecv(&values[0], 1, MPI_LONG, MPI_ANY_SOURCE, TAG_WILD, MPI_COMM_WORLD, &requests[0]);
    requests[1] = MPI_REQUEST_NULL;
    MPI_Irecv(&values[2], 1, MPI_LONG, left, TAG_NAMED, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(&values[3], 1, MPI_LONG, MPI_ANY_SOURCE, TAG_WILD, MPI_COMM_WORLD, &requests[3]);
    check_pace(step);
    MPI_Isend(mine, 1, MPI_LONG, left, TAG_WILD, MPI_COMM_WORLD, &requests[4]);
    MPI_Isend(mine, 1, MPI_LONG, right, TAG_NAMED, MPI_COMM_WORLD, &requests[5]);
    requests[6] = MPI_REQUEST_NULL;
    MPI_Isend(mine, 1, MPI_LONG, across, TAG_WILD, MPI_COMM_WORLD, &requests[7]);
    MPI_Irecv(&values[8], 1, MPI_LONG, MPI_PROC_NULL, TAG_WILD, MPI_COMM_WORLD, &requests[8]);
}

static void note_statuses(const long *values, const MPI_Status *statuses)
{
    static const int receives[] = {0, 2, 3};

    for (int i = 0; i < 3; i++)
        check_note_message(values[receives[i]], &statuses[receives[i]]);
    CHECK(statuses[1].MPI_SOURCE == MPI_ANY_SOURCE && statuses[1].MPI_TAG == MPI_ANY_TAG,
          "null request's status");
    CHECK(check_bytes(&statuses[1]) == 0, "null request's count");
    check_note_status(&statuses[8]); // MPICH 4.0 does not say MPI_PROC_NULL here
}

static void exchange(int step)
{
    long mine = check_value(check.rank, step), values[SLOTS] = {0};
    MPI_Request requests[SLOTS];
    MPI_Status statuses[SLOTS];

    post(step, &mine, values, requests);
    MPI_Waitall(SLOTS, requests, step % 2 ? MPI_STATUSES_IGNORE : statuses);
    for (int i = 0; i < SLOTS; i++)
        CHECK(requests[i] == MPI_REQUEST_NULL, "request %d not null", i);
    if (step % 2 == 0)
        note_statuses(values, statuses);
    check_note(values[0]);
    check_note(values[3]);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; step < ROUNDS; step++)
        exchange(step);
    return check_end();
}
