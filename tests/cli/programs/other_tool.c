/* SPDX-License-Identifier: MIT */
/* A PMPI tool that makes other calls out of those that it catches. */
#include <mpi.h>

static int calls;
int MPI_Irecv(void *b, int c, MPI_Datatype d, int s, int t, MPI_Comm m, MPI_Request *r)
{
    calls++;
    return PMPI_Irecv(b, c, d, s, t, m, r);
}

int MPI_Recv(void *b, int c, MPI_Datatype d, int s, int t, MPI_Comm m, MPI_Status *st)
{
    MPI_Request r;
    calls++;
    PMPI_Irecv(b, c, d, s, t, m, &r);
    return PMPI_Wait(&r, st);
}

int MPI_Wait(MPI_Request *r, MPI_Status *st)
{
    int flag = 0, rc = MPI_SUCCESS;
    calls++;
    while (rc == MPI_SUCCESS && !flag)
        rc = PMPI_Test(r, &flag, st);
    return rc;
}
