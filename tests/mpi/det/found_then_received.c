/* SPDX-License-Identifier: MIT */
// ranks: 3
// about: synchronous and long messages are found by matched probes; their senders wait until they
//     are received, long after, in another order
#include "check.h"

enum { ROUNDS = 20, LONG = 40000, TAG = 1, MORE = 2 };

static double values[2][LONG];

static void receive(MPI_Message *message, int count, int slot, int blocks)
{
    MPI_Request request;

    if (blocks) {
        MPI_Mrecv(values[slot], count, MPI_DOUBLE, message, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Imrecv(values[slot], count, MPI_DOUBLE, message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void take(int round)
{
    MPI_Message message[2];
    MPI_Status status[2];
    int count[2], more, flag;

    MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &message[0], &status[0]);
    for (flag = 0; !flag;)
        MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, &message[1], &status[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Get_count(&status[i], MPI_DOUBLE, &count[i]);
        check_note_status(&status[i]);
    }
    for (int i = 1; i >= 0; i--) { /* what comes next is sent when this is received */
        receive(&message[i], count[i], i, (round + i) % 2);
        CHECK(values[i][count[i] - 1] == status[i].MPI_SOURCE * 1000 + round,
              "round %d: %g from %d", round, values[i][count[i] - 1], status[i].MPI_SOURCE);
        MPI_Recv(&more, 1, MPI_INT, MPI_ANY_SOURCE, MORE, MPI_COMM_WORLD, &status[i]);
        CHECK(more == status[i].MPI_SOURCE * 1000 + round, "round %d: %d", round, more);
        check_note_status(&status[i]);
    }
}

static void send(int round)
{
    int count = round % 2 ? LONG : 1, more = check.rank * 1000 + round, flag;
    MPI_Request request;

    for (int i = 0; i < count; i++)
        values[0][i] = more;
    if (round % 3 == 0) {
        MPI_Ssend(values[0], count, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
    } else {
        MPI_Issend(values[0], count, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, &request);
        for (flag = 0; !flag;)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Send(&more, 1, MPI_INT, 0, MORE, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++)
        check.rank == 0 ? take(round) : send(round);
    return check_end();
}
