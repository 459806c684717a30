/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: MPI_Sendrecv from MPI_ANY_SOURCE: a master that answers while it receives, and a shifting
//     exchange
#include "check.h"

enum { ROUNDS = 5, TAG_ASK = 1, TAG_ANSWER = 2, TAG_SHIFT = 3 };

static void master(void)
{
    long asked = -1, answer = 0;
    MPI_Status status;

    MPI_Recv(&asked, 1, MPI_LONG, MPI_ANY_SOURCE, TAG_ASK, MPI_COMM_WORLD, &status);
    for (int i = 1; i < ROUNDS * (check.size - 1); i++) {
        check_note_message(asked, &status);
        answer = i;
        MPI_Sendrecv(&answer, 1, MPI_LONG, status.MPI_SOURCE, TAG_ANSWER, &asked, 1, MPI_LONG,
                     MPI_ANY_SOURCE, TAG_ASK, MPI_COMM_WORLD, &status);
    }
    check_note_message(asked, &status);
    answer++;
    MPI_Send(&answer, 1, MPI_LONG, status.MPI_SOURCE, TAG_ANSWER, MPI_COMM_WORLD);
}

// The answer tells the place that this rank's question had in the master's order.
static void worker(void)
{
    for (int step = 0; step < ROUNDS; step++) {
        long question = check_value(check.rank, step), answer = -1;
        check_pace(step);
        MPI_Sendrecv(&question, 1, MPI_LONG, 0, TAG_ASK, &answer, 1, MPI_LONG, 0, TAG_ANSWER,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_note(answer);
    }
}

// Each rank sends to all others in turn and receives as many in the order of arrival.
static void shift(int step)
{
    for (int k = 1; k < check.size; k++) {
        long mine = check_value(check.rank, step), other = -1;
        MPI_Status status;
        check_pace(step + k);
        MPI_Sendrecv(&mine, 1, MPI_LONG, (check.rank + k) % check.size, TAG_SHIFT, &other, 1,
                     MPI_LONG, MPI_ANY_SOURCE, TAG_SHIFT, MPI_COMM_WORLD, &status);
        check_note_message(other, &status);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check.rank == 0)
        master();
    else
        worker();
    for (int step = 0; step < 3; step++)
        shift(step);
    return check_end();
}
