/* SPDX-License-Identifier: MIT */
/* A communicator and a source file whose names hold control characters. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, got;
#line 7 "li\033[32mne\302\233\nforged.c"
static void take(MPI_Comm comm)
{
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Comm named;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, getenv("EVIL") ? getenv("EVIL") : "x");
    if (rank == 1)
        MPI_Send(&rank, 1, MPI_INT, 0, 3, named);
    else
        take(named);
    if (argc > 1 && strcmp(argv[1], "hang") == 0)
        MPI_Recv(&got, 1, MPI_INT, 1 - rank, 4, named, MPI_STATUS_IGNORE);
    if (argc > 1 && strcmp(argv[1], "crash") == 0)
        _exit(3);
    MPI_Finalize();
    return 0;
}
