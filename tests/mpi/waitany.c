/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: MPI_Waitany over named receives only, over wildcard receives only, and over both
#include "check.h"

enum { ROUNDS = 4, SLOTS = 4 };

struct slot {
    int source;
    int tag;
    int left; // receives still to be posted
    long value;
};

static void post(struct slot *slot, MPI_Request *request)
{
    if (slot->left-- > 0)
        MPI_Irecv(&slot->value, 1, MPI_LONG, slot->source, slot->tag, MPI_COMM_WORLD, request);
}

static void drain(int count, struct slot *slots)
{
    int index;
    MPI_Request requests[SLOTS];
    MPI_Status status;

    for (int i = 0; i < count; i++)
        post(&slots[i], &requests[i]);
    while (MPI_Waitany(count, requests, &index, &status), index != MPI_UNDEFINED) {
        CHECK(requests[index] == MPI_REQUEST_NULL, "request %d not null", index);
        check_note(index);
        check_note_message(slots[index].value, &status);
        post(&slots[index], &requests[index]);
    }
}

static void receive_all(void)
{
    struct slot named[] = {{1, 1, ROUNDS, 0}, {2, 1, ROUNDS, 0}, {3, 1, ROUNDS, 0}};
    struct slot wild[] = {{MPI_ANY_SOURCE, 2, ROUNDS, 0},
                          {MPI_ANY_SOURCE, 2, ROUNDS, 0},
                          {MPI_ANY_SOURCE, 2, ROUNDS, 0}};
    struct slot both[] = {{2, 3, ROUNDS, 0},
                          {MPI_ANY_SOURCE, 4, 3 * ROUNDS, 0},
                          {1, 3, ROUNDS, 0},
                          {3, 3, ROUNDS, 0}};

    drain(3, named);
    drain(3, wild);
    drain(4, both);
}

static void send_all(void)
{
    for (int step = 0; step < ROUNDS; step++)
        check_send_paced(0, 1, step);
    for (int step = 0; step < ROUNDS; step++)
        check_send_paced(0, 2, step);
    for (int step = 0; step < ROUNDS; step++) {
        check_send_paced(0, 3, step);
        check_send_paced(0, 4, step);
    }
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
