/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: same
// across: the status of a receive from MPI_PROC_NULL
// about: receives, probes and exchanges with MPI_PROC_NULL complete at once, leave the buffer alone
//     and set the status
#include "check.h"

enum { TAG = 1, UNTOUCHED = 4711 };

static long value = UNTOUCHED;
static MPI_Status status;

static void note(void)
{
    CHECK(value == UNTOUCHED, "buffer changed to %ld", value);
    check_note_status(&status);
    memset(&status, 0, sizeof status);
}

// Where both MPIs keep to the standard; MPICH 4.0 does not after Irecv and Recv_init.
static void note_strictly(void)
{
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG, "status %d %d",
          status.MPI_SOURCE, status.MPI_TAG);
    CHECK(check_bytes(&status) == 0, "%d bytes", check_bytes(&status));
    note();
}

static void blocking(void)
{
    long other = 1;

    MPI_Send(&other, 1, MPI_LONG, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_LONG, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &status);
    note_strictly();
    MPI_Recv(&value, 1, MPI_LONG, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    note_strictly();
    MPI_Sendrecv(&other, 1, MPI_LONG, MPI_PROC_NULL, TAG, &value, 1, MPI_LONG, MPI_PROC_NULL,
                 MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    note_strictly();
    MPI_Sendrecv_replace(&value, 1, MPI_LONG, MPI_PROC_NULL, TAG, MPI_PROC_NULL, TAG,
                         MPI_COMM_WORLD, &status);
    note_strictly();
}

static void probing(void)
{
    int flag = 0;
    MPI_Message message;
    MPI_Request request;

    MPI_Probe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &status);
    note_strictly();
    MPI_Iprobe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    CHECK(flag, "Iprobe of MPI_PROC_NULL failed");
    note_strictly();
    MPI_Mprobe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC, "not MPI_MESSAGE_NO_PROC");
    note_strictly();
    MPI_Mrecv(&value, 1, MPI_LONG, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL, "message not null");
    note_strictly();
    MPI_Improbe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(flag, "Improbe of MPI_PROC_NULL failed");
    note_strictly();
    MPI_Imrecv(&value, 1, MPI_LONG, &message, &request);
    MPI_Wait(&request, &status);
    note_strictly();
}

static void nonblocking(void)
{
    int flag = 0, index = -1;
    MPI_Request requests[2];

    MPI_Irecv(&value, 1, MPI_LONG, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], &status);
    note();
    MPI_Irecv(&value, 1, MPI_LONG, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Test(&requests[0], &flag, &status);
    CHECK(flag, "Test failed");
    note();
    requests[0] = MPI_REQUEST_NULL;
    MPI_Irecv(&value, 1, MPI_LONG, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitany(2, requests, &index, &status);
    CHECK(index == 1, "index %d", index);
    note();
}

static void persistent(void)
{
    MPI_Request request;

    MPI_Recv_init(&value, 1, MPI_LONG, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        note();
    }
    MPI_Request_free(&request);
}

// A line of ranks whose ends are MPI_PROC_NULL, as stencil codes do it.
static void shift_in_line(void)
{
    int left = check.rank > 0 ? check.rank - 1 : MPI_PROC_NULL;
    int right = check.rank < check.size - 1 ? check.rank + 1 : MPI_PROC_NULL;
    long mine = check.rank, other = UNTOUCHED;

    MPI_Sendrecv(&mine, 1, MPI_LONG, right, TAG, &other, 1, MPI_LONG, left, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
    CHECK(other == (check.rank > 0 ? check.rank - 1 : UNTOUCHED), "value %ld", other);
    note();
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    blocking();
    probing();
    nonblocking();
    persistent();
    shift_in_line();
    return check_end();
}
