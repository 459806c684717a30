/* SPDX-License-Identifier: MIT */
/* An operation that does not fit its datatype. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int one = 1, got;
    MPI_Init(&argc, &argv);
    MPI_Allreduce(&one, &got, 1, MPI_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
