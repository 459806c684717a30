/* SPDX-License-Identifier: MIT */
/*
 * A ring of messages from anyone, without end; the rank in the argument kills itself in round 50.
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0;; round++) {
        MPI_Sendrecv_replace(&word, 1, MPI_INT, (rank + 1) % size, 1, MPI_ANY_SOURCE, 1,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (round == 50 && rank == atoi(argv[1]))
            raise(SIGKILL);
    }
}
