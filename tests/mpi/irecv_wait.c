/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: wildcard MPI_Irecv completed by MPI_Wait, one at a time and several posted at once
#include "check.h"

enum { ROUNDS = 5, WINDOW = 3, TAG = 4 };

static void receive_one(void)
{
    long value = -1;
    MPI_Request request;
    MPI_Status status;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    CHECK(request == MPI_REQUEST_NULL, "request not null after Wait");
    check_note_message(value, &status);
}

static void receive_window(void)
{
    long values[WINDOW];
    MPI_Request requests[WINDOW];
    MPI_Status status;

    for (int i = 0; i < WINDOW; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &requests[i]);
    for (int i = 0; i < WINDOW; i++) {
        MPI_Wait(&requests[i], &status);
        check_note_message(values[i], &status);
    }
}

static void receive_all(void)
{
    for (int i = 0; i < ROUNDS * (check.size - 1); i++)
        receive_one();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS * (check.size - 1) / WINDOW; i++)
        receive_window();
}

static void send_all(void)
{
    for (int step = 0; step < ROUNDS; step++)
        check_send_paced(0, TAG, step);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < ROUNDS; step++)
        check_send_paced(0, step, step);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check.rank == 0)
        receive_all();
    else
        send_all();
    return check_end();
}
