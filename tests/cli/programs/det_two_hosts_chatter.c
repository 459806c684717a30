/* SPDX-License-Identifier: MIT */
/* A ring of messages from anyone, without end; says when it has begun. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0;; round++) {
        MPI_Sendrecv_replace(&word, 1, MPI_INT, (rank + 1) % size, 1, MPI_ANY_SOURCE, 1,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (round == 100 && rank == 0)
            printf("it has begun\n"), fflush(stdout);
    }
}
