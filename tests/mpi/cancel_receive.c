/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks
// about: MPI_Cancel of wildcard and named receives that a message may or may not have reached;
//     cancels that lose
#include "check.h"

enum { ROUNDS = 5, TAG = 1, TAG_LATE = 2, TAG_READY = 3 };

// Returns 1 if the cancel won, 0 if a message was received.
static int cancel(MPI_Request *request, const long *value)
{
    int cancelled = -1;
    MPI_Status status;

    MPI_Cancel(request);
    MPI_Wait(request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    check_note(cancelled);
    if (!cancelled)
        check_note_message(*value, &status);
    return cancelled;
}

static void receive(int messages)
{
    for (int i = 0; i < messages; i++) {
        long value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        check_note_message(value, &status);
    }
}

// Two receives are cancelled about when the messages arrive; what they did not take, later receives
// take.
static void cancel_in_time(int source)
{
    int taken, flag;
    long values[2];
    MPI_Request requests[2];
    MPI_Status status;

    for (int i = 0; i < 2; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, source, TAG, MPI_COMM_WORLD, &requests[i]);
    check_sleep_ms(check.pace_ms * 3 / 2);
    MPI_Iprobe(MPI_ANY_SOURCE, TAG_LATE, MPI_COMM_WORLD, &flag, &status);
    CHECK(!flag, "a message before its time");
    taken = !cancel(&requests[1], &values[1]);
    taken += !cancel(&requests[0], &values[0]);
    receive(check.size - 1 - taken);
}

// The message has certainly been received when the cancel comes.
static void cancel_too_late(void)
{
    int flag = 0;
    long value;
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG_LATE, MPI_COMM_WORLD, &request);
    while (MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE), !flag)
        check_rest();
    CHECK(!cancel(&request, &value), "a completed receive was cancelled");
}

// No message is under way when the cancel comes.
static void cancel_early(int source)
{
    long value;
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_LONG, source, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    CHECK(cancel(&request, &value), "a receive without a message was not cancelled");
}

static void receive_all(void)
{
    for (int step = 0; step < ROUNDS; step++) {
        MPI_Barrier(MPI_COMM_WORLD);
        cancel_in_time(step % 2 ? 1 + step % (check.size - 1) : MPI_ANY_SOURCE);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 1; i < check.size; i++)
            cancel_too_late();
        cancel_early(step % 2 ? 1 : MPI_ANY_SOURCE);
    }
}

static void send_all(void)
{
    for (int step = 0; step < ROUNDS; step++) {
        MPI_Barrier(MPI_COMM_WORLD);
        check_send_paced(0, TAG, step);
        MPI_Barrier(MPI_COMM_WORLD);
        check_send_paced(0, TAG_LATE, step);
    }
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
