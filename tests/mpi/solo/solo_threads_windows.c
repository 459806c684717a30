/* SPDX-License-Identifier: MIT */
// ranks: 3
// about: alone: threads of a rank that read and update windows at the same time, poll their own
//     window until others have written, and meet at fences
#include "../check_threads.h"

enum { ROUNDS = 8, SLOTS = CHECK_THREADS * ROUNDS };

static MPI_Win counters, slots, fenced[2];
static MPI_Comm comms[2];
static long *counter, *slot, *part[2];

// The order in which threads and ranks come is open.
static void count(struct check_thread *self, int round)
{
    int target = (check.rank + round) % check.size;
    long one = 1, before = -1;

    MPI_Fetch_and_op(&one, &before, MPI_LONG, target, 0, MPI_SUM, counters);
    MPI_Win_flush(target, counters);
    check_thread_note(self, before);
}

// What the thread of the rank before puts into the slot is seen by polling, without any message; by
// MPI_Get, since loads have no order among the calls of other threads.
static void exchange(struct check_thread *self, int round)
{
    int next = (check.rank + 1) % check.size, at = self->number * ROUNDS + round, flag;
    long value = check.rank * 1000 + at + 1, seen = 0;

    MPI_Accumulate(&value, 1, MPI_LONG, next, at, 1, MPI_LONG, MPI_REPLACE, slots);
    MPI_Win_flush(next, slots);
    do {
        MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Get(&seen, 1, MPI_LONG, check.rank, at, 1, MPI_LONG, slots);
        MPI_Win_flush(check.rank, slots);
    } while (seen == 0);
    check_thread_note(self, seen);
    MPI_Get(&seen, 1, MPI_LONG, next, at, 1, MPI_LONG, slots);
    MPI_Win_flush(next, slots);
    check_thread_note(self, seen);
}

static void fence(struct check_thread *self, int round)
{
    int which = self->number - 2, next = (check.rank + 1) % check.size;
    long own = check.rank * 100 + round;

    MPI_Win_fence(0, fenced[which]);
    MPI_Put(&own, 1, MPI_LONG, next, round, 1, MPI_LONG, fenced[which]);
    MPI_Win_fence(0, fenced[which]);
    check_thread_note(self, part[which][round]);
    part[which][round] += which;
    MPI_Barrier(comms[which]);
}

static void *run(void *data)
{
    struct check_thread *self = data;

    for (int round = 0; round < ROUNDS; round++) {
        check_pace(round);
        check_thread_pace(self);
        count(self, round);
        exchange(self, round);
        if (self->number >= 2)
            fence(self, round);
    }
    return NULL;
}

// Where the system forbids CMA, Open MPI 4.1 cannot.
static int make_slots(void)
{
    slot = calloc(SLOTS, sizeof *slot);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rc = MPI_Win_create(slot, SLOTS * sizeof *slot, sizeof *slot, MPI_INFO_NULL, MPI_COMM_WORLD,
                            &slots);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return rc == MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    // Without it, Open MPI 4.1 has no windows of the program's memory for programs with threads.
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "cma", 1);
    if (!check_start_threads(&argc, &argv) || !make_slots())
        return check_skip();
    MPI_Win_allocate(sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                     &counters);
    for (int i = 0; i < 2; i++) {
        MPI_Win_allocate(ROUNDS * sizeof **part, sizeof **part, MPI_INFO_NULL, MPI_COMM_WORLD,
                         &part[i], &fenced[i]);
        memset(part[i], 0, ROUNDS * sizeof **part);
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    *counter = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, counters);
    MPI_Win_lock_all(0, slots);
    check_run_threads(run);
    MPI_Win_unlock_all(slots);
    MPI_Win_unlock_all(counters);
    MPI_Barrier(MPI_COMM_WORLD);
    check_note(*counter);
    MPI_Win_free(&slots);
    MPI_Win_free(&counters);
    for (int i = 0; i < 2; i++) {
        MPI_Win_free(&fenced[i]);
        MPI_Comm_free(&comms[i]);
    }
    free(slot);
    return check_end();
}
