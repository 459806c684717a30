/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: a communicator freed while wildcard receives on it are pending, and its handle used again
//     meanwhile
#include "check.h"

enum { ROUNDS = 6, TAG = 1, RECEIVES = 3 };

static void receive(MPI_Comm *comm)
{
    long values[RECEIVES];
    MPI_Comm next;
    MPI_Request requests[RECEIVES];

    for (int i = 0; i < RECEIVES; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, *comm, &requests[i]);
    MPI_Comm_free(comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    for (int i = 0; i < RECEIVES; i++) {
        MPI_Status status;
        MPI_Wait(&requests[i], &status);
        check_note_message(values[i], &status);
    }
    MPI_Comm_free(&next);
}

// Comm_free is collective, so the send is posted before it.
static void send(MPI_Comm *comm, int step)
{
    long value = check_value(check.rank, step);
    MPI_Comm next;
    MPI_Request request;

    check_pace(step);
    MPI_Isend(&value, 1, MPI_LONG, 0, TAG, *comm, &request);
    MPI_Comm_free(comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&next);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; step < ROUNDS; step++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (check.rank == 0)
            receive(&comm);
        else
            send(&comm, step);
    }
    return check_end();
}
