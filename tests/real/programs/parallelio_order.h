/* SPDX-License-Identifier: MIT */
#include <mpi.h>
#include <stdio.h>
/* In which order the others come to rank 0 */
static void print_order(int rank, int ranks, long sum)
{
    char line[200];
    int from = rank, used = sprintf(line, "%d %ld", rank, sum);
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int i = 1; i < ranks && rank == 0; i++) {
        MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        used += sprintf(line + used, " %d", from);
    }
    puts(line);
    fflush(stdout);
}
