/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: blocking MPI_Recv from MPI_ANY_SOURCE, many to one and all to all
#include "check.h"

enum { ROUNDS = 6, TAG_ONE = 1, TAG_ALL = 2 };

static void receive(int tag, int messages)
{
    for (int i = 0; i < messages; i++) {
        long value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
        check_note_message(value, &status);
    }
}

static void many_to_one(void)
{
    if (check.rank == 0) {
        receive(TAG_ONE, ROUNDS * (check.size - 1));
        return;
    }
    for (int step = 0; step < ROUNDS; step++)
        check_send_paced(0, TAG_ONE, step);
}

static void all_to_all(int step)
{
    MPI_Request *sends = calloc((size_t)check.size, sizeof *sends);
    long value = check_value(check.rank, step);

    check_pace(step);
    for (int r = 0; r < check.size; r++)
        MPI_Isend(&value, 1, MPI_LONG, r, TAG_ALL, MPI_COMM_WORLD, &sends[r]);
    receive(TAG_ALL, check.size);
    MPI_Waitall(check.size, sends, MPI_STATUSES_IGNORE);
    free(sends);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    many_to_one();
    for (int step = 0; step < ROUNDS; step++)
        all_to_all(step);
    return check_end();
}
