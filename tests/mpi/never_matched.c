/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: wildcard receives that no message ever matches, among others with overlapping envelopes
//     that complete
#include "check.h"

enum { ROUNDS = 20, NEVER = 4, TAG = 1, TAG_NEVER = 2 };

static void cancel(MPI_Request *request)
{
    int cancelled = 0;
    MPI_Status status;

    MPI_Cancel(request);
    MPI_Wait(request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled, "a receive that nothing matches was not cancelled");
    check_note(cancelled);
}

// A tag, a source, and a communicator that nobody uses; the last would match, but stands behind as
// many receives as there are messages.
static void post_never(MPI_Comm unused, long *values, MPI_Request *requests)
{
    MPI_Irecv(&values[0], 1, MPI_LONG, MPI_ANY_SOURCE, TAG_NEVER, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_LONG, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&values[2], 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, unused, &requests[2]);
}

static void receive_all(MPI_Comm unused)
{
    int index, messages = ROUNDS * (check.size - 1);
    long never[NEVER], *values = calloc((size_t)messages, sizeof *values);
    MPI_Request pending[NEVER], *requests = calloc((size_t)messages, sizeof *requests);
    MPI_Status status;

    post_never(unused, never, pending);
    for (int i = 0; i < messages; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, i % 2 ? TAG : MPI_ANY_TAG,
                  MPI_COMM_WORLD, &requests[i]);
    MPI_Irecv(&never[3], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &pending[3]);
    for (int i = 0; i < messages; i++) {
        int flag = -1;
        MPI_Test(&pending[i % NEVER], &flag, &status);
        CHECK(!flag, "receive %d was matched", i % NEVER);
        MPI_Waitany(messages, requests, &index, &status);
        check_note(index);
        check_note_message(values[index], &status);
    }
    for (int i = 0; i < NEVER; i++)
        cancel(&pending[i]);
    free(values);
    free(requests);
}

int main(int argc, char **argv)
{
    MPI_Comm unused;

    check_start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &unused);
    if (check.rank == 0)
        receive_all(unused);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        check_send_paced(0, TAG, step);
    MPI_Comm_free(&unused);
    return check_end();
}
