/* SPDX-License-Identifier: MIT */
/* Two programs of one command: one exchanges by plain calls (PLAIN), the other by the library. */
#include <mpi.h>
#include <stdio.h>

long exchange(int rank, int size);
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long out[2] = {rank, rank}, in[2];
    MPI_Request r[4];
#ifdef PLAIN
    for (int step = 0; step < 5; step++) {
        for (int k = 0; k < 2; k++) {
            MPI_Irecv(&in[k], 1, MPI_LONG, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &r[k]);
            MPI_Isend(&out[k], 1, MPI_LONG, (rank + k + 1) % size, step, MPI_COMM_WORLD, &r[2 + k]);
        }
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    }
#else
    (void)out, (void)in, (void)r;
    printf("RESULT %d %ld\n", rank, exchange(rank, size));
#endif
    MPI_Finalize();
    return 0;
}
