/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: requests made by PMPI_ calls for named receives, which a tool never saw, completed
//     together with wildcard ones
#include "check.h"

enum { ROUNDS = 4, SLOTS = 4 };

// Slots 1 and 3 are for rank 2 and are posted behind the tool's back.
static void post(int tag, long *values, MPI_Request *requests)
{
    for (int i = 0; i < SLOTS; i += 2) {
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[i]);
        PMPI_Irecv(&values[i + 1], 1, MPI_LONG, 2, tag + 1, MPI_COMM_WORLD, &requests[i + 1]);
    }
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

static void by_waitall(int tag)
{
    long values[SLOTS];
    MPI_Request requests[SLOTS];
    MPI_Status statuses[SLOTS];

    post(tag, values, requests);
    MPI_Waitall(SLOTS, requests, statuses);
    for (int i = 0; i < SLOTS; i++)
        check_note_message(values[i], &statuses[i]);
}

static void send_step(int tag, int step)
{
    if (check.rank == 2) {
        check_send_paced(0, tag + 1, 2 * step);
        check_send_paced(0, tag + 1, 2 * step + 1);
    } else {
        check_send_paced(0, tag, step);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; step < 2 * ROUNDS; step++) {
        if (check.rank > 0)
            send_step(2 * step, step);
        else if (step % 2)
            by_waitall(2 * step);
        else
            by_waitany(2 * step);
    }
    return check_end();
}
