/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: MPI_ANY_TAG with a named source, with any source, and overlapping envelopes posted
//     together
#include "check.h"

enum { ROUNDS = 4, MIXED = 4 };

static void receive(int source, int tag)
{
    long value = -1;
    MPI_Status status;

    MPI_Recv(&value, 1, MPI_LONG, source, tag, MPI_COMM_WORLD, &status);
    check_note_message(value, &status);
}

// Rank 2's tags depend on the order in which it received, so even a named source's tag differs.
static void named_source(int step)
{
    if (check.rank == 0) {
        receive(2, MPI_ANY_TAG);
        receive(2, MPI_ANY_TAG);
    } else if (check.rank == 2) {
        for (int i = 0; i < 2; i++) {
            long value = -1;
            MPI_Status status;
            MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            check_note_message(value, &status);
            check_send(0, 10 + status.MPI_SOURCE, step, MPI_COMM_WORLD);
        }
    } else {
        check_send_paced(2, 1, step); // ranks 1 and 3
    }
}

static void both_wild(int step)
{
    if (check.rank > 0)
        check_send_paced(0, 20 + check.rank + step % 2, step);
    for (int i = 1; check.rank == 0 && i < check.size; i++)
        receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
}

// The first takes rank 1's first message; the others share the three messages with tag 2 by
// arrival.
static void receive_mixed(void)
{
    static const int sources[MIXED] = {1, MPI_ANY_SOURCE, MPI_ANY_SOURCE, MPI_ANY_SOURCE};
    static const int tags[MIXED] = {MPI_ANY_TAG, 2, MPI_ANY_TAG, MPI_ANY_TAG};
    long values[MIXED];
    MPI_Request requests[MIXED];

    for (int i = 0; i < MIXED; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, sources[i], tags[i], MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < MIXED; i++) {
        MPI_Status status;
        MPI_Wait(&requests[i], &status);
        CHECK(i > 0 || (status.MPI_SOURCE == 1 && status.MPI_TAG == 1), "source %d",
              status.MPI_SOURCE);
        check_note_message(values[i], &status);
    }
}

static void mixed(int step)
{
    if (check.rank == 0)
        receive_mixed();
    else
        check_pace(step);
    if (check.rank == 1)
        check_send(0, 1, step, MPI_COMM_WORLD);
    if (check.rank > 0)
        check_send(0, 2, step, MPI_COMM_WORLD);
}

static void in_rounds(void (*phase)(int))
{
    for (int step = 0; step < ROUNDS; step++) {
        phase(step);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    in_rounds(named_source);
    in_rounds(both_wild);
    in_rounds(mixed);
    return check_end();
}
