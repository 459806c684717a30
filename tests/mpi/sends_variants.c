/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks
// about: every mode of sending (Ssend, Bsend, Rsend, Issend, Ibsend, Irsend) to wildcard receives
#include "check.h"

enum { MODES = 8, READY_FROM = 6, TAG_READY = 100 };

// Modes 6 and 7 are ready sends: the receives must have been posted.
static void send_in_mode(int mode, const long *value, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    switch (mode) {
    case 0:
        MPI_Send(value, 1, MPI_LONG, 0, mode, MPI_COMM_WORLD);
        break;
    case 1:
        MPI_Ssend(value, 1, MPI_LONG, 0, mode, MPI_COMM_WORLD);
        break;
    case 2:
        MPI_Bsend(value, 1, MPI_LONG, 0, mode, MPI_COMM_WORLD);
        break;
    case 3:
        MPI_Isend(value, 1, MPI_LONG, 0, mode, MPI_COMM_WORLD, request);
        break;
    case 4:
        MPI_Issend(value, 1, MPI_LONG, 0, mode, MPI_COMM_WORLD, request);
        break;
    case 5:
        MPI_Ibsend(value, 1, MPI_LONG, 0, mode, MPI_COMM_WORLD, request);
        break;
    case 6:
        MPI_Rsend(value, 1, MPI_LONG, 0, mode, MPI_COMM_WORLD);
        break;
    default:
        MPI_Irsend(value, 1, MPI_LONG, 0, mode, MPI_COMM_WORLD, request);
        break;
    }
}

static void send_step(int mode)
{
    long value = check_value(check.rank, mode);
    MPI_Request request;

    if (mode >= READY_FROM)
        MPI_Recv(NULL, 0, MPI_LONG, 0, TAG_READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_pace(mode);
    send_in_mode(mode, &value, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive_step(int mode)
{
    long values[8];
    MPI_Request requests[8];

    for (int i = 1; i < check.size; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, mode, MPI_COMM_WORLD, &requests[i]);
    for (int r = 1; mode >= READY_FROM && r < check.size; r++)
        MPI_Send(NULL, 0, MPI_LONG, r, TAG_READY, MPI_COMM_WORLD);
    for (int i = 1; i < check.size; i++) {
        MPI_Status status;
        MPI_Wait(&requests[i], &status);
        check_note_message(values[i], &status);
    }
}

int main(int argc, char **argv)
{
    static char buffer[4096 + MPI_BSEND_OVERHEAD];
    void *detached;
    int size;

    check_start(&argc, &argv);
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int step = 0; step < 2 * MODES; step++) {
        if (check.rank == 0)
            receive_step(step % MODES);
        else
            send_step(step % MODES);
    }
    MPI_Buffer_detach(&detached, &size);
    CHECK(detached == buffer && size == (int)sizeof buffer, "another buffer of %d bytes detached",
          size);
    return check_end();
}
