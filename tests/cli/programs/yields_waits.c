/* SPDX-License-Identifier: MIT */
/* A receive that waits; tells how many yields of MPI reached the library behind us. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int program_yields(void);

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    int before = program_yields();
    if (rank == 1)
        usleep(300000);
    if (rank == 1)
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        fprintf(stderr, "yields %d\n", program_yields() - before);
    MPI_Finalize();
    return 0;
}
