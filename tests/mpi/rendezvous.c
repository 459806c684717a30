/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks
// about: messages of 4 MiB and small ones for the same wildcard receives, blocking, by Waitany and
//     after a probe
#include "check.h"

enum { LARGE = 4 << 20, SMALL = 64, STEPS = 6, SLOTS = 2 };

static unsigned char pattern(int rank, int step, int place)
{
    return (unsigned char)(rank * 37 + step * 11 + place / 4096);
}

static int length_of(int rank, int step)
{
    return (rank + step) % 2 ? LARGE : SMALL;
}

// The tag is the step.
static void note(const unsigned char *buffer, const MPI_Status *status)
{
    int rank = status->MPI_SOURCE, step = status->MPI_TAG, length = check_bytes(status);

    CHECK(length == length_of(rank, step), "%d bytes from %d in step %d", length, rank, step);
    for (int place = 0; place < length; place += 509)
        CHECK(buffer[place] == pattern(rank, step, place), "wrong byte at %d", place);
    CHECK(buffer[length - 1] == pattern(rank, step, length - 1), "wrong last byte");
    check_note_status(status);
}

static void by_recv(unsigned char *buffer)
{
    MPI_Status status;

    MPI_Recv(buffer, LARGE, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    note(buffer, &status);
}

static void by_probe(unsigned char *buffer)
{
    MPI_Status status;

    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Recv(buffer, check_bytes(&status), MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
             MPI_COMM_WORLD, &status);
    note(buffer, &status);
}

static void by_waitany(unsigned char **buffers, int messages)
{
    int index, posted = SLOTS;
    MPI_Request requests[SLOTS];
    MPI_Status status;

    for (int i = 0; i < SLOTS; i++)
        MPI_Irecv(buffers[i], LARGE, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &requests[i]);
    while (MPI_Waitany(SLOTS, requests, &index, &status), index != MPI_UNDEFINED) {
        check_note(index);
        note(buffers[index], &status);
        if (posted++ < messages)
            MPI_Irecv(buffers[index], LARGE, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                      &requests[index]);
    }
}

static void receive_all(void)
{
    unsigned char *buffers[SLOTS];
    int third = STEPS / 3 * (check.size - 1);

    for (int i = 0; i < SLOTS; i++)
        buffers[i] = malloc(LARGE);
    for (int i = 0; i < third; i++)
        by_recv(buffers[0]);
    by_waitany(buffers, third);
    for (int i = 0; i < third; i++)
        by_probe(buffers[0]);
    for (int i = 0; i < SLOTS; i++)
        free(buffers[i]);
}

static void send_all(void)
{
    unsigned char *buffer = malloc(LARGE);

    for (int step = 0; step < STEPS; step++) {
        int length = length_of(check.rank, step);
        for (int place = 0; place < length; place++)
            buffer[place] = pattern(check.rank, step, place);
        check_pace(step);
        MPI_Send(buffer, length, MPI_BYTE, 0, step, MPI_COMM_WORLD);
    }
    free(buffer);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check.rank == 0)
        receive_all();
    else
        send_all();
    return check_end();
}
