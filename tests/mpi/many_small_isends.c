/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks
// about: hundreds of small Isends under way at once, whose request handles the MPI shares, mixed
//     with wildcard receives
#include "check.h"

enum { ROUNDS = 3, MESSAGES = 300, SLOTS = 2 * MESSAGES, TAG = 1 };

static long sent[MESSAGES], received[MESSAGES];
static MPI_Request requests[SLOTS];
static MPI_Status statuses[SLOTS];
static int indices[SLOTS];

// Sends at even places, receives at odd ones.
static void post(int step)
{
    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(&received[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                  &requests[2 * i + 1]);
    check_pace(step);
    for (int i = 0; i < MESSAGES; i++) {
        int dest = (check.rank + 1 + i % (check.size - 1)) % check.size;
        sent[i] = check_value(check.rank, step * MESSAGES + i);
        MPI_Isend(&sent[i], 1, MPI_LONG, dest, TAG, MPI_COMM_WORLD, &requests[2 * i]);
    }
}

static int note(int count)
{
    int receives = 0;

    check_note(count);
    for (int i = 0; i < count; i++) {
        check_note(indices[i]);
        if (indices[i] % 2) {
            receives++;
            check_note_message(received[indices[i] / 2], &statuses[i]);
        }
    }
    return receives;
}

static void by_testsome(void)
{
    int count, receives = 0;
    long failed = 0;

    while (MPI_Testsome(SLOTS, requests, &count, indices, statuses), count != MPI_UNDEFINED) {
        failed += count == 0;
        if (count > 0)
            receives += note(count);
        check_rest();
    }
    CHECK(receives == MESSAGES, "%d receives", receives);
    check_note(failed);
}

static void by_waitany(void)
{
    int index;
    MPI_Status status;

    while (MPI_Waitany(SLOTS, requests, &index, &status), index != MPI_UNDEFINED) {
        check_note(index);
        if (index % 2)
            check_note_message(received[index / 2], &status);
    }
}

static void by_waitall(void)
{
    MPI_Waitall(SLOTS, requests, statuses);
    for (int i = 0; i < MESSAGES; i++)
        check_note_message(received[i], &statuses[2 * i + 1]);
}

int main(int argc, char **argv)
{
    static void (*const kinds[])(void) = {by_testsome, by_waitany, by_waitall};

    check_start(&argc, &argv);
    for (int step = 0; step < 3 * ROUNDS; step++) {
        post(step);
        kinds[step % 3]();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}
