/* SPDX-License-Identifier: MIT */
/* What a program does with requests besides completing them; as the functions of MPI. */
#ifndef RP_DET_REQUEST_CALLS_H
#define RP_DET_REQUEST_CALLS_H

#include "det/det_state.h"

int rp_det_cancel(MPI_Request *request);
int rp_det_request_free(MPI_Request *request);
int rp_det_request_get_status(MPI_Request request, int *flag, MPI_Status *status);

#endif
