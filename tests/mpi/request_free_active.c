/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks solo
// about: MPI_Request_free of active wildcard receives and active sends, whose completion a later
//     message tells
#include "check.h"

enum { ROUNDS = 6, TAG = 1, TAG_AFTER = 2, TAG_BACK = 3 };

static long freed_values[ROUNDS];
static long sent_values[ROUNDS];

// The freed receive takes one of the three messages, the two later receives take the others.
static void receive_step(int step)
{
    MPI_Request request;
    MPI_Status status;

    freed_values[step] = -1;
    MPI_Irecv(&freed_values[step], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL, "request not null after Request_free");
    for (int i = 2; i < check.size; i++) {
        long value = -1;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        check_note_message(value, &status);
    }
    for (int r = 1; r < check.size; r++) // each rank's message TAG came before this one
        MPI_Recv(NULL, 0, MPI_LONG, r, TAG_AFTER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(freed_values[step] % 1000000 == step, "freed receive got %ld in step %d",
          freed_values[step], step);
    check_note(freed_values[step]);
}

static void send_step(int step)
{
    MPI_Request request;

    sent_values[step] = check_value(check.rank, step);
    check_pace(step);
    MPI_Isend(&sent_values[step], 1, MPI_LONG, 0, TAG, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Send(NULL, 0, MPI_LONG, 0, TAG_AFTER, MPI_COMM_WORLD);
}

// An active persistent receive is freed as well; MPI frees it when it completes.
static void free_persistent(void)
{
    static long value = -1;
    MPI_Request request;

    if (check.rank > 0) {
        check_send_paced(0, TAG_BACK, 0);
        MPI_Send(NULL, 0, MPI_LONG, 0, TAG_AFTER, MPI_COMM_WORLD);
        return;
    }
    MPI_Recv_init(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG_BACK, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Request_free(&request);
    for (int i = 2; i < check.size; i++) {
        long other = -1;
        MPI_Recv(&other, 1, MPI_LONG, MPI_ANY_SOURCE, TAG_BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_note(other);
    }
    for (int r = 1; r < check.size; r++)
        MPI_Recv(NULL, 0, MPI_LONG, r, TAG_AFTER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value > 0, "freed persistent receive got %ld", value);
    check_note(value);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; step < ROUNDS; step++) {
        if (check.rank == 0)
            receive_step(step);
        else
            send_step(step);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free_persistent();
    return check_end();
}
