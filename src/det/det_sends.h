/* SPDX-License-Identifier: MIT */
/* Sends. Parameters and results are those of the functions of MPI. */
#ifndef RP_DET_SENDS_H
#define RP_DET_SENDS_H

#include "det/det_request_table.h"

int rp_det_send(enum rp_det_mode mode, const void *buf, MPI_Count count, MPI_Datatype type,
                int dest, int tag, MPI_Comm comm);
int rp_det_isend(enum rp_det_mode mode, const void *buf, MPI_Count count, MPI_Datatype type,
                 int dest, int tag, MPI_Comm comm, MPI_Request *request);

/* The communicator of a send; NULL: the arguments are wrong, or the send goes nowhere. */
const struct rp_det_comm *rp_det_comm_to_send(MPI_Count count, MPI_Datatype type, int dest,
                                              MPI_Comm comm);

#endif
