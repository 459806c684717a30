/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: same
// about: one Waitall in a loop: first of requests that succeed, then of one that fails while
//     another may be pending
#include "check.h"

enum { SHORT = 4, LONG = 8, TAG = 1, TAG_LATE = 2 };

/* What is pending when it fails differs between MPIs and runs; that everything ends complete does
 * not. */
static void wait_for(MPI_Request *requests)
{
    MPI_Status statuses[2];

    while (MPI_Waitall(2, requests, statuses) != MPI_SUCCESS &&
           (requests[0] != MPI_REQUEST_NULL || requests[1] != MPI_REQUEST_NULL))
        sched_yield();
}

static void receive(int length_of_first)
{
    char first[LONG], second[LONG];
    MPI_Request requests[2];

    MPI_Irecv(first, length_of_first, MPI_CHAR, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(second, LONG, MPI_CHAR, MPI_ANY_SOURCE, TAG_LATE, MPI_COMM_WORLD, &requests[1]);
    wait_for(requests);
    check_note(length_of_first);
}

int main(int argc, char **argv)
{
    char buffer[LONG] = {0};

    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int step = 0; check.rank == 1 && step < 4; step++)
        MPI_Send(buffer, LONG, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    for (int step = 0; check.rank == 2 && step < 4; step++) {
        check_pace(step);
        MPI_Send(buffer, LONG, MPI_CHAR, 0, TAG_LATE, MPI_COMM_WORLD);
    }
    for (int step = 0; check.rank == 0 && step < 4; step++)
        receive(step % 2 ? SHORT : LONG);
    return check_end();
}
