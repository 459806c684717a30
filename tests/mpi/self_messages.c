/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: differs
// about: messages to oneself, received by wildcards alone, on MPI_COMM_SELF, and in a race with
//     other ranks' messages
#include "check.h"

enum { ROUNDS = 6, TAG = 1 };

static void on_self(int step)
{
    long sent[2] = {step, step + 1}, value = -1;
    MPI_Request requests[2];
    MPI_Status status;

    for (int i = 0; i < 2; i++)
        MPI_Isend(&sent[i], 1, MPI_LONG, 0, i, MPI_COMM_SELF, &requests[i]);
    for (int i = 0; i < 2; i++) {
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status);
        CHECK(value == step + i && status.MPI_SOURCE == 0 && status.MPI_TAG == i, "value %ld",
              value);
        check_note_status(&status);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void alone(int step)
{
    long sent = check_value(check.rank, step), value = -1;
    MPI_Request receive, send;
    MPI_Status status;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &receive);
    MPI_Isend(&sent, 1, MPI_LONG, check.rank, TAG, MPI_COMM_WORLD, &send);
    MPI_Wait(&receive, &status);
    CHECK(value == sent, "value %ld", value);
    check_note_message(value, &status);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

static void in_a_race(int step)
{
    long sent = check_value(check.rank, step), value = -1;
    MPI_Request sends[3];
    MPI_Status status;

    check_pace(step);
    for (int i = 0; i < check.size; i++)
        MPI_Isend(&sent, 1, MPI_LONG, (check.rank + i) % check.size, TAG, MPI_COMM_WORLD,
                  &sends[i]);
    for (int i = 0; i < check.size; i++) {
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        check_note_message(value, &status);
    }
    MPI_Waitall(check.size, sends, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; step < ROUNDS; step++) {
        on_self(step);
        alone(step);
        MPI_Barrier(MPI_COMM_WORLD);
        in_a_race(step);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
