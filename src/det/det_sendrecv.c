/* SPDX-License-Identifier: MIT */
#include "det/det_sendrecv.h"

#include <stdlib.h>

#include "det/det_completion.h"
#include "det/det_copies.h"
#include "det/det_real.h"
#include "det/det_sends.h"
#include "preload/constants.h"

/* An exchange is a send under way, a receive, and the wait for the first. */
int rp_det_sendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request send, receive;

    if (dest != MPI_PROC_NULL &&
        (sendtag < 0 || !rp_det_comm_to_send(sendcount, sendtype, dest, comm)))
        return rp_pmpi.Sendrecv(sendbuf, (int)sendcount, sendtype, dest, sendtag, recvbuf,
                                (int)recvcount, recvtype, source, recvtag, comm, status);
    if (source == MPI_PROC_NULL) {
        int sent = rp_det_send(RP_DET_STANDARD, sendbuf, sendcount, sendtype, dest, sendtag, comm);
        return sent != MPI_SUCCESS
                   ? sent
                   : rp_real_recv(recvbuf, recvcount, recvtype, source, recvtag, comm, status);
    }
    int rc = rp_det_irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &receive);

    if (rc != MPI_SUCCESS)
        return rc;
    rc = rp_det_isend(RP_DET_STANDARD, sendbuf, sendcount, sendtype, dest, sendtag, comm, &send);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = rp_det_wait_one(&receive, status);
    int sent = rp_det_wait_one(&send, MPI_STATUS_IGNORE);
    return rc != MPI_SUCCESS ? rc : sent;
}

int rp_det_sendrecv_replace(void *buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag,
                            int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    int room = 0, packed = 0;
    int rc = rp_pmpi.Pack_size((int)count, type, comm, &room);
    char *copy = rc == MPI_SUCCESS ? malloc(room > 0 ? (size_t)room : 1) : NULL;

    if (!copy)
        return rc == MPI_SUCCESS ? MPI_ERR_NO_MEM : rc;
    rc = rp_det_pack(buf, count, type, copy, room, &packed, comm);
    if (rc == MPI_SUCCESS)
        rc = rp_det_sendrecv(copy, packed, rp_constant.packed, dest, sendtag, buf, count, type,
                             source, recvtag, comm, status);
    free(copy);
    return rc;
}
