/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: requests polled at different call sites, in nested functions and at different depths of a
//     recursion
#include "check.h"

enum { ROUNDS = 6, SLOTS = 3, DEPTH = 4, TAG = 1, TAG_URGENT = 9 };

struct poller {
    long values[SLOTS];
    long urgent_value;
    long failed;
    int left; // ordinary messages
    int posted;
    MPI_Request requests[SLOTS];
    MPI_Request urgent;
    int urgent_left;
};

static void post(struct poller *poller, int slot)
{
    if (poller->posted == 0)
        return;
    poller->posted--;
    MPI_Irecv(&poller->values[slot], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
              &poller->requests[slot]);
}

static void note(struct poller *poller, int slot, const MPI_Status *status)
{
    check_note(slot);
    check_note(poller->failed);
    check_note_message(poller->values[slot], status);
    poller->failed = 0;
    poller->left--;
    post(poller, slot);
}

static void poll_urgent(struct poller *poller)
{
    int flag = 0;
    MPI_Status status;

    if (poller->urgent == MPI_REQUEST_NULL)
        return;
    MPI_Test(&poller->urgent, &flag, &status);
    if (!flag) {
        poller->failed++;
        return;
    }
    check_note_message(poller->urgent_value, &status);
    if (--poller->urgent_left > 0)
        MPI_Irecv(&poller->urgent_value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG_URGENT, MPI_COMM_WORLD,
                  &poller->urgent);
}

static void poll_one(struct poller *poller, int slot)
{
    int flag = 0;
    MPI_Status status;

    if (poller->requests[slot] == MPI_REQUEST_NULL)
        return;
    MPI_Test(&poller->requests[slot], &flag, &status);
    if (flag)
        note(poller, slot, &status);
    else
        poller->failed++;
}

static void poll_any(struct poller *poller)
{
    int flag = 0, index;
    MPI_Status status;

    MPI_Testany(SLOTS, poller->requests, &index, &flag, &status);
    if (flag && index != MPI_UNDEFINED)
        note(poller, index, &status);
    else
        poller->failed++;
}

// The same call site at several depths, with another poll on the way back.
static void poll_deep(struct poller *poller, int depth)
{
    poll_one(poller, depth % SLOTS);
    if (depth > 0)
        poll_deep(poller, depth - 1);
    if (depth % 2)
        poll_urgent(poller);
}

static void receive_all(void)
{
    struct poller poller = {.urgent = MPI_REQUEST_NULL};

    poller.left = poller.posted = ROUNDS * (check.size - 1);
    poller.urgent_left = ROUNDS * (check.size - 1);
    MPI_Irecv(&poller.urgent_value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG_URGENT, MPI_COMM_WORLD,
              &poller.urgent);
    for (int slot = 0; slot < SLOTS; slot++)
        post(&poller, slot);
    for (int turn = 0; poller.left > 0 || poller.urgent_left > 0; turn++) {
        poll_deep(&poller, turn % DEPTH);
        poll_any(&poller);
        check_rest();
    }
    check_note(poller.failed);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check.rank == 0)
        receive_all();
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++) {
        check_send_paced(0, TAG, step);
        check_send(0, TAG_URGENT, step, MPI_COMM_WORLD);
    }
    return check_end();
}
