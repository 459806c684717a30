/* SPDX-License-Identifier: MIT */
// ranks: 2
// about: a synchronous message is found by MPI_Mprobe, but not received before its sender is to
//     send another
// says: rank 0 waits in MPI_Recv for a message from rank 1 with tag 2 on MPI_COMM_WORLD
//     ({receive})
// says: rank 1 waits in MPI_Ssend until rank 0 receives its message with tag 1
//     ({send})
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, value = 1;
    MPI_Message message;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Recv(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* receive */
        MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    } else {
        MPI_Ssend(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD); /* send */
        MPI_Send(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
