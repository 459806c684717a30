/* SPDX-License-Identifier: MIT */
/* Ends, or calls what is refused, in the way that the first argument names. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "reprise.h"

int main(int argc, char **argv)
{
    int rank, size;
    double buffer[4];
    if (strcmp(argv[1], "early") == 0)
        raise(SIGKILL);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    reprise_protect(0, buffer, sizeof buffer);
    REPRISE_LOOP(i, 0, 30)
    {
        if (i == 9 && strcmp(argv[1], "request") == 0)
            MPI_Irecv(buffer, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
        if (i == 9 && strcmp(argv[1], "comm") == 0)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (i == 9 && rank == 1 && strcmp(argv[1], "abort") == 0)
            MPI_Abort(MPI_COMM_WORLD, 9);
        if (i == 9 && rank == 1 && strcmp(argv[1], "exit") == 0)
            exit(11);
        if (i == 9 && rank == 1 && argc > 2 && access(argv[2], F_OK) != 0) {
            fclose(fopen(argv[2], "w"));
            if (strcmp(argv[1], "_exit") == 0)
                _exit(12);
            if (strcmp(argv[1], "quick") == 0)
                quick_exit(13);
            if (fork() == 0)
                _exit(14);
            wait(NULL);
        }
        if (strcmp(argv[1], "all") == 0)
            raise(SIGKILL);
        if (i == 9 && strcmp(argv[1], "window") == 0)
            MPI_Win_create(buffer, 32, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return strcmp(argv[1], "status") == 0 ? 7 : 0;
}
