/* SPDX-License-Identifier: MIT */
/* Sums that depend on the order of messages; with an argument, rank 1 crashes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int *nowhere;

static void take(int value, int step)
{
    if (step == 30)
        *nowhere = value; /* crash */
}

int main(int argc, char **argv)
{
    int rank, size, value, sum = 0;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < 20; step++)
        if (rank == 1) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
            sum = sum * 3 + value + status.MPI_SOURCE;
            printf("step %d: sum %d\n", step, sum); /* here */
            fflush(stdout);
        } else if (step < 10) {
            value = rank * 1000 + step;
            MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        }
    if (rank == 1 && argc > 1)
        take(sum, 30);
    MPI_Finalize();
    return 0;
}
