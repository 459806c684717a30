/* SPDX-License-Identifier: MIT */
/* MPI_Sendrecv and MPI_Sendrecv_replace, as the functions of MPI. */
#ifndef RP_DET_SENDRECV_H
#define RP_DET_SENDRECV_H

#include "det/det_state.h"

int rp_det_sendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Status *status);
int rp_det_sendrecv_replace(void *buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag,
                            int source, int recvtag, MPI_Comm comm, MPI_Status *status);

#endif
