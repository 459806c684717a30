/* SPDX-License-Identifier: MIT */
/* Tells where each rank is; a hash of messages from anyone. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size;
    long value, hash = 0;
    char host[64];
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    gethostname(host, sizeof host);
    printf("rank %d is on %s\n", rank, host);
    for (int i = 0; i < 20; i++)
        if (rank > 0)
            MPI_Send(&(long){rank * 100 + i}, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < 20 * (size - 1); i++) {
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        hash = hash * 31 + value;
    }
    if (rank == 0)
        printf("RESULT hash=%016lx\n", hash);
    MPI_Finalize();
    return 0;
}
