/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks
// about: persistent receives, wildcard and named, and sends in one MPI_Startall, completed by
//     Waitsome or Testsome
#include "check.h"

enum { ROUNDS = 8, SLOTS = 6, RECEIVES = 4, TAG_WILD = 1, TAG_NAMED = 2, TAG_BACK = 3 };

struct set {
    long values[SLOTS];
    MPI_Request requests[SLOTS];
};

// Three wildcards for the three senders, one named receive, two sends.
static void create(struct set *set)
{
    for (int i = 0; i < 3; i++)
        MPI_Recv_init(&set->values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG_WILD, MPI_COMM_WORLD,
                      &set->requests[i]);
    MPI_Recv_init(&set->values[3], 1, MPI_LONG, 2, TAG_NAMED, MPI_COMM_WORLD, &set->requests[3]);
    MPI_Send_init(&set->values[4], 1, MPI_LONG, 1, TAG_BACK, MPI_COMM_WORLD, &set->requests[4]);
    MPI_Ssend_init(&set->values[5], 1, MPI_LONG, 3, TAG_BACK, MPI_COMM_WORLD, &set->requests[5]);
}

static void note(const struct set *set, int count, const int *indices, const MPI_Status *statuses)
{
    check_note(count);
    for (int i = 0; i < count; i++) {
        check_note(indices[i]);
        if (indices[i] < RECEIVES)
            check_note_message(set->values[indices[i]], &statuses[i]);
    }
}

static void complete(struct set *set, int (*some)(int, MPI_Request *, int *, int *, MPI_Status *))
{
    int count = 0, done = 0, indices[SLOTS];
    long failed = 0;
    MPI_Status statuses[SLOTS];

    while (some(SLOTS, set->requests, &count, indices, statuses), count != MPI_UNDEFINED) {
        failed += count == 0;
        done += count;
        if (count > 0)
            note(set, count, indices, statuses);
        check_rest();
    }
    CHECK(done == SLOTS, "%d completions", done);
    check_note(failed);
}

static void receive_all(void)
{
    struct set set;

    create(&set);
    for (int step = 0; step < ROUNDS; step++) {
        set.values[4] = set.values[5] = check_value(0, step);
        MPI_Startall(SLOTS, set.requests);
        complete(&set, step % 2 ? MPI_Testsome : MPI_Waitsome);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < SLOTS; i++)
        MPI_Request_free(&set.requests[i]);
}

static void send_all(void)
{
    for (int step = 0; step < ROUNDS; step++) {
        check_send_paced(0, TAG_WILD, step);
        if (check.rank == 2) {
            check_send_paced(0, TAG_NAMED, step);
        } else {
            long back = -1;
            MPI_Recv(&back, 1, MPI_LONG, 0, TAG_BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(back == check_value(0, step), "value %ld", back);
        }
        MPI_Barrier(MPI_COMM_WORLD);
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
