/* SPDX-License-Identifier: MIT */
// ranks: 2
// about: both send a message that no MPI needs to buffer, then receive
// says: rank 0 waits in MPI_Send until rank 1 receives its message
// says: rank 1 waits in MPI_Send until rank 0 receives its message
#include <mpi.h>
#include <stdlib.h>

enum { BYTES = 1 << 20 };

int main(int argc, char **argv)
{
    int rank;
    char *out = calloc(1, BYTES), *in = malloc(BYTES);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(out, BYTES, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Recv(in, BYTES, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(out);
    free(in);
    return MPI_Finalize();
}
