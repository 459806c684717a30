/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: MPI_Cancel of small sends, whether or not the MPI can do it; the receiver is told which
//     were cancelled
#include "check.h"

enum { ROUNDS = 8, TAG = 1, TAG_SENT = 2 };

static int send_and_cancel(int step)
{
    int cancelled = -1;
    long value = check_value(check.rank, step);
    MPI_Request request;
    MPI_Status status;

    check_pace(step);
    MPI_Isend(&value, 1, MPI_LONG, 0, TAG, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    check_note(cancelled);
    return cancelled;
}

static void send_step(int step)
{
    long sent = !send_and_cancel(step);

    MPI_Send(&sent, 1, MPI_LONG, 0, TAG_SENT, MPI_COMM_WORLD);
}

static void receive_step(void)
{
    long sent = -1, value = -1;
    MPI_Status status;

    MPI_Recv(&sent, 1, MPI_LONG, MPI_ANY_SOURCE, TAG_SENT, MPI_COMM_WORLD, &status);
    check_note_status(&status);
    if (!sent)
        return;
    MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    check_note_message(value, &status);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        send_step(step);
    for (int i = 0; check.rank == 0 && i < ROUNDS * (check.size - 1); i++)
        receive_step();
    return check_end();
}
