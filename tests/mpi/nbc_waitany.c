/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: non-blocking collectives together with wildcard receives in one Waitany, Testsome, Testall
//     or Waitall
#include "check.h"

enum { ROUNDS = 4, RECEIVES = 2, SLOTS = 7, TAG = 1 };

struct work {
    long values[RECEIVES];
    long mine, sum, root;
    MPI_Request requests[SLOTS];
};

// Receives at 1 and 4, collectives at 0, 2 and 5, sends at 3 and 6.
static const int receive_slots[RECEIVES] = {1, 4};

static void start(struct work *work, int step)
{
    int left = (check.rank + check.size - 1) % check.size, across = (check.rank + 2) % check.size;

    work->mine = check_value(check.rank, step);
    work->root = check.rank == 0 ? step : -1;
    for (int i = 0; i < RECEIVES; i++)
        MPI_Irecv(&work->values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                  &work->requests[receive_slots[i]]);
    check_pace(step);
    MPI_Ibarrier(MPI_COMM_WORLD, &work->requests[0]);
    MPI_Iallreduce(&work->mine, &work->sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD,
                   &work->requests[2]);
    MPI_Isend(&work->mine, 1, MPI_LONG, left, TAG, MPI_COMM_WORLD, &work->requests[3]);
    MPI_Ibcast(&work->root, 1, MPI_LONG, 0, MPI_COMM_WORLD, &work->requests[5]);
    MPI_Isend(&work->mine, 1, MPI_LONG, across, TAG, MPI_COMM_WORLD, &work->requests[6]);
}

static void note(const struct work *work, int index, const MPI_Status *status)
{
    check_note(index);
    for (int i = 0; i < RECEIVES; i++)
        if (index == receive_slots[i])
            check_note_message(work->values[i], status);
}

static void by_waitany(struct work *work)
{
    int index;
    MPI_Status status;

    while (MPI_Waitany(SLOTS, work->requests, &index, &status), index != MPI_UNDEFINED)
        note(work, index, &status);
}

static void by_testsome(struct work *work)
{
    int count, indices[SLOTS];
    long failed = 0;
    MPI_Status statuses[SLOTS];

    while (MPI_Testsome(SLOTS, work->requests, &count, indices, statuses), count != MPI_UNDEFINED) {
        failed += count == 0;
        for (int i = 0; i < count; i++)
            note(work, indices[i], &statuses[i]);
        sched_yield();
    }
    check_note(failed);
}

static void by_testall(struct work *work)
{
    int flag = 0;
    long failed = 0;
    MPI_Status statuses[SLOTS];

    while (MPI_Testall(SLOTS, work->requests, &flag, statuses), !flag) {
        failed++;
        sched_yield();
    }
    check_note(failed);
    for (int i = 0; i < RECEIVES; i++)
        note(work, receive_slots[i], &statuses[receive_slots[i]]);
}

static void by_waitall(struct work *work)
{
    MPI_Status statuses[SLOTS];

    MPI_Waitall(SLOTS, work->requests, statuses);
    for (int i = 0; i < RECEIVES; i++)
        note(work, receive_slots[i], &statuses[receive_slots[i]]);
}

static void expect_collectives(const struct work *work, int step)
{
    long sum = 0;

    for (int r = 0; r < check.size; r++)
        sum += check_value(r, step);
    CHECK(work->sum == sum, "sum %ld, not %ld", work->sum, sum);
    CHECK(work->root == step, "broadcast %ld, not %d", work->root, step);
}

int main(int argc, char **argv)
{
    static void (*const kinds[])(struct work *) = {by_waitany, by_testsome, by_testall, by_waitall};

    check_start(&argc, &argv);
    for (int step = 0; step < 4 * ROUNDS; step++) {
        struct work work;
        start(&work, step);
        kinds[step % 4](&work);
        expect_collectives(&work, step);
    }
    return check_end();
}
