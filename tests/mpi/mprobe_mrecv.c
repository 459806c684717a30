/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: MPI_Mprobe for anything and MPI_Mrecv, also of two messages taken before either is
//     received
#include "check.h"

enum { ROUNDS = 6, TAG = 5 };

static void receive_one(void)
{
    long value = -1;
    MPI_Message message;
    MPI_Status probed, status;

    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &probed);
    MPI_Mrecv(&value, 1, MPI_LONG, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL, "message not null after Mrecv");
    CHECK(probed.MPI_SOURCE == status.MPI_SOURCE && probed.MPI_TAG == status.MPI_TAG,
          "not the message probed");
    check_note_message(value, &status);
}

// The message taken last is received first.
static void receive_two(void)
{
    MPI_Message messages[2];
    MPI_Status probed[2];

    for (int i = 0; i < 2; i++)
        MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &messages[i], &probed[i]);
    for (int i = 1; i >= 0; i--) {
        long value = -1;
        MPI_Status status;
        MPI_Mrecv(&value, 1, MPI_LONG, &messages[i], &status);
        CHECK(probed[i].MPI_SOURCE == status.MPI_SOURCE, "not the message probed");
        check_note_message(value, &status);
    }
}

// A wildcard receive must not take a message that Mprobe has taken.
static void receive_around(void)
{
    long taken = -1, other = -1;
    MPI_Message message;
    MPI_Status status;

    MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Recv(&other, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    check_note_message(other, &status);
    MPI_Mrecv(&taken, 1, MPI_LONG, &message, &status);
    check_note_message(taken, &status);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; check.rank > 0 && step < 3 * ROUNDS; step++)
        check_send_paced(0, TAG, step);
    for (int i = 0; check.rank == 0 && i < ROUNDS * (check.size - 1); i++)
        receive_one();
    for (int i = 0; check.rank == 0 && i < ROUNDS * (check.size - 1) / 2; i++) {
        receive_two();
        receive_around();
    }
    return check_end();
}
