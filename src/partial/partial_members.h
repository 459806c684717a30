/* SPDX-License-Identifier: MIT */
/* Who takes part in a collective call; recording only. Each function returns a number of members,
 * or what its comment says. */
#ifndef RP_PARTIAL_MEMBERS_H
#define RP_PARTIAL_MEMBERS_H

#include "partial/partial_state.h"

uint64_t rp_members_all(MPI_Comm comm);               /* of the group that data comes from */
uint64_t rp_members_root(MPI_Comm comm, int root);    /* the same at the root, else 0 */
uint64_t rp_members_at_root(MPI_Comm comm, int root); /* 1 at the root */
uint64_t rp_members_leaf(MPI_Comm comm, int root);    /* 1 where a broadcast is received */
uint64_t rp_members_scatter(MPI_Comm comm, int root, const void *buf);
uint64_t rp_members_mine(MPI_Comm comm); /* rank + 1 */
uint64_t rp_members_near(MPI_Comm comm); /* neighbours that data comes from */
uint64_t
rp_members_weighted(MPI_Comm comm,
                    const int *weights); /* 1: the graph has weights, and the program wants them */

#endif
