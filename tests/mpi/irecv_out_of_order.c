/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: wildcard receives waited for in another order than posted; two messages of one sender
//     noticed in reverse order
#include "check.h"

enum { ROUNDS = 5, TAG = 1, TAG_PAIR = 2 };

static void wait_in_reverse(void)
{
    long values[3];
    MPI_Request requests[3];

    for (int i = 0; i < 3; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[i]);
    for (int i = 2; i >= 0; i--) {
        MPI_Status status;
        MPI_Wait(&requests[i], &status);
        check_note_message(values[i], &status);
    }
}

// Tests the second request first, so that the second message may be noticed first. Returns the
// failed polls.
static long notice(MPI_Request *requests, const long *values)
{
    int left = 2;
    long failed = 0;

    for (int i = 1; left > 0; i = 1 - i) {
        int flag = 0;
        MPI_Status status;
        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        MPI_Test(&requests[i], &flag, &status);
        failed += !flag;
        if (flag) {
            left--;
            check_note(i);
            check_note_message(values[i], &status);
        }
        sched_yield();
    }
    return failed;
}

// Figure 3 of Clock Delta Compression.
static void notice_in_reverse(void)
{
    long values[2];
    MPI_Request requests[2];

    for (int i = 0; i < 2; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG_PAIR, MPI_COMM_WORLD, &requests[i]);
    check_note(notice(requests, values));
    if (values[0] / 1000000 == values[1] / 1000000)
        CHECK(values[0] < values[1], "messages %ld and %ld overtook", values[0], values[1]);
}

static void receive_all(void)
{
    for (int i = 0; i < ROUNDS; i++)
        wait_in_reverse();
    for (int i = 0; i < ROUNDS * (check.size - 1); i++)
        notice_in_reverse();
}

static void send_all(void)
{
    for (int step = 0; step < ROUNDS; step++)
        check_send_paced(0, TAG, step);
    for (int step = 0; step < ROUNDS; step++) {
        check_send_paced(0, TAG_PAIR, 2 * step);
        check_send(0, TAG_PAIR, 2 * step + 1, MPI_COMM_WORLD);
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
