/* SPDX-License-Identifier: MIT */
/* MPI_Wait, MPI_Test and their families. */
#ifndef RP_DET_COMPLETION_H
#define RP_DET_COMPLETION_H

#include "det/det_requests.h"
#include "preload/completion.h"

/* Makes such a call. Returns what MPI returns. */
int rp_det_complete_call(const struct rp_completion *call);

/* Waits for one request, as MPI_Wait. */
int rp_det_wait_one(MPI_Request *request, MPI_Status *status);

/* Whether the request is complete at the logical time `now`: waits until that is certain. */
bool rp_det_test_at(MPI_Request handle, uint64_t now);

#endif
