/* SPDX-License-Identifier: MIT */
/* Runs the loop of fortran_loop.f90. */
#include <mpi.h>
#include <stdio.h>

void run_loop(double *result);
void add_up(double value, double *sum);
void add_up(double value, double *sum)
{
    MPI_Allreduce(&value, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    double result;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    run_loop(&result);
    if (rank == 0)
        printf("RESULT %.17g\n", result);
    MPI_Finalize();
    return 0;
}
