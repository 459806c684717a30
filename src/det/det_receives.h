/* SPDX-License-Identifier: MIT */
/* Blocking receives and probes. Parameters and results are those of the functions of MPI. */
#ifndef RP_DET_RECEIVES_H
#define RP_DET_RECEIVES_H

#include "det/det_matching.h"

int rp_det_recv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                MPI_Status *status);
int rp_det_probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int rp_det_iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
int rp_det_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *handle, MPI_Status *status);
int rp_det_improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *handle,
                   MPI_Status *status);

/* Before a message that MPI_Mprobe found is received. */
void rp_det_matched(const MPI_Message *handle);

#endif
