/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: MPI_Testall polled over wildcard receives, sends and null requests; a failed Testall
//     completes none
#include "check.h"

enum { ROUNDS = 8, SLOTS = 7, TAG = 1 };

static void post(const long *mine, long *values, MPI_Request *requests, int step)
{
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[i]);
    requests[3] = MPI_REQUEST_NULL;
    check_pace(step);
    for (int i = 1; i < check.size; i++)
        MPI_Isend(mine, 1, MPI_LONG, (check.rank + i) % check.size, TAG, MPI_COMM_WORLD,
                  &requests[3 + i]);
}

static void exchange(int step)
{
    int flag = 0;
    long failed = 0, mine = check_value(check.rank, step), values[3];
    MPI_Request requests[SLOTS];
    MPI_Status statuses[SLOTS];

    post(&mine, values, requests, step);
    while (MPI_Testall(SLOTS, requests, &flag, step % 3 ? statuses : MPI_STATUSES_IGNORE), !flag) {
        CHECK(requests[0] != MPI_REQUEST_NULL, "a failed Testall completed a request");
        failed++;
        check_rest();
    }
    check_note(failed);
    for (int i = 0; i < 3; i++) {
        check_note(values[i]);
        if (step % 3)
            check_note_message(values[i], &statuses[i]);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; step < ROUNDS; step++)
        exchange(step);
    return check_end();
}
