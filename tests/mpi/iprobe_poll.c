/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: MPI_Iprobe polled, any source and named, with the failed polls counted
#include "check.h"

enum { ROUNDS = 5 };

static void probe(int source, int tag, MPI_Status *status)
{
    long failed = 0;
    int flag = 0;

    while (MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, status), !flag) {
        failed++;
        check_rest();
    }
    check_note(failed);
    check_note_status(status);
}

static void receive(const MPI_Status *probed)
{
    long value = -1;
    MPI_Status status;

    MPI_Recv(&value, 1, MPI_LONG, probed->MPI_SOURCE, probed->MPI_TAG, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == probed->MPI_SOURCE && status.MPI_TAG == probed->MPI_TAG,
          "not the message probed");
    check_note_message(value, &status);
}

static void receive_any(void)
{
    for (int i = 0; i < ROUNDS * (check.size - 1); i++) {
        MPI_Status status;
        probe(MPI_ANY_SOURCE, MPI_ANY_TAG, &status);
        receive(&status);
    }
}

// Polls the ranks in turn, as programs do that avoid wildcards.
static void receive_in_turn(void)
{
    int left = ROUNDS * (check.size - 1);

    for (int poll = 0; left > 0; poll++) {
        int flag = 0;
        MPI_Status status;
        MPI_Iprobe(1 + poll % (check.size - 1), 9, MPI_COMM_WORLD, &flag, &status);
        if (flag) {
            check_note(poll);
            receive(&status);
            left--;
        }
        check_rest();
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        check_send_paced(0, step, step);
    if (check.rank == 0)
        receive_any();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        check_send_paced(0, 9, step);
    if (check.rank == 0)
        receive_in_turn();
    return check_end();
}
