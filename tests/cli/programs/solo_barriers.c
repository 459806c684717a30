/* SPDX-License-Identifier: MIT */
/* As many barriers as BARRIERS says. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = atoi(getenv("BARRIERS")); i > 0; i--)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
