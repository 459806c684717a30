/* SPDX-License-Identifier: MIT */
// ranks: 2
// native: same
// clocks: 1
// timeout: 120
// about: messages with clocks arrive as they were sent: every kind of send, to every kind of
//     receive, by types with and without gaps, short and long
#include <stdbool.h>

#include "check.h"

enum {
    SENDS = 14,
    RECEIVES = 12,
    TYPES = 8,
    SIZES = 5,
    TAG_READY = 99,
    LONGEST = 20000,
    ROOM = LONGEST * 32 + 128
};

static const int sizes[SIZES] = {0, 1, 17, 1000, LONGEST};

static char *whole_out, *whole_in, *whole_expected, *packed;
static char *out, *in, *expected; // types may reach in front of these

// A type that is made anew each time, so that handles come back as those of other types.
static MPI_Datatype make_type(int which)
{
    int lengths[3] = {2, 1, 1}, places[3] = {3, -2, 1};
    MPI_Aint bytes[2] = {8, 0};
    MPI_Datatype type, parts[2] = {MPI_INT, MPI_DOUBLE};

    switch (which) {
    case 0:
        MPI_Type_dup(MPI_BYTE, &type);
        break;
    case 1:
        MPI_Type_contiguous(3, MPI_INT, &type);
        break;
    case 2:
        MPI_Type_vector(2, 1, 3, MPI_SHORT, &type);
        break;
    case 3:
        MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
        break; // lower bound below 0
    case 4:
        MPI_Type_create_struct(2, (int[]){2, 1}, bytes, parts, &type);
        break; // no gaps, but not in memory order
    case 5:
        MPI_Type_dup(MPI_DOUBLE_INT, &type);
        break;
    case 6:
        MPI_Type_create_resized(MPI_CHAR, -1, 4, &type);
        break;
    default:
        MPI_Type_contiguous(1, MPI_LONG_DOUBLE, &type);
        break;
    }
    MPI_Type_commit(&type);
    return type;
}

// Of a message and what is around it.
static size_t room_of(int count)
{
    return 128 + (size_t)count * 32;
}

static void fill(char *whole, int seed, size_t room)
{
    uint32_t x = (uint32_t)seed * 2654435761u + 1;

    for (size_t i = 0; i < room; i++, x = x * 1664525u + 1013904223u)
        whole[i] = (char)(x >> 24);
}

// What a receive into memory of 0xee bytes must leave there.
static void expect(int seed, int count, MPI_Datatype type)
{
    int size = 0, used = 0, unpacked = 0;

    fill(whole_out, seed, room_of(count));
    memset(whole_expected, 0xee, room_of(count));
    memset(whole_in, 0xee, room_of(count));
    MPI_Pack_size(count, type, MPI_COMM_WORLD, &size);
    MPI_Pack(out, count, type, packed, size, &used, MPI_COMM_WORLD);
    MPI_Unpack(packed, used, &unpacked, expected, count, type, MPI_COMM_WORLD);
}

static void complete(MPI_Request *request, bool persistent)
{
    if (persistent)
        MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    if (persistent)
        MPI_Request_free(request);
}

static void send_by(int kind, int count, MPI_Datatype type, int tag)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request request = MPI_REQUEST_NULL;

    switch (kind) {
    case 0:
        MPI_Send(out, count, type, 1, tag, w);
        break;
    case 1:
        MPI_Ssend(out, count, type, 1, tag, w);
        break;
    case 2:
        MPI_Bsend(out, count, type, 1, tag, w);
        break;
    case 3:
        MPI_Isend(out, count, type, 1, tag, w, &request);
        break;
    case 4:
        MPI_Issend(out, count, type, 1, tag, w, &request);
        break;
    case 5:
        MPI_Ibsend(out, count, type, 1, tag, w, &request);
        break;
    case 6:
        MPI_Send_init(out, count, type, 1, tag, w, &request);
        break;
    case 7:
        MPI_Ssend_init(out, count, type, 1, tag, w, &request);
        break;
    case 8:
        MPI_Bsend_init(out, count, type, 1, tag, w, &request);
        break;
    case 9:
        MPI_Sendrecv(out, count, type, 1, tag, NULL, 0, MPI_INT, MPI_PROC_NULL, 0, w,
                     MPI_STATUS_IGNORE);
        break;
    case 10:
        MPI_Sendrecv_replace(out, count, type, 1, tag, MPI_PROC_NULL, 0, w, MPI_STATUS_IGNORE);
        break;
    case 11:
        MPI_Rsend(out, count, type, 1, tag, w);
        break;
    case 12:
        MPI_Irsend(out, count, type, 1, tag, w, &request);
        break;
    default:
        MPI_Rsend_init(out, count, type, 1, tag, w, &request);
        break;
    }
    complete(&request, (kind >= 6 && kind <= 8) || kind == 13);
}

