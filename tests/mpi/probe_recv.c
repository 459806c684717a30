/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: MPI_Probe for anything, then MPI_Recv of what was probed, with lengths known only from the
//     probe
#include "check.h"

enum { ROUNDS = 6 };

static void receive(int source, int tag)
{
    int count = -1;
    MPI_Status probed, status;

    MPI_Probe(source, tag, MPI_COMM_WORLD, &probed);
    MPI_Get_count(&probed, MPI_LONG, &count);
    CHECK(count == 1 + probed.MPI_TAG, "%d elements with tag %d", count, probed.MPI_TAG);
    long *values = calloc((size_t)count, sizeof *values);
    MPI_Recv(values, count, MPI_LONG, probed.MPI_SOURCE, probed.MPI_TAG, MPI_COMM_WORLD, &status);
    check_note_status(&probed);
    check_note_status(&status);
    for (int i = 0; i < count; i++)
        CHECK(values[i] == check_value(status.MPI_SOURCE, i), "value %ld", values[i]);
    free(values);
}

static void send_paced(int length, int step)
{
    long values[ROUNDS + 1];

    for (int i = 0; i < length; i++)
        values[i] = check_value(check.rank, i);
    check_pace(step);
    MPI_Send(values, length, MPI_LONG, 0, length - 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        send_paced(1 + step, step);
    for (int i = 0; check.rank == 0 && i < ROUNDS * (check.size - 1); i++)
        receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        send_paced(1 + step, step);
    for (int tag = 0; check.rank == 0 && tag < ROUNDS; tag++)
        for (int i = 1; i < check.size; i++)
            receive(MPI_ANY_SOURCE, tag);
    return check_end();
}
