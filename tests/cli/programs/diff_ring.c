/* SPDX-License-Identifier: MIT */
/* A ring of messages: receives from anyone that can only come from one. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, value;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 50; i++) {
        MPI_Request request;
        MPI_Isend(&i, 1, MPI_INT, (rank + 1) % size, i % 3, MPI_COMM_WORLD, &request);
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
