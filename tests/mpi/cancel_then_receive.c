/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: a cancelled wildcard receive is asked after, and completed only after later receives have
//     taken what it did not
#include "check.h"

enum { ROUNDS = 5, TAG = 1, TAG_GO = 2 };

static void cancel_and_receive(void)
{
    long cancelled_value = -1;
    int cancelled = 0, complete = 0;
    MPI_Request request;
    MPI_Status status;

    MPI_Irecv(&cancelled_value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
    for (int i = 1; i < check.size; i++)
        MPI_Send(&cancelled, 1, MPI_INT, i, TAG_GO, MPI_COMM_WORLD);
    for (int i = 1; i < check.size; i++) {
        long value = -1;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        check_note_message(value, &status);
    }
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled && cancelled_value == -1,
          "a receive that was cancelled before any message was sent took %ld", cancelled_value);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; step < ROUNDS; step++) {
        int go;
        if (check.rank == 0) {
            cancel_and_receive();
            continue;
        }
        MPI_Recv(&go, 1, MPI_INT, 0, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_send_paced(0, TAG, step);
    }
    return check_end();
}
