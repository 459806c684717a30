/* SPDX-License-Identifier: MIT */
// ranks: 3
// about: two ranks are in barriers of different communicators, and the third has ended: nobody is
//     left who would wait beside MPI
// says: rank 0 waits in MPI_Barrier for rank 1 on the pair
// says: rank 1 waits in MPI_Barrier for rank 0 on its copy
// says: rank 2 has ended
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Comm pair, copy;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 2, rank, &pair);
    MPI_Comm_dup(pair, &copy);
    MPI_Comm_set_name(pair, "the pair");
    MPI_Comm_set_name(copy, "its copy");
    if (rank < 2)
        MPI_Barrier(rank == 0 ? pair : copy);
    return MPI_Finalize();
}
