/* SPDX-License-Identifier: MIT */
/* Tells its arguments, environment and directory after a loop. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "reprise.h"

int main(int argc, char **argv)
{
    int rank, sum = 0, all = 0;
    char directory[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    reprise_protect(0, &sum, sizeof sum);
    REPRISE_LOOP(i, 0, 20)
    {
        MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
    }
    if (rank == 1)
        printf("RESULT %d %s %s %s %s\n", sum, argv[1], argv[2],
               getenv("TOLD") ? getenv("TOLD") : "nothing",
               strrchr(getcwd(directory, sizeof directory), '/'));
    MPI_Finalize();
    return 0;
}
