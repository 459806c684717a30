/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: empty messages, told apart only by source and tag
#include "check.h"

enum { ROUNDS = 6 };

static void receive_all(void)
{
    for (int i = 0; i < ROUNDS * (check.size - 1); i++) {
        char untouched = 'x';
        MPI_Request request;
        MPI_Status status;
        if (i % 2) {
            MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        } else {
            MPI_Irecv(&untouched, 1, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                      &request);
            MPI_Wait(&request, &status);
        }
        CHECK(check_bytes(&status) == 0 && untouched == 'x', "%d bytes", check_bytes(&status));
        check_note_status(&status);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check.rank == 0)
        receive_all();
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++) {
        check_pace(step);
        MPI_Send(NULL, 0, MPI_BYTE, 0, step, MPI_COMM_WORLD);
    }
    return check_end();
}
