/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: Request_get_status says yes to wildcard receives; they are freed, not completed, and later
//     ones overlap with them
#include "check.h"

enum { ROUNDS = 4, TAG = 1 };

static void take(int round)
{
    long value = -1;
    int flag = 0;
    MPI_Request request;
    MPI_Status status;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
    while (!flag) {
        MPI_Request_get_status(request, &flag, &status);
        sched_yield();
    }
    check_note_message(value, &status);
    if (round % 2)
        MPI_Request_free(&request);
    else
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        check_send_paced(0, TAG, step);
    for (int i = 0; check.rank == 0 && i < ROUNDS * (check.size - 1); i++)
        take(i);
    return check_end();
}
