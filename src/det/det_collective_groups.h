/* SPDX-License-Identifier: MIT */
/*
 * Collectives in which other ranks wait than all of a communicator that is at hand. All return at
 * once where this rank takes no part.
 */
#ifndef RP_DET_COLLECTIVE_GROUPS_H
#define RP_DET_COLLECTIVE_GROUPS_H

#include "det/det_collectives.h"

/* On a file. */
void rp_det_collective_file(MPI_File file, struct rp_det_operation what);

/* Of the ranks of a group, as MPI_Comm_create_group. */
void rp_det_collective_group(MPI_Comm comm, MPI_Group group, int tag, struct rp_det_operation what);

/* Of two groups, as MPI_Intercomm_create. */
void rp_det_collective_leaders(MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag,
                               struct rp_det_operation what);

/* Of the ranks of a group alone, and of two, as MPI_Comm_create_from_group and
 * MPI_Intercomm_create_from_groups. `tag` is a number made of the string. */
void rp_det_collective_set(MPI_Group group, uint64_t tag, struct rp_det_operation what);
void rp_det_collective_sets(MPI_Group local, int leader, MPI_Group other, int remote, uint64_t tag,
                            struct rp_det_operation what);

#endif
