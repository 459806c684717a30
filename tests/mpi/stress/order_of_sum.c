/* SPDX-License-Identifier: MIT */
// ranks: 4
// runs: 40
// finds: output
// call: MPI_Recv(&value, 1, MPI_DOUBLE
// about: rank 0 adds up what comes, in the order in which it comes: 1e16 + 1 - 1e16 is 0, 1e16 -
//     1e16 + 1 is 1. Workers send two milliseconds apart, so that the order is mostly the same.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 3, APART_US = 2000 };

int main(int argc, char **argv)
{
    static const double part[] = {0, 1e16, 1, -1e16};
    double value, sum = 0;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank > 0) {
            usleep((useconds_t)(rank * APART_US));
            MPI_Send(&part[rank], 1, MPI_DOUBLE, 0, round, MPI_COMM_WORLD);
        }
        for (int i = 1; rank == 0 && i < size; i++) {
            MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, round, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            sum += value; // the bug: the order is not fixed
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("RESULT sum=%g\n", sum);
    MPI_Finalize();
    return 0;
}
