/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// needs: mpi4
// refuses: MPI_Isendrecv
// det: refused
// about: MPI_Isendrecv and MPI_Isendrecv_replace that receive from anyone, completed by Wait, Waitany and Test
#include "check.h"

#if MPI_VERSION >= 4

enum { ROUNDS = 6, TAG = 1, SLOTS = 3 };

// Each rank sends to all others and receives as many; all exchanges are under way at once.
static void start(int step, long *sent, long *received, MPI_Request *requests)
{
    check_pace(step);
    for (int k = 1; k < check.size; k++) {
        int dest = (check.rank + k) % check.size;
        sent[k - 1] = received[k - 1] = check_value(check.rank, step);
        if (k % 2)
            MPI_Isendrecv(&sent[k - 1], 1, MPI_LONG, dest, TAG, &received[k - 1], 1, MPI_LONG, MPI_ANY_SOURCE, TAG,
                          MPI_COMM_WORLD, &requests[k - 1]);
        else
            MPI_Isendrecv_replace(&received[k - 1], 1, MPI_LONG, dest, TAG, MPI_ANY_SOURCE, MPI_ANY_TAG,
                                  MPI_COMM_WORLD, &requests[k - 1]);
    }
}

// Only the values are noted: MPICH 4.0 does not fill the status.
static void by_wait(const long *received, MPI_Request *requests)
{
    for (int i = SLOTS - 1; i >= 0; i--) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        check_note(received[i]);
    }
}

static void by_waitany(const long *received, MPI_Request *requests)
{
    int index;

    while (MPI_Waitany(SLOTS, requests, &index, MPI_STATUS_IGNORE), index != MPI_UNDEFINED) {
        check_note(index);
        check_note(received[index]);
    }
}

static void by_test(const long *received, MPI_Request *requests)
{
    long failed = 0;

    for (int i = 0; i < SLOTS; i++) {
        for (int flag = 0; !flag; failed += !flag) {
            MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
            sched_yield();
        }
        check_note(received[i]);
    }
    check_note(failed);
}

int main(int argc, char **argv)
{
    static void (*const kinds[])(const long *, MPI_Request *) = {by_wait, by_waitany, by_test};

    check_start(&argc, &argv);
    for (int step = 0; step < ROUNDS; step++) {
        long sent[SLOTS], received[SLOTS];
        MPI_Request requests[SLOTS];
        start(step, sent, received, requests);
        kinds[step % 3](received, requests);
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
