/* SPDX-License-Identifier: MIT */
// ranks: 5
// native: differs
// also: clocks
// about: MPI_Testsome polled over wildcard and named receives, which are posted again as they
//     complete
#include "check.h"

enum { ROUNDS = 6, SLOTS = 5, TAG_WILD = 1, TAG_NAMED = 2 };

struct pool {
    long values[SLOTS];
    MPI_Request requests[SLOTS];
    int left[SLOTS]; // receives still to be posted in a slot
};

// Slots 0 and 1 receive from anyone, the others each from one rank.
static void post(struct pool *pool, int slot)
{
    int wild = slot < 2;

    pool->requests[slot] = MPI_REQUEST_NULL;
    if (pool->left[slot] == 0)
        return;
    pool->left[slot]--;
    MPI_Irecv(&pool->values[slot], 1, MPI_LONG, wild ? MPI_ANY_SOURCE : slot - 1,
              wild ? TAG_WILD : TAG_NAMED, MPI_COMM_WORLD, &pool->requests[slot]);
}

static void complete(struct pool *pool, int count, const int *indices, const MPI_Status *statuses)
{
    check_note(count);
    for (int i = 0; i < count; i++) {
        check_note(indices[i]);
        check_note_message(pool->values[indices[i]], &statuses[i]);
        post(pool, indices[i]);
    }
}

static void receive_all(void)
{
    int senders = check.size - 1;
    struct pool pool = {
        .left = {senders * ROUNDS / 2, senders * ROUNDS / 2, ROUNDS, ROUNDS, ROUNDS}};
    int count = 0, indices[SLOTS];
    long failed = 0;
    MPI_Status statuses[SLOTS];

    for (int slot = 0; slot < SLOTS; slot++)
        post(&pool, slot);
    while (MPI_Testsome(SLOTS, pool.requests, &count, indices, statuses), count != MPI_UNDEFINED) {
        if (count > 0) {
            check_note(failed);
            failed = 0;
            complete(&pool, count, indices, statuses);
        } else {
            failed++;
            check_rest();
        }
    }
}

static void send_all(void)
{
    for (int step = 0; step < ROUNDS; step++) {
        check_send_paced(0, TAG_WILD, step);
        if (check.rank <= SLOTS - 2)
            check_send(0, TAG_NAMED, step, MPI_COMM_WORLD);
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
