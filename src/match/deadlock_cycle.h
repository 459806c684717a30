/* SPDX-License-Identifier: MIT */
/* The wait-for cycle of a deadlock (DMP 4.2.3), only for the report: of ranks that wait for ever,
 * who waits for whom. No MPI. */
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

/* Finds a chain of ranks that never go on: one without a choice, and closed, if there is one. It
 * begins with its smallest rank. `bounds` are those that rp_send_bounds found for `ranks`; the
 * caller sets cycle->chain to an array for it. Count 0: all ranks go on. */
void rp_deadlock_cycle_find(const struct rp_send_bound_rank *ranks, size_t count,
                            const uint64_t *bounds, struct rp_deadlock_cycle *cycle);

#endif
