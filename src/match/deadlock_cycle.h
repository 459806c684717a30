/* SPDX-License-Identifier: MIT */
/* Who waits for whom, of ranks that wait for ever: what a deadlock is told by. No MPI. */
#ifndef RP_DEADLOCK_CYCLE_H
#define RP_DEADLOCK_CYCLE_H

#include "match/send_bounds.h"

struct rp_deadlock_cycle {
    size_t count;
    bool is_closed; /* the last waits for the first; else the last has ended, or nobody is left that
                       it could wait for */
    bool has_choice; /* one of them waits for any other: then all that wait for ever keep it waiting
                      */
    uint32_t *chain; /* each waits for the next; room for all ranks */
};

/* Of ranks whose bounds rp_send_bounds found: a chain of those that never go on, without a choice
 * and closed if there is one, beginning with its smallest rank. Count 0: all go on. */
void rp_deadlock_cycle_find(const struct rp_send_bound_rank *ranks, size_t count,
                            const uint64_t *bounds, struct rp_deadlock_cycle *knot);

#endif
