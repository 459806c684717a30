/* SPDX-License-Identifier: MIT */
/* What a rank of a deterministic run publishes for `reprise status`. */
#ifndef RP_DET_STATUS_H
#define RP_DET_STATUS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "log/replaystate.h"

extern struct rp_rank_slot *rp_det_slot; /* NULL: nobody asks */

/* Joins the file REPRISE_STATE, if the command named one. `ranks`: of this job. */
void rp_det_status_open(uint32_t ranks, bool is_spawned);

/* Whether the command wants to know what this rank waits for, and does not know it yet. */
static inline bool rp_det_status_wants_wait(void)
{
    return rp_det_slot && rp_det_slot->state != RP_RANK_WAITING;
}

/* The rank waits in the MPI function `function`, `what` in words; and it goes on; and it has ended.
 */
void rp_det_status_waits(const char *function, const char *what);
void rp_det_status_goes_on(void);
void rp_det_status_ends(void);

static inline void rp_det_status_count(uint64_t decisions)
{
    if (rp_det_slot)
        atomic_store_explicit(&rp_det_slot->done, decisions, memory_order_relaxed);
}

#endif
