/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks
// about: MPI_Request_get_status polled on several wildcard receives, which a later Wait or Test
//     completes
#include "check.h"

enum { ROUNDS = 5, SLOTS = 3, TAG = 1 };

// Polls the requests in turn; returns the first that has completed.
static int poll(const MPI_Request *requests, MPI_Status *status)
{
    int flag = 0, slot = 0;
    long failed = 0;

    while (MPI_Request_get_status(requests[slot], &flag, status), !flag) {
        slot = (slot + 1) % SLOTS;
        failed++;
        check_rest();
    }
    check_note(failed);
    check_note(slot);
    return slot;
}

static void complete(MPI_Request *request, const MPI_Status *seen, int by_test)
{
    int flag = 1;
    MPI_Status status;

    if (by_test)
        MPI_Test(request, &flag, &status);
    else
        MPI_Wait(request, &status);
    CHECK(flag, "Test failed on a request known to be complete");
    CHECK(status.MPI_SOURCE == seen->MPI_SOURCE && status.MPI_TAG == seen->MPI_TAG,
          "another status than seen");
    CHECK(*request == MPI_REQUEST_NULL, "request not null");
}

static void receive_all(void)
{
    int messages = ROUNDS * (check.size - 1);
    long values[SLOTS];
    MPI_Request requests[SLOTS];
    MPI_Status status;

    for (int i = 0; i < SLOTS; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < messages - SLOTS; i++) {
        int slot = poll(requests, &status);
        check_note_message(values[slot], &status);
        complete(&requests[slot], &status, i % 2);
        MPI_Irecv(&values[slot], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[slot]);
    }
    MPI_Waitall(SLOTS, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < SLOTS; i++)
        check_note(values[i]);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        check_send_paced(0, TAG, step);
    if (check.rank == 0)
        receive_all();
    return check_end();
}
