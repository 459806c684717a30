/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: same
// about: every rank posts a receive and polls for it before it sends what another rank polls for: a
//     deterministic run must not wait for a message that depends on the poll's own answer
#include "check.h"

enum { ROUNDS = 30, TAG = 1 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int i = 0; i < ROUNDS; i++) {
        long value = -1;
        int flag = 0, polls = 0, next = (check.rank + 1) % check.size;
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
        while (!flag && ++polls < 30)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag, "a message before anybody sent");
        MPI_Barrier(MPI_COMM_WORLD);
        check_send(next, TAG, i, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_note(value);
    }
    return check_end();
}
