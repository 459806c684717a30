/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: polling that gives up by MPI_Wtime, so that the clock decides what the program does next
#include "check.h"

enum { ROUNDS = 6, TAG = 1 };

// Polls for at most 10 ms. Returns 1 if a message was received.
static int try_receive(MPI_Request *request, const long *value)
{
    int flag = 0;
    long failed = 0;
    double start = MPI_Wtime();
    MPI_Status status;

    while (MPI_Test(request, &flag, &status), !flag && MPI_Wtime() - start < 0.010) {
        failed++;
        sched_yield();
    }
    check_note(failed);
    check_note(flag);
    if (flag)
        check_note_message(*value, &status);
    return flag;
}

static void receive_all(void)
{
    for (int i = 0, given_up = 0; i < ROUNDS * (check.size - 1); i++) {
        long value = -1;
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
        while (!try_receive(&request, &value))
            check_note(++given_up);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check.rank == 0)
        receive_all();
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        check_send_paced(0, TAG, step);
    return check_end();
}
