/* SPDX-License-Identifier: MIT */
// ranks: 3
// about: ranks wait for several requests each, and all that they wait for is told
// says: ranks 0, 1, 2 wait for each other
// says: rank 0 waits in MPI_Waitall for all of: a message from any rank with tag 5 on
//     MPI_COMM_WORLD; a message from rank 1 with tag 6 on MPI_COMM_WORLD
// says: rank 1 waits in MPI_Waitany for one of: a message from rank 2 with tag 6 on MPI_COMM_WORLD;
//     a message from any rank with tag 5 on MPI_COMM_WORLD; rank 0 to receive its message with tag
//     8
// says: rank 2 waits in MPI_Waitsome for a message from any rank with tag 5 on MPI_COMM_WORLD
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[3];
    int rank, index, count, indices[3], values[3] = {0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Irecv(&values[rank == 1], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD,
              &requests[rank == 1]);
    if (rank < 2)
        MPI_Irecv(&values[rank == 0], 1, MPI_INT, rank + 1, 6, MPI_COMM_WORLD,
                  &requests[rank == 0]);
    if (rank == 0)
        MPI_Waitall(3, requests, statuses);
    if (rank == 1) {
        MPI_Issend(&values[2], 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &requests[2]);
        MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
    }
    if (rank == 2)
        MPI_Waitsome(3, requests, &count, indices, statuses);
    return MPI_Finalize();
}
