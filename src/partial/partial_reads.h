/* SPDX-License-Identifier: MIT */
/* One-sided reads under way. */
#ifndef RP_PARTIAL_READS_H
#define RP_PARTIAL_READS_H

#include "partial/partial_areas.h"

/* Recording and feeding: rp_reads_add notes that a read was begun, rp_reads_done that the reads
 * from `target` are complete, or those from all targets if `target` is -1. */
void rp_reads_add(MPI_Win win, int target, struct rp_areas *areas);
void rp_reads_done(MPI_Win win, int target);
/* Makes sure that the reads that MPI_Win_flush_local or MPI_Win_flush_local_all should have
 * completed are complete. */
void rp_reads_await(MPI_Win win, int target);
void rp_partial_feed_got(void);

#endif
