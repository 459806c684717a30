/* SPDX-License-Identifier: MIT */
/* One-sided reads under way. */
#ifndef RP_PARTIAL_READS_H
#define RP_PARTIAL_READS_H

#include "partial/partial_areas.h"

/* A read was begun (both sides); those of this target, or if that is -1 of all, are complete. */
void rp_reads_add(MPI_Win win, int target, struct rp_areas *areas);
void rp_reads_done(MPI_Win win, int target);
/* Those that MPI_Win_flush_local or flush_local_all should have completed are. */
void rp_reads_await(MPI_Win win, int target);
void rp_partial_feed_got(void);

#endif
