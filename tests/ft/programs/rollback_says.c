/* SPDX-License-Identifier: MIT */
/* A loop that sets its interval and the capacity of its log itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include "reprise.h"

int main(int argc, char **argv)
{
    double total = 0, sum, value;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    reprise_interval(10);
    reprise_capacity_iterations(strtol(argv[1], NULL, 10));
    reprise_protect(0, &total, sizeof total);
    REPRISE_LOOP(i, 0, 30)
    {
        value = 1.0 / (double)(i + rank + 1);
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        total += sum;
    }
    if (rank == 0)
        printf("RESULT %.17g\n", total);
    MPI_Finalize();
    return 0;
}
