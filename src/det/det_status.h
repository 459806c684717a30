/* SPDX-License-Identifier: MIT */
/* What a rank of a deterministic run tells `reprise status`. */
#ifndef RP_DET_STATUS_H
#define RP_DET_STATUS_H

#include "log/replaystate.h"

struct rp_det_wait;

extern struct rp_rank_slot *rp_det_slot; /* NULL: nobody asks */

void rp_det_status_open(uint32_t rank, uint32_t ranks);

/* A wait that takes long, and its end. */
void rp_det_status_waits(const struct rp_det_wait *wait);
void rp_det_status_goes_on(void);
void rp_det_status_ends(void);

static inline void rp_det_status_count(uint64_t decisions)
{
    if (rp_det_slot)
        atomic_store_explicit(&rp_det_slot->done, decisions, memory_order_relaxed);
}

#endif
