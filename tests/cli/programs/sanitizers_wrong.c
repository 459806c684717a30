/* SPDX-License-Identifier: MIT */
/* Reads behind the end of an array. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int *two = malloc(2 * sizeof *two);
    MPI_Init(&argc, &argv);
    two[0] = argc;
    MPI_Barrier(MPI_COMM_WORLD);
    int sum = two[argc + 1];
    MPI_Finalize();
    return sum;
}
