/* SPDX-License-Identifier: MIT */
/* Says "two" on two ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size == 2)
        puts("two");
    MPI_Finalize();
    return 0;
}
