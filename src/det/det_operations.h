/* SPDX-License-Identifier: MIT */
/* Operations of reductions, by numbers that are the same in all ranks. */
#ifndef RP_DET_OPERATIONS_H
#define RP_DET_OPERATIONS_H

#include "det/det_state.h"

void rp_det_operations_start(void);

/* The number of an operation. Those of the program have one of two: whether they commute. */
uint32_t rp_det_op(MPI_Op op);
const char *rp_det_op_name(uint32_t number);

#endif
