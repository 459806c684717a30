/* SPDX-License-Identifier: MIT */
#include "det/det_real.h"

#include <limits.h>

int rp_real_recv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Status *status)
{
#if RP_HAS_LARGE_COUNTS
    if (count > INT_MAX)
        return rp_pmpi.Recv_c(buf, count, type, source, tag, comm, status);
#endif
    return rp_pmpi.Recv(buf, (int)count, type, source, tag, comm, status);
}

int rp_real_irecv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
#if RP_HAS_LARGE_COUNTS
    if (count > INT_MAX)
        return rp_pmpi.Irecv_c(buf, count, type, source, tag, comm, request);
#endif
    return rp_pmpi.Irecv(buf, (int)count, type, source, tag, comm, request);
}

int rp_real_issend(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm, MPI_Request *request)
{
#if RP_HAS_LARGE_COUNTS
    if (count > INT_MAX)
        return rp_pmpi.Issend_c(buf, count, type, dest, tag, comm, request);
#endif
    return rp_pmpi.Issend(buf, (int)count, type, dest, tag, comm, request);
}
