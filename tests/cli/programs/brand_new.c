/* SPDX-License-Identifier: MIT */
/* Calls a function of MPI that no mpi.h has yet: directly, by its other name, or by an address in a
 * table, as the first argument says. Its result is that of messages in any order. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int MPI_Brand_new(int number, MPI_Comm comm);
int PMPI_Brand_new(int number, MPI_Comm comm);

static int (*const table[])(int, MPI_Comm) = {MPI_Brand_new};

static int call(const char *how, int number)
{
    if (strcmp(how, "profiled") == 0)
        return PMPI_Brand_new(number, MPI_COMM_WORLD);
    if (strcmp(how, "table") == 0)
        return table[number / 1000](number, MPI_COMM_WORLD);
    if (strcmp(how, "direct") == 0)
        return MPI_Brand_new(number, MPI_COMM_WORLD);
    return 0;
}

int main(int argc, char **argv)
{
    int rank, ranks, got, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < ranks; i++) {
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum = 10 * sum + got;
    }
    sum += call(argv[1], rank);
    if (rank == 0)
        printf("RESULT %d\n", sum);
    return MPI_Finalize();
}
