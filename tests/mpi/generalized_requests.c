/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks solo
// about: generalized requests, which the program completes itself, in one Waitany or Testsome with
//     wildcard receives
#include "check.h"

enum { ROUNDS = 5, RECEIVES = 3, SLOTS = 4, OWN = 3, TAG = 1, OWN_TAG = 55 };

static int freed;

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 12);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = OWN_TAG;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    freed++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void note(int index, const long *values, const MPI_Status *status)
{
    check_note(index);
    if (index < RECEIVES) {
        check_note_message(values[index], status);
        return;
    }
    CHECK(status->MPI_TAG == OWN_TAG && check_bytes(status) == 12, "tag %d", status->MPI_TAG);
    check_note_status(status);
}

// The program completes its own request after the first message.
static void by_waitany(long *values, MPI_Request *requests)
{
    int index, done = 0;
    MPI_Status status;

    while (MPI_Waitany(SLOTS, requests, &index, &status), index != MPI_UNDEFINED) {
        note(index, values, &status);
        if (++done == 1)
            MPI_Grequest_complete(requests[OWN]);
    }
}

// Here after some failed polls.
static void by_testsome(long *values, MPI_Request *requests)
{
    int count, indices[SLOTS], failed = 0;
    MPI_Status statuses[SLOTS];

    while (MPI_Testsome(SLOTS, requests, &count, indices, statuses), count != MPI_UNDEFINED) {
        if (count == 0 && ++failed == 3)
            MPI_Grequest_complete(requests[OWN]);
        for (int i = 0; i < count; i++)
            note(indices[i], values, &statuses[i]);
        sched_yield();
    }
    check_note(failed);
}

static void receive_step(int step)
{
    long values[RECEIVES];
    MPI_Request requests[SLOTS];

    for (int i = 0; i < RECEIVES; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[i]);
    MPI_Grequest_start(query, release, cancel, NULL, &requests[OWN]);
    if (step % 2)
        by_testsome(values, requests);
    else
        by_waitany(values, requests);
    CHECK(freed == step + 1, "%d generalized requests freed", freed);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        check_send_paced(0, TAG, step);
    for (int step = 0; check.rank == 0 && step < ROUNDS; step++)
        receive_step(step);
    return check_end();
}
