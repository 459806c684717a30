/* SPDX-License-Identifier: MIT */
// ranks: 4
// about: ranks 1 to 3 receive from each other in a ring, and nobody sends; rank 0 has ended
// says: rank 0 has ended
// says: rank 1 waits in MPI_Recv for a message from rank 2
// says: rank 2 waits in MPI_Recv for a message from rank 3
// says: rank 3 waits in MPI_Wait for a message from rank 1
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, value;
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 || rank == 2)
        MPI_Recv(&value, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 3) {
        MPI_Irecv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return MPI_Finalize();
}
