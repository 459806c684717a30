/* SPDX-License-Identifier: MIT */
/* Reads its standard input, with an argument also before MPI_Init. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, c, early = 0;
    unsigned long sum = 0, count = 0;
    if (argc > 1 && getchar() != EOF)
        early = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (count = (unsigned long)early; (c = getchar()) != EOF; count++)
            sum = sum * 31 + (unsigned long)c;
        printf("RESULT %lu %lu\n", count, sum);
    }
    MPI_Finalize();
    return 0;
}
