/* SPDX-License-Identifier: MIT */
// ranks: 2
// about: ranks that wait in a wrapper of MPI are where they called it
// says: rank 0 waits in MPI_Recv for a message from rank 1 with tag 0 on MPI_COMM_WORLD
//     ({first}, through hypre_MPI_Recv)
// says: rank 1 waits in MPI_Recv for a message from rank 0 with tag 0 on MPI_COMM_WORLD
//     ({second}, through hypre_MPI_Recv)
#include "../check.h"

__attribute__((noinline)) static int hypre_MPI_Recv(int *value, int source)
{
    int rc = MPI_Recv(value, 1, MPI_INT, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    return rc + *value;
}

int main(int argc, char **argv)
{
    int value = 0, sum = 0;

    check_start(&argc, &argv);
    if (check.rank == 0)
        sum = hypre_MPI_Recv(&value, 1); /* first */
    else
        sum = hypre_MPI_Recv(&value, 0); /* second */
    check_note(sum);
    return check_end();
}
