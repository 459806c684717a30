/* SPDX-License-Identifier: MIT */
/* usage: HOW RANK [MICROSECONDS FILE]: ends a rank before it is out of MPI_Init. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;
    if (strcmp(argv[2], "all") == 0 || strcmp(argv[2], getenv("OMPI_COMM_WORLD_RANK")) == 0) {
        if (strcmp(argv[1], "kill") == 0)
            raise(SIGKILL);
        if (strcmp(argv[1], "exit") == 0)
            exit(3);
        if (strcmp(argv[1], "stop") == 0)
            raise(SIGSTOP);
        pid_t launcher = getppid(), rank_process = getpid();
        if (strcmp(argv[1], "later") == 0 && open(argv[4], O_CREAT | O_EXCL, 0600) >= 0 &&
            fork() == 0) {
            usleep((useconds_t)strtol(argv[3], NULL, 10));
            kill(rank_process, SIGKILL); // which may have ended
            _exit(0);
        }
        if (strcmp(argv[1], "crash") == 0) {
            if (fork() != 0)
                raise(SIGKILL);
            sleep(1);
            kill(launcher, SIGKILL);
            _exit(0);
        }
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (strcmp(argv[1], "slow") == 0)
            sleep(1);
    }
    if (rank == 0)
        puts("RESULT done");
    MPI_Finalize();
    return 0;
}
