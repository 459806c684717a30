/* SPDX-License-Identifier: MIT */
/* Reductions in the order of ranks. Parameters and results are those of the functions of MPI. */
#ifndef RP_DET_REDUCTIONS_H
#define RP_DET_REDUCTIONS_H

#include "det/det_state.h"

/* Whether reductions on this communicator are made so. */
bool rp_det_is_fixed(MPI_Comm comm);

int rp_det_fixed_Allreduce(const void *from, void *into, MPI_Count count, MPI_Datatype type,
                           MPI_Op op, MPI_Comm comm);
int rp_det_fixed_Reduce(const void *from, void *into, MPI_Count count, MPI_Datatype type, MPI_Op op,
                        int root, MPI_Comm comm);
int rp_det_fixed_Reduce_scatter(const void *from, void *into, const int *counts, MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm);
int rp_det_fixed_Reduce_scatter_block(const void *from, void *into, MPI_Count count,
                                      MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int rp_det_fixed_Scan(const void *from, void *into, MPI_Count count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm);
int rp_det_fixed_Exscan(const void *from, void *into, MPI_Count count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm);

#endif
