/* SPDX-License-Identifier: MIT */
/* A datatype of Fortran in a C program. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int one = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Allreduce(&one, &sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum == 2 ? 0 : 9;
}
