/* SPDX-License-Identifier: MIT */
// ranks: 2
// native: same
// refuses: an error handler left an MPI call by longjmp
// about: an error handler leaves a wildcard receive, whose message was too long, by longjmp: what
//     it had taken is not known
#include <setjmp.h>

#include "../check.h"

enum { TAG = 1 };

static jmp_buf after;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(after, 1);
}

int main(int argc, char **argv)
{
    MPI_Errhandler jumps;
    long values[4] = {0}, value = 0;

    check_start(&argc, &argv);
    MPI_Comm_create_errhandler(handler, &jumps);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, jumps);
    if (check.rank == 1) {
        MPI_Send(values, 4, MPI_LONG, 0, TAG, MPI_COMM_WORLD);
        MPI_Send(values, 1, MPI_LONG, 0, TAG, MPI_COMM_WORLD);
    } else {
        if (setjmp(after) == 0)
            MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return check_end();
}