static int receive_posted(int kind, MPI_Request *request, MPI_Status *status)
{
    int done = 0, index = 0;

    switch (kind) {
    case 0:
        return MPI_Wait(request, status);
    case 1:
        while (!done)
            MPI_Test(request, &done, status);
        return 0;
    case 2:
        return MPI_Waitall(1, request, status);
    case 3:
        while (!done)
            MPI_Testall(1, request, &done, status);
        return 0;
    case 4:
        return MPI_Waitany(1, request, &index, status);
    case 5:
        while (!done)
            MPI_Testany(1, request, &index, &done, status);
        return 0;
    case 6:
        return MPI_Waitsome(1, request, &done, &index, status);
    default:
        while (!done)
            MPI_Testsome(1, request, &done, &index, status);
        return 0;
    }
}

static void receive_blocking(int kind, int count, MPI_Datatype type, int tag, MPI_Status *status)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Message message;
    MPI_Request request;
    int flag = 0;

    switch (kind) {
    case 8:
        MPI_Recv(in, count, type, MPI_ANY_SOURCE, tag, w, status);
        break;
    case 9:
        MPI_Probe(0, MPI_ANY_TAG, w, status);
        CHECK(status->MPI_TAG == tag, "tag %d", status->MPI_TAG);
        MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, in, count, type, 0, tag, w, status);
        break;
    case 10:
        MPI_Mprobe(0, tag, w, &message, status);
        MPI_Mrecv(in, count, type, &message, status);
        break;
    default:
        while (!flag)
            MPI_Improbe(MPI_ANY_SOURCE, tag, w, &flag, &message, status);
        MPI_Imrecv(in, count, type, &message, &request);
        MPI_Wait(&request, status);
    }
}

static void receive_by(int kind, int count, MPI_Datatype type, int tag, MPI_Status *status)
{
    MPI_Request request;
    int persistent = kind % 2;

    if (kind >= 8) {
        receive_blocking(kind, count, type, tag, status);
        return;
    }
    if (persistent) {
        MPI_Recv_init(in, count, type, 0, tag, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
    } else {
        MPI_Irecv(in, count, type, 0, tag, MPI_COMM_WORLD, &request);
    }
    MPI_Send(NULL, 0, MPI_INT, 0, TAG_READY, MPI_COMM_WORLD);
    receive_posted(kind, &request, status);
    if (persistent)
        MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL, "a request is left");
}

static void one(int send, int receive, int which, int count)
{
    int seed = ((send * RECEIVES + receive) * TYPES + which) * 7 + count, tag = seed % 30000,
        got = -1, elements = -1, bytes = 0;
    MPI_Datatype type = make_type(which);
    MPI_Status status;

    MPI_Type_size(type, &bytes);
    expect(seed, count, type);
    if (check.rank == 0) {
        if (receive < 8)
            MPI_Recv(NULL, 0, MPI_INT, 1, TAG_READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        send_by(send, count, type, tag);
    } else {
        receive_by(receive, count, type, tag, &status);
        CHECK(memcmp(whole_in, whole_expected, room_of(count)) == 0,
              "send %d, receive %d, type %d, count %d: other contents", send, receive, which,
              count);
        MPI_Get_count(&status, type, &got);
        MPI_Get_elements(&status, MPI_BYTE, &elements);
        CHECK(got == count && elements == count * bytes && status.MPI_SOURCE == 0 &&
                  status.MPI_TAG == tag,
              "send %d, receive %d, type %d, count %d: %d items, %d bytes, from %d, tag %d", send,
              receive, which, count, got, elements, status.MPI_SOURCE, status.MPI_TAG);
        check_note(got);
    }
    MPI_Type_free(&type);
}

// Ready sends need a receive that is posted. The long ones are not tried in every pair. MPICH 4.0
// does not receive long messages by types of several sizes that it has packed before, even without
// clocks.
static bool is_tried(int send, int receive, int which, int count)
{
    bool packed_before = send == 2 || send == 5 || send == 8 || send == 10;

#ifndef OPEN_MPI
    if (packed_before && (which == 4 || which == 5) && count >= 1000)
        return false;
#endif
    (void)packed_before;
    return (send < 11 || receive < 8) && (count < LONGEST || (send + receive) % 5 == which % 5);
}

// Any three of a kind of send, a kind of receive, a type and a size come together, but not all
// four: that would be thousands of messages, each of which waits for the other rank's time slice.
static bool is_chosen(int send, int receive, int which, int size)
{
    return (send + receive + which + size) % 3 == 0;
}

int main(int argc, char **argv)
{
    void *detached;
    int size;

    check_start(&argc, &argv);
    whole_out = malloc(ROOM), whole_in = malloc(ROOM), whole_expected = malloc(ROOM),
    packed = malloc(ROOM);
    out = whole_out + 64, in = whole_in + 64, expected = whole_expected + 64;
    MPI_Buffer_attach(malloc(4 * ROOM), 4 * ROOM);
    for (int send = 0; send < SENDS; send++)
        for (int receive = 0; receive < RECEIVES; receive++)
            for (int which = 0; which < TYPES; which++)
                for (int i = 0; i < SIZES; i++)
                    if (is_chosen(send, receive, which, i) &&
                        is_tried(send, receive, which, sizes[i]))
                        one(send, receive, which, sizes[i]);
    MPI_Buffer_detach(&detached, &size);
    return check_end();
}
