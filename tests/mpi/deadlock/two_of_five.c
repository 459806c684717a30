/* SPDX-License-Identifier: MIT */
// ranks: 5
// about: two ranks wait for each other, a third comes sooner or later to wait for one of them, and
//     the others go on sending to each other: only the first two are the reason
// says: deadlock in MPI_Recv: rank 0 waits for rank 1, which waits for rank 0: nothing can come any
//     more
// says: rank 0 waits in MPI_Recv for a message from rank 1 with tag 7 on MPI_COMM_WORLD
// says: rank 1 waits in MPI_Wait for a message from rank 0 with any tag on a communicator of 5
//     ranks, made by MPI_Comm_dup (number 1 here)
// says: rank 4
// says: meanwhile, rank 2
// says: meanwhile, rank 3
#include <mpi.h>

static void play(int other)
{
    int value = 0;

    for (;;)
        MPI_Sendrecv_replace(&value, 1, MPI_INT, other, 0, other, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Request request;
    MPI_Comm copy;
    int rank, value = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (rank == 2 || rank == 3)
        play(5 - rank);
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) {
        MPI_Irecv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, copy, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 4)
        MPI_Ssend(&value, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
    return MPI_Finalize();
}
