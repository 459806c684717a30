/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks solo
// about: persistent receives started, cancelled while messages arrive, and started again
#include "check.h"

enum { ROUNDS = 8, TAG = 1 };

// Returns 1 if a message was received, 0 if the cancel won.
static int start_and_cancel(MPI_Request *request, const long *value, long delay_ms)
{
    int cancelled = -1;
    MPI_Status status;

    MPI_Start(request);
    check_sleep_ms(delay_ms);
    MPI_Cancel(request);
    MPI_Wait(request, &status);
    CHECK(*request != MPI_REQUEST_NULL, "persistent request became null");
    MPI_Test_cancelled(&status, &cancelled);
    check_note(cancelled);
    if (!cancelled)
        check_note_message(*value, &status);
    return !cancelled;
}

static void receive_rest(MPI_Request *request, const long *value, int messages)
{
    for (int i = 0; i < messages; i++) {
        MPI_Status status;
        MPI_Start(request);
        MPI_Wait(request, &status);
        check_note_message(*value, &status);
    }
}

static void receive_round(MPI_Request *wild, MPI_Request *named, const long *values, int step)
{
    int from_named = start_and_cancel(named, &values[1], check.pace_ms / 2);
    int taken = from_named;

    for (int i = 0; i < 3 && taken < check.size - 1; i++)
        taken += start_and_cancel(wild, &values[0], step % 2 ? check.pace_ms : 0);
    receive_rest(wild, &values[0], check.size - 1 - taken);
}

static void receive_all(void)
{
    long values[2];
    MPI_Request wild, named;

    MPI_Recv_init(&values[0], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &wild);
    MPI_Recv_init(&values[1], 1, MPI_LONG, 1, TAG, MPI_COMM_WORLD, &named);
    for (int step = 0; step < ROUNDS; step++) {
        MPI_Barrier(MPI_COMM_WORLD);
        receive_round(&wild, &named, values, step);
    }
    MPI_Request_free(&wild);
    MPI_Request_free(&named);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check.rank == 0)
        receive_all();
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++) {
        MPI_Barrier(MPI_COMM_WORLD);
        check_send_paced(0, TAG, step);
    }
    return check_end();
}
