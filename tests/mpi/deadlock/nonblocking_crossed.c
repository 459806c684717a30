/* SPDX-License-Identifier: MIT */
// ranks: 3
// about: two ranks wait for nonblocking collective calls on different communicators, one of them
//     for a message as well; the third waits in a collective call that the others never come to
// says: rank 0 waits in MPI_Wait for rank 1 on the pair
// says: rank 1 waits in MPI_Waitall for all of: rank 0 on its copy; a message from rank 0 with tag
//     3 on the pair
// says: rank 2 waits in MPI_Allreduce for ranks 0, 1 on MPI_COMM_WORLD
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Comm pair, copy;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int rank, value = 0, sum;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 2, rank, &pair);
    MPI_Comm_dup(pair, &copy);
    MPI_Comm_set_name(pair, "the pair");
    MPI_Comm_set_name(copy, "its copy");
    if (rank == 0) {
        MPI_Ibarrier(pair, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Ibarrier(copy, &requests[0]);
        MPI_Irecv(&value, 1, MPI_INT, 0, 3, pair, &requests[1]);
        MPI_Waitall(2, requests, statuses);
    } else {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
