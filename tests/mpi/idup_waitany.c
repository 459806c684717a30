/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: the request of MPI_Comm_idup in one Waitany with wildcard receives; the communicator is
//     used once it is there
#include "check.h"

enum { ROUNDS = 5, RECEIVES = 3, SLOTS = 4, IDUP = 3, TAG = 1 };

static void note_on(MPI_Comm comm)
{
    for (int i = 1; i < check.size; i++) {
        long value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, comm, &status);
        check_note_message(value, &status);
    }
}

static void receive_step(void)
{
    int index;
    long values[RECEIVES];
    MPI_Comm comm;
    MPI_Request requests[SLOTS];
    MPI_Status status;

    for (int i = 0; i < RECEIVES; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[i]);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &requests[IDUP]);
    while (MPI_Waitany(SLOTS, requests, &index, &status), index != MPI_UNDEFINED) {
        check_note(index);
        if (index == IDUP)
            note_on(comm);
        else
            check_note_message(values[index], &status);
    }
    MPI_Comm_free(&comm);
}

static void send_step(int step)
{
    MPI_Comm comm;
    MPI_Request request;

    check_pace(step);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    check_send(0, TAG, step, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_pace(step);
    check_send(0, TAG, step, comm);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; step < ROUNDS; step++) {
        if (check.rank == 0)
            receive_step();
        else
            send_step(step);
    }
    return check_end();
}
