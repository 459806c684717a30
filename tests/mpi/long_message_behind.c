/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: same
// about: rank 2 receives from anyone; rank 1 sends it a message too long to be buffered before it
//     sends to rank 0, which is behind in logical time and waits for that
#include "check.h"

enum { ROUNDS = 10, TAG = 1, BYTES = 1 << 20 };

static char *buffer;

static void step(int round)
{
    if (check.rank == 2) {
        MPI_Recv(buffer, BYTES, MPI_CHAR, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(buffer, BYTES, MPI_CHAR, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_note(round);
    } else if (check.rank == 1) {
        for (int i = 0; i < round * 20; i++) // time passes
            MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &(int){0}, MPI_STATUS_IGNORE);
        MPI_Send(buffer, BYTES, MPI_CHAR, 2, TAG, MPI_COMM_WORLD);
        MPI_Send(buffer, 1, MPI_CHAR, 0, TAG, MPI_COMM_WORLD);
    } else {
        MPI_Recv(buffer, 1, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, 1, MPI_CHAR, 2, TAG, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    buffer = calloc(1, BYTES);
    for (int i = 0; i < ROUNDS; i++)
        step(i);
    free(buffer);
    return check_end();
}
