/* SPDX-License-Identifier: MIT */
/* Shows two variables of the environment. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, got;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const char *url = getenv("DBURL"), *token = getenv("A_TOKEN");
    printf("rank %d DBURL=%s A_TOKEN=%s\n", rank, url ? url : "", token ? token : "");
    MPI_Finalize();
    return 0;
}
