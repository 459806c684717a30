/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: persistent wildcard receives through many MPI_Start, completed by Wait, Test and Waitany
#include "check.h"

enum { ROUNDS = 4, SLOTS = 2, TAG = 3 };

static void complete_by_wait(MPI_Request *request, long *value)
{
    MPI_Status status;

    MPI_Start(request);
    MPI_Wait(request, &status);
    CHECK(*request != MPI_REQUEST_NULL, "persistent request became null");
    check_note_message(*value, &status);
}

static void complete_by_test(MPI_Request *request, long *value)
{
    int flag = 0;
    long failed = 0;
    MPI_Status status;

    MPI_Start(request);
    while (MPI_Test(request, &flag, &status), !flag) {
        failed++;
        check_rest();
    }
    check_note(failed);
    check_note_message(*value, &status);
}

// Each slot is started again until `messages` have been started.
static void complete_by_waitany(MPI_Request *requests, long *values, int messages)
{
    int index, started = SLOTS;
    MPI_Status status;

    for (int i = 0; i < SLOTS; i++)
        MPI_Start(&requests[i]);
    while (MPI_Waitany(SLOTS, requests, &index, &status), index != MPI_UNDEFINED) {
        check_note(index);
        check_note_message(values[index], &status);
        if (started++ < messages)
            MPI_Start(&requests[index]);
    }
}

static void receive_all(void)
{
    int messages = ROUNDS * (check.size - 1);
    long values[SLOTS];
    MPI_Request requests[SLOTS];

    for (int i = 0; i < SLOTS; i++)
        MPI_Recv_init(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, i == 0 ? TAG : MPI_ANY_TAG,
                      MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < messages; i++)
        complete_by_wait(&requests[i % SLOTS], &values[i % SLOTS]);
    for (int i = 0; i < messages; i++)
        complete_by_test(&requests[i % SLOTS], &values[i % SLOTS]);
    complete_by_waitany(requests, values, messages);
    for (int i = 0; i < SLOTS; i++)
        MPI_Request_free(&requests[i]);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; check.rank > 0 && step < 3 * ROUNDS; step++)
        check_send_paced(0, TAG, step);
    if (check.rank == 0)
        receive_all();
    return check_end();
}
