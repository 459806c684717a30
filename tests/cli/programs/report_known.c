/* SPDX-License-Identifier: MIT */
/* A program with known messages. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, value = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; rank > 0 && i < 6; i++)
        MPI_Send(&i, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < size; i++)
        MPI_Send(&i, 1, MPI_INT, i, 6, MPI_COMM_WORLD);
    int receives = rank == 0 ? 6 * (size - 1) : 1;
    for (int i = 0; i < receives; i++) {
        MPI_Status status;
        /* receive */ MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                               &status);
    }
    MPI_Finalize();
    return 0;
}
