/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks solo
// about: MPI_Isendrecv and MPI_Isendrecv_replace that receive from anyone, under way beside other
//     requests, completed by every call that completes requests
#include "check_isendrecv.h"

#if CHECK_HAS_MPI_4

enum { ROUNDS = 2, TAG = 1, OTHER_TAG = 2, PAIRS = 3, NULL_SLOT = PAIRS, OTHER, SLOTS };

struct round {
    long sent[PAIRS], received[SLOTS];
    MPI_Request requests[SLOTS];
};

// Each rank exchanges with all others, in any order; beside that, one receive that is no exchange.
static void start(struct round *r, int step)
{
    check_pace(step);
    for (int k = 0; k < PAIRS; k++) {
        int dest = (check.rank + k + 1) % check.size;
        r->sent[k] = r->received[k] = check_value(check.rank, step);
        if (k % 2)
            MPI_Isendrecv_replace(&r->received[k], 1, MPI_LONG, dest, TAG, MPI_ANY_SOURCE, TAG,
                                  MPI_COMM_WORLD, &r->requests[k]);
        else
            MPI_Isendrecv(&r->sent[k], 1, MPI_LONG, dest, TAG, &r->received[k], 1, MPI_LONG,
                          MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &r->requests[k]);
    }
    r->requests[NULL_SLOT] = MPI_REQUEST_NULL;
    MPI_Irecv(&r->received[OTHER], 1, MPI_LONG, MPI_ANY_SOURCE, OTHER_TAG, MPI_COMM_WORLD,
              &r->requests[OTHER]);
    check_send((check.rank + 1) % check.size, OTHER_TAG, step, MPI_COMM_WORLD);
}

static void take(const struct round *r, int slot, const MPI_Status *status)
{
    check_note(slot);
    check_note_exchanged(r->received[slot], slot == OTHER ? OTHER_TAG : TAG, status);
    CHECK(r->requests[slot] == MPI_REQUEST_NULL, "request %d is complete, but not null", slot);
}

static void by_wait(struct round *r)
{
    MPI_Status status;

    for (int i = SLOTS - 1; i >= 0; i--) {
        MPI_Wait(&r->requests[i], &status);
        if (i != NULL_SLOT)
            take(r, i, &status);
    }
}

static void by_waitall(struct round *r)
{
    MPI_Status statuses[SLOTS];

    MPI_Waitall(SLOTS, r->requests, statuses);
    for (int i = 0; i < SLOTS; i++)
        if (i != NULL_SLOT)
            take(r, i, &statuses[i]);
}

static void by_waitany(struct round *r)
{
    MPI_Status status;
    int index, taken = 0;

    for (; MPI_Waitany(SLOTS, r->requests, &index, &status), index != MPI_UNDEFINED; taken++)
        take(r, index, &status);
    CHECK(taken == SLOTS - 1, "%d requests of %d", taken, SLOTS - 1);
}

static void take_some(const struct round *r, int count, const int *indices,
                      const MPI_Status *statuses)
{
    check_note(count);
    for (int i = 0; i < count; i++)
        take(r, indices[i], &statuses[i]);
}

static void by_waitsome(struct round *r)
{
    MPI_Status statuses[SLOTS];
    int count, indices[SLOTS];

    while (MPI_Waitsome(SLOTS, r->requests, &count, indices, statuses), count != MPI_UNDEFINED) {
        CHECK(count > 0, "Waitsome gives %d", count);
        take_some(r, count, indices, statuses);
    }
}

static void by_test(struct round *r)
{
    long failed = 0;
    MPI_Status status;

    for (int i = 0; i < SLOTS; i++) {
        for (int flag = 0; !flag; failed += !flag) {
            MPI_Test(&r->requests[i], &flag, &status);
            check_rest();
        }
        if (i != NULL_SLOT)
            take(r, i, &status);
    }
    check_note(failed);
}

static void by_testall(struct round *r)
{
    MPI_Status statuses[SLOTS];
    long failed = 0;

    for (int flag = 0; !flag; failed += !flag) {
        MPI_Testall(SLOTS, r->requests, &flag, statuses);
        for (int i = 0; !flag && i < PAIRS; i++)
            CHECK(r->requests[i] != MPI_REQUEST_NULL, "Testall completes %d, but not all", i);
        check_rest();
    }
    for (int i = 0; i < SLOTS; i++)
        if (i != NULL_SLOT)
            take(r, i, &statuses[i]);
    check_note(failed);
}

static void by_testany(struct round *r)
{
    long failed = 0;

    for (int index = 0, flag; index != MPI_UNDEFINED;) {
        MPI_Status status;
        MPI_Testany(SLOTS, r->requests, &index, &flag, &status);
        if (flag && index != MPI_UNDEFINED)
            take(r, index, &status);
        index = flag ? index : 0;
        failed += !flag;
        check_rest();
    }
    check_note(failed);
}

static void by_testsome(struct round *r)
{
    MPI_Status statuses[SLOTS];
    int count = 0, indices[SLOTS];
    long failed = 0;

    while (MPI_Testsome(SLOTS, r->requests, &count, indices, statuses), count != MPI_UNDEFINED) {
        take_some(r, count, indices, statuses);
        failed += count == 0;
        check_rest();
    }
    check_note(failed);
}

// Asked for as often as may be, a complete request stays.
static void by_get_status(struct round *r)
{
    for (int i = 0; i < SLOTS; i++) {
        MPI_Status status;
        for (int flag = 0; !flag; check_rest())
            MPI_Request_get_status(r->requests[i], &flag, &status);
        if (i != NULL_SLOT)
            check_note_exchanged(r->received[i], i == OTHER ? OTHER_TAG : TAG, &status);
    }
    MPI_Waitall(SLOTS, r->requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    static void (*const kinds[])(struct round *) = {by_wait,     by_waitall,  by_waitany,
                                                    by_waitsome, by_test,     by_testall,
                                                    by_testany,  by_testsome, by_get_status};
    enum { KINDS = sizeof kinds / sizeof *kinds };

    check_start(&argc, &argv);
    for (int step = 0; step < ROUNDS * KINDS; step++) {
        struct round r;
        if (kinds[step % KINDS] == by_get_status &&
            getenv("TEST_CODEC")) // replays by clocks refuse it
            continue;
        MPI_Barrier(MPI_COMM_WORLD);
        start(&r, step);
        kinds[step % KINDS](&r);
    }
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_skip();
}

#endif
