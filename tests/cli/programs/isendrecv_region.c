/* SPDX-License-Identifier: MIT */
/*
 * A commutative region, whose result an MPI_Isendrecv_replace hands on. With an argument the order
 * matters.
 */
#include <mpi.h>
#include <stdio.h>
#include "reprise.h"

int main(int argc, char **argv)
{
    int rank, size, value = 1;
    long sum = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank != 0)
        for (int i = 0; i < 4; i++)
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    else
        reprise_commutative_begin(4ul * (unsigned long)(size - 1));
    for (int i = 0; rank == 0 && i < 4 * (size - 1); i++) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        sum = argc > 1 ? sum * 3 + status.MPI_SOURCE : sum + status.MPI_SOURCE;
    }
    if (rank == 0)
        reprise_commutative_end();
    /* replace */ MPI_Isendrecv_replace(&sum, 1, MPI_LONG, (rank + 1) % size, 2, MPI_ANY_SOURCE, 2,
                                        MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && argc == 1)
        printf("RESULT %ld\n", sum);
    MPI_Finalize();
    return 0;
}
