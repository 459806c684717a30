/* SPDX-License-Identifier: MIT */
/* Real functions of MPI, for counts of any size. Parameters and results are those of MPI. */
#ifndef RP_DET_REAL_H
#define RP_DET_REAL_H

#include "det/det_state.h"

int rp_real_recv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Status *status);
int rp_real_irecv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request *request);

int rp_real_issend(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm, MPI_Request *request);

#endif
