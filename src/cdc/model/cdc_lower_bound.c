/* SPDX-License-Identifier: MIT */
/*
 * A rank that does not wait may send with its clock. A rank that waits receives a message first:
 * the next one of those that it has, or one that another rank is still to send, with at least the
 * clock of that rank's bound. So
 *
 *   bound(r) = clock(r)                                                         if r does not wait,
 *   bound(r) = max(clock(r), 1 + min(next_clock(r), min of bound(s), s != r))  if it does.
 *
 * The greatest solution is wanted (Chandy and Misra): ranks that wait for each other in a cycle
 * send nothing at all. The smallest bound of all belongs to a rank whose bound does not depend on
 * the others. All other bounds follow from it, for nothing smaller can reach those ranks.
 */
#include "cdc/model/cdc_lower_bound.h"

static uint64_t after(uint64_t clock)
{
    return clock == RP_NEVER ? RP_NEVER : clock + 1;
}

static uint64_t larger(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

static uint64_t own_bound(const struct rp_cdc_bound_rank *rank)
{
    return rank->waits ? larger(rank->clock, after(rank->next_clock)) : rank->clock;
}

void rp_cdc_lower_bounds_find(const struct rp_cdc_bound_rank *ranks, size_t count, uint64_t *bounds)
{
    uint64_t smallest = RP_NEVER;

    for (size_t i = 0; i < count; i++) {
        bounds[i] = own_bound(&ranks[i]);
        smallest = bounds[i] < smallest ? bounds[i] : smallest;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t by_others = larger(ranks[i].clock, after(smallest));
        if (ranks[i].waits && by_others < bounds[i])
            bounds[i] = by_others;
    }
}
