/* SPDX-License-Identifier: MIT */
/* Messages to rank 0, one of them with the tag LATE_TAG; with "hang", rank 0 waits for ever. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5 * (size - 1) && rank == 0; i++)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5 && rank > 0; i++)
        MPI_Send(&rank, 1, MPI_INT, 0, i == 3 && getenv("LATE_TAG") ? atoi(getenv("LATE_TAG")) : 0,
                 MPI_COMM_WORLD);
    if (rank == 0 && argc > 1 && strcmp(argv[1], "hang") == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
