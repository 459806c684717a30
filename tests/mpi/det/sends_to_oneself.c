/* SPDX-License-Identifier: MIT */
// ranks: 2
// about: messages to oneself of all lengths up to the threshold are sent before they are received,
//     which not every MPI allows by itself
#include "check.h"

static const int lengths[] = {0, 1, 1000, 1024, 1025, 2048, 2049, 16384, 65536};
enum { LENGTHS = sizeof lengths / sizeof *lengths, LONGEST = 65536 };

static void send(int how, char *out, int length)
{
    MPI_Request request;

    if (how == 0) {
        MPI_Send(out, length, MPI_CHAR, check.rank, length, MPI_COMM_WORLD);
        return;
    }
    MPI_Isend(out, length, MPI_CHAR, check.rank, length, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    static char out[LONGEST], in[LONGEST];
    MPI_Status status;

    check_start(&argc, &argv);
    for (int i = 0; i < 2 * LENGTHS; i++) {
        memset(out, i + 1, sizeof out);
        send(i / LENGTHS, out, lengths[i % LENGTHS]);
        memset(out, 0, sizeof out);
        MPI_Recv(in, LONGEST, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK(check_bytes(&status) == lengths[i % LENGTHS] && status.MPI_SOURCE == check.rank,
              "message %d: %d bytes from %d", i, check_bytes(&status), status.MPI_SOURCE);
        CHECK(lengths[i % LENGTHS] == 0 ||
                  (in[0] == i + 1 && in[lengths[i % LENGTHS] - 1] == i + 1),
              "message %d: %d", i, in[0]);
        check_note_status(&status);
    }
    return check_end();
}
