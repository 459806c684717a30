/* SPDX-License-Identifier: MIT */
/* Long messages and collectives that compress well. */
#include <mpi.h>
#include <stdio.h>
#include "reprise.h"

enum { LONG = 5000 };
int main(int argc, char **argv)
{
    static double part[LONG], other[LONG], sum[LONG];
    double all = 0;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    reprise_protect(0, part, sizeof part);
    reprise_protect(1, &all, sizeof all);
    REPRISE_LOOP(i, 0, 20)
    {
        for (int k = 0; k < LONG; k++)
            part[k] += k % 7 + rank;
        MPI_Sendrecv(part, LONG, MPI_DOUBLE, (rank + 1) % size, 1, other, LONG, MPI_DOUBLE,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(other, sum, LONG, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(sum, LONG, MPI_DOUBLE, (int)(i % size), MPI_COMM_WORLD);
        all += sum[i] + other[2 * i];
    }
    if (rank == 0)
        printf("RESULT %.17g\n", all);
    MPI_Finalize();
    return 0;
}
