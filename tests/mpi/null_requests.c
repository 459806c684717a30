/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: same
// about: completion calls on null and inactive requests and on empty arrays: MPI_UNDEFINED and
//     empty statuses
#include "check.h"

enum { SLOTS = 3 };

static MPI_Request requests[SLOTS];
static MPI_Status statuses[SLOTS];

static void set_statuses(void)
{
    memset(statuses, 0x5a, sizeof statuses);
}

static void expect_empty(const MPI_Status *status)
{
    int cancelled = -1;

    MPI_Test_cancelled(status, &cancelled);
    CHECK(status->MPI_SOURCE == MPI_ANY_SOURCE, "source %d", status->MPI_SOURCE);
    CHECK(status->MPI_TAG == MPI_ANY_TAG, "tag %d", status->MPI_TAG);
    CHECK(check_bytes(status) == 0, "%d bytes", check_bytes(status));
    CHECK(cancelled == 0, "cancelled %d", cancelled);
    check_note_status(status);
}

static void single(MPI_Request *request)
{
    int flag = 0;

    set_statuses();
    MPI_Wait(request, &statuses[0]);
    expect_empty(&statuses[0]);
    set_statuses();
    MPI_Test(request, &flag, &statuses[0]);
    CHECK(flag, "Test failed");
    expect_empty(&statuses[0]);
    set_statuses();
    MPI_Request_get_status(*request, &flag, &statuses[0]);
    CHECK(flag, "Request_get_status failed");
    expect_empty(&statuses[0]);
}

static void any(int count)
{
    int flag = 0, index = 0;

    set_statuses();
    MPI_Waitany(count, requests, &index, &statuses[0]);
    CHECK(index == MPI_UNDEFINED, "index %d", index);
    expect_empty(&statuses[0]);
    set_statuses();
    index = 0;
    MPI_Testany(count, requests, &index, &flag, &statuses[0]);
    CHECK(flag && index == MPI_UNDEFINED, "flag %d, index %d", flag, index);
    if (requests[0] ==
        MPI_REQUEST_NULL) // MPICH 4.0 leaves the status alone if a request is inactive
        expect_empty(&statuses[0]);
    MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
    check_note(index);
}

static void some(int count)
{
    int outcount = 0, indices[SLOTS];

    MPI_Waitsome(count, requests, &outcount, indices, statuses);
    CHECK(outcount == MPI_UNDEFINED, "outcount %d", outcount);
    outcount = 0;
    MPI_Testsome(count, requests, &outcount, indices, statuses);
    CHECK(outcount == MPI_UNDEFINED, "outcount %d", outcount);
    MPI_Testsome(count, requests, &outcount, indices, MPI_STATUSES_IGNORE);
    check_note(outcount);
}

static void all(int count)
{
    int flag = 0;

    set_statuses();
    MPI_Waitall(count, requests, statuses);
    for (int i = 0; i < count; i++)
        expect_empty(&statuses[i]);
    set_statuses();
    MPI_Testall(count, requests, &flag, statuses);
    CHECK(flag, "Testall failed");
    for (int i = 0; i < count; i++)
        expect_empty(&statuses[i]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void everything(void)
{
    for (int i = 0; i < SLOTS; i++)
        single(&requests[i]);
    for (int count = SLOTS; count >= 0; count -= SLOTS) {
        any(count);
        some(count);
        all(count);
    }
}

int main(int argc, char **argv)
{
    long value = 0;

    check_start(&argc, &argv);
    for (int i = 0; i < SLOTS; i++)
        requests[i] = MPI_REQUEST_NULL;
    everything();
    MPI_Recv_init(&value, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&value, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD, &requests[2]);
    everything();
    CHECK(requests[0] != MPI_REQUEST_NULL && requests[2] != MPI_REQUEST_NULL,
          "inactive request became null");
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[2]);
    return check_end();
}
