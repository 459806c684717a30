/* SPDX-License-Identifier: MIT */
/* Collectives that the library needs itself. */
#ifndef RP_FT_COLLECTIVES_H
#define RP_FT_COLLECTIVES_H

#include <stddef.h>
#include <stdint.h>

#include "ft/ft_comms.h"

/* MPI_Barrier, and MPI_Allgather of `bytes` from each rank. */
void rp_ft_barrier(struct rp_ft_comm *comm);
void rp_ft_allgather(struct rp_ft_comm *comm, const void *own, size_t bytes, void *all);

/* Sends a marker, an empty message, to each other rank, and receives theirs: what they sent before
 * has then arrived. markers[rank] is the number of the first message behind that marker. */
void rp_ft_exchange_markers(struct rp_ft_comm *world, uint64_t *markers);

#endif
