/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: same
// about: a rank that has probed a message sends before it receives it, and the receiver had to hear
//     from a third first
//
// The clock of what is sent does not show that it depends on the message that was probed:
// tests/app/stuck_cdc.sh says what a replay by clocks makes of that.
#include "check.h"

enum { TAG = 1, TICKS = 5 };

static void send_to(int dest)
{
    long value = check.rank;

    MPI_Send(&value, 1, MPI_LONG, dest, TAG, MPI_COMM_WORLD);
}

static void receive_any(void)
{
    long value = -1;
    MPI_Status status;

    MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    check_note(value);
    check_note_status(&status);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check.rank == 0) {
        MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        send_to(1);
        receive_any();
    } else if (check.rank == 1) {
        receive_any();
        send_to(0);
        receive_any();
    } else {
        for (int i = 0; i < TICKS; i++) { // its clock moves on
            send_to(2);
            receive_any();
        }
        send_to(1);
    }
    return check_end();
}
