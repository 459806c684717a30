/* SPDX-License-Identifier: MIT */
/* A commutative region whose program reads its standard input. */
#include <mpi.h>
#include <stdio.h>

#include "reprise.h"

int main(int argc, char **argv)
{
    int rank, ranks, number = 0, value, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0 && scanf("%d", &number) != 1)
        number = -1;
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    else {
        reprise_commutative_begin((unsigned long)ranks - 1);
        for (int i = 1; i < ranks; i++, sum += value)
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        reprise_commutative_end();
        sum *= number;
        MPI_Send(&sum, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        MPI_Allreduce(&sum, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
        printf("RESULT %d\n", value);
    }
    MPI_Finalize();
    return 0;
}
