/* SPDX-License-Identifier: MIT */
// ranks: 3
// about: two ranks are in a barrier, the third waits for a message that they would send after it
// says: rank 0 waits in MPI_Barrier for rank 2 on MPI_COMM_WORLD
// says: rank 1 waits in MPI_Barrier for rank 2 on MPI_COMM_WORLD
// says: rank 2 waits in MPI_Recv for a message from any rank
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, value = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 2)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    return MPI_Finalize();
}
