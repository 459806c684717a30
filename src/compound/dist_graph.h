/* SPDX-License-Identifier: MIT */
/*
 * MPI_Dist_graph_create, made of MPI_Alltoall, MPI_Alltoallv and MPI_Dist_graph_create_adjacent.
 * MPI takes the edges as they arrive, so that the order of neighbours would differ from run to run.
 * Here they stand in the order of the ranks that gave them, and of their arguments. The function
 * takes the arguments of MPI's, behind the table of those that stand behind us.
 */
#ifndef RP_DIST_GRAPH_H
#define RP_DIST_GRAPH_H

#include <mpi.h>

#include "next.h"

int rp_dist_graph_create(const struct rp_next *next, MPI_Comm comm, int count, const int *sources,
                         const int *degrees, const int *destinations, const int *weights,
                         MPI_Info info, int reorder, MPI_Comm *graph);

#endif
