/* SPDX-License-Identifier: MIT */
// ranks: 3
// runs: 100
// finds: status
// call: MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE
// plain: never
// about: rank 0 takes the first message from anyone for the result of phase 1. Rank 1 sends that
//     before it lets rank 2 begin phase 2, so it is always there first; but MPI orders messages of
//     one sender only.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { RESULT = 1, GO = 2 };

static int receive(int phase)
{
    int value;
    MPI_Status status;

    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD,
             &status); // the bug: it may be of the next phase
    if (value == phase)
        return 0;
    printf("phase %d: rank %d sent its result of phase %d\n", phase, status.MPI_SOURCE, value);
    fflush(stdout);
    return 1;
}

int main(int argc, char **argv)
{
    int rank, value = 0, wrong = 0, first = 1, second = 2;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        wrong += receive(first);
        wrong += receive(second);
    } else if (rank == 1) {
        MPI_Send(&first, 1, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
        MPI_Send(&first, 1, MPI_INT, 2, GO, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 1, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&second, 1, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
    }
    if (wrong) {
        usleep(300000); // launchers may drop what they have not forwarded yet
        MPI_Abort(MPI_COMM_WORLD, 7);
    } else if (rank == 0) {
        puts("RESULT ok");
    }
    MPI_Finalize();
    return 0;
}
