/* SPDX-License-Identifier: MIT */
// ranks: 5
// native: differs
// about: a master that hands out tasks by arrival; what each worker computes depends on the order
#include "check.h"

enum { TASKS = 40, TAG_RESULT = 1, TAG_TASK = 2, TAG_STOP = 3 };

static void master(void)
{
    long result, total = 1;

    for (int handed = 0, stopped = 0; stopped < check.size - 1;) {
        long task = handed;
        MPI_Status status;
        MPI_Recv(&result, 1, MPI_LONG, MPI_ANY_SOURCE, TAG_RESULT, MPI_COMM_WORLD, &status);
        check_note_status(&status);
        total = total * 31 + result; // the order matters
        if (handed < TASKS)
            handed++;
        else
            stopped++;
        MPI_Send(&task, 1, MPI_LONG, status.MPI_SOURCE, task < TASKS ? TAG_TASK : TAG_STOP,
                 MPI_COMM_WORLD);
    }
    check_note(total);
}

static void worker(void)
{
    long result = 0;

    for (;;) {
        long task = -1;
        MPI_Status status;
        MPI_Send(&result, 1, MPI_LONG, 0, TAG_RESULT, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_LONG, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == TAG_STOP)
            break;
        check_note(task);
        check_pace((int)task);
        result = result * 7 + task;
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check.rank == 0)
        master();
    else
        worker();
    return check_end();
}
