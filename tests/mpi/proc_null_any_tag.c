/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: receives from MPI_PROC_NULL with MPI_ANY_TAG, several at once and beside wildcard ones:
//     blocking, non-blocking, persistent, probed
#include "check.h"

enum { ROUNDS = 4, TAG = 1 };

static void exchange(MPI_Request *persistent)
{
    long values[3] = {-1, -1, -1}, nothing = -1;
    MPI_Request requests[4];
    MPI_Status statuses[4], status;

    MPI_Irecv(&values[0], 1, MPI_LONG, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_LONG, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&values[2], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[2]);
    MPI_Start(persistent);
    requests[3] = *persistent;
    MPI_Recv(&nothing, 1, MPI_LONG, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL, "source %d", status.MPI_SOURCE);
    MPI_Probe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL, "source %d", status.MPI_SOURCE);
    MPI_Waitall(4, requests, statuses);
    /* MPICH 4.0 leaves the statuses of those from nobody unwritten. */
    CHECK(values[0] == -1 && values[1] == -1 && nothing == -1, "something came from nobody");
    check_note_message(values[2], &statuses[2]);
}

int main(int argc, char **argv)
{
    long value = -1;
    MPI_Request persistent;

    check_start(&argc, &argv);
    MPI_Recv_init(&value, 1, MPI_LONG, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &persistent);
    for (int step = 0; step < ROUNDS; step++)
        for (int i = 1; i < check.size; i++)
            if (check.rank == 0)
                exchange(&persistent);
            else if (check.rank == i)
                check_send_paced(0, TAG, step);
    MPI_Request_free(&persistent);
    return check_end();
}
