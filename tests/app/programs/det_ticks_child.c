/* SPDX-License-Identifier: MIT */
/*
 * A rank whose child process computes: if that counted as time of the rank, rank 2 would be first.
 */
#include <mpi.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile double sum;
int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && fork() == 0) { /* if its time were the rank's, rank 2 would be first */
        for (int i = 0; i < 10000000; i++)
            sum += i;
        usleep(10000);
        _exit(0);
    }
    if (rank == 1)
        wait(NULL);
    if (rank == 2)
        for (int i = 0; i < 100; i++)
            MPI_Iprobe(0, 0, MPI_COMM_WORLD, &value, MPI_STATUS_IGNORE);
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        printf("first %d\n", status.MPI_SOURCE);
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    }
    return MPI_Finalize();
}
