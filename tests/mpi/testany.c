/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: MPI_Testany polled over wildcard and named receives, posted again as they complete
#include "check.h"

enum { ROUNDS = 5, SLOTS = 4, TAG_WILD = 1, TAG_NAMED = 2 };

static void post(long *values, MPI_Request *requests, int slot)
{
    MPI_Irecv(&values[slot], 1, MPI_LONG, slot == 0 ? MPI_ANY_SOURCE : slot,
              slot == 0 ? TAG_WILD : TAG_NAMED, MPI_COMM_WORLD, &requests[slot]);
}

// Returns the index, or MPI_UNDEFINED when all are null.
static int poll(MPI_Request *requests, MPI_Status *status)
{
    int flag = 0, index = -1;
    long failed = 0;

    while (MPI_Testany(SLOTS, requests, &index, &flag, status), !flag) {
        CHECK(index == MPI_UNDEFINED, "index %d from a failed Testany", index);
        failed++;
        check_rest();
    }
    check_note(failed);
    check_note(index);
    return index;
}

static void receive_all(void)
{
    int index, left[SLOTS] = {(SLOTS - 1) * ROUNDS, ROUNDS, ROUNDS, ROUNDS};
    long values[SLOTS];
    MPI_Request requests[SLOTS];
    MPI_Status status;

    for (int i = 0; i < SLOTS; i++)
        post(values, requests, i);
    while (index = poll(requests, &status), index != MPI_UNDEFINED) {
        check_note_message(values[index], &status);
        if (--left[index] > 0)
            post(values, requests, index);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++) {
        check_send_paced(0, TAG_NAMED, step);
        check_send_paced(0, TAG_WILD, step);
    }
    if (check.rank == 0)
        receive_all();
    return check_end();
}
