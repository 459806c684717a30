/* SPDX-License-Identifier: MIT */
/* Polls and yields while nobody sends; tells how many yields reached the library behind us. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>

int program_yields(void); /* that reached what stands behind us */

int main(int argc, char **argv)
{
    int rank, flag = 0, nos = 0;
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int before = program_yields();
        MPI_Irecv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 3000; i++, nos++) { /* nobody has sent */
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            sched_yield();
        }
        int polled = program_yields();
        for (int i = 0; i < 500; i++)
            sched_yield();
        int others = program_yields();
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        printf("RESULT %d\n", nos);
        fprintf(stderr, "yields %d %d\n", polled - before, others - polled);
    } else {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
