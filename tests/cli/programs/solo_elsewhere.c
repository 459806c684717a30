/* SPDX-License-Identifier: MIT */
/* Changes its directory and opens a file there. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;

    if (chdir("below") != 0)
        return 9;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *file = fopen("here", "r");
    if (rank == 1)
        puts(file ? "RESULT there" : "RESULT lost");
    MPI_Finalize();
    return 0;
}
