/* SPDX-License-Identifier: MIT */
/*
 * Deterministic waiting (DMP 3.3, 3.4). The bounds are the greatest solution of these equations:
 *
 *   bound(r) = clock(r), if r runs
 *            = max(clock(r), latency + bound(target)), if it waits for one rank
 *            = max(clock(r), latency + min(candidate_time, bounds of all others)), if for any
 *            = max(clock(r), latency + max(candidate_time, bounds of those missing)), if for all
 *
 * (Chandy and Misra): ranks that wait for each other in a ring never send. The solution is found by
 * beginning with `never` for all ranks that wait, and going down until nothing changes. Every step
 * down comes from a rank that needs no others for its bound, along a path that visits no rank
 * twice, since the latency is positive: so there are no more rounds than ranks.
 *
 * Why deadlocks of figure 4 (4.2.2) cannot occur: while a wildcard receive has a candidate, all who
 * wait for its rank, even by way of others, send later than that; so it need not wait for them.
 */
#include "match/send_bounds.h"

static uint64_t later(uint64_t time, uint64_t latency)
{
    return time > RP_SEND_NEVER - latency ? RP_SEND_NEVER : time + latency;
}

static uint64_t larger(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

static uint64_t smallest_of_others(const uint64_t *bounds, size_t count, size_t self)
{
    uint64_t smallest = RP_SEND_NEVER;

    for (size_t i = 0; i < count; i++)
        if (i != self && bounds[i] < smallest)
            smallest = bounds[i];
    return smallest;
}

static uint64_t largest_of_missing(const struct rp_send_bound_rank *rank, const uint64_t *bounds,
                                   size_t count)
{
    uint64_t largest = rank->candidate_time;

    for (size_t i = 0; i < count; i++)
        if (rank->missing[i / 64] >> (i % 64) & 1)
            largest = larger(largest, bounds[i]);
    return largest;
}

static uint64_t bound_of(const struct rp_send_bound_rank *ranks, const uint64_t *bounds,
                         size_t count, uint64_t latency, size_t self)
{
    const struct rp_send_bound_rank *rank = &ranks[self];
    uint64_t smallest;

    switch (rank->kind) {
    case RP_SEND_ONE:
        return larger(rank->clock, later(bounds[rank->target], latency));
    case RP_SEND_ANY:
        smallest = smallest_of_others(bounds, count, self);
        return larger(rank->clock,
                      later(rank->candidate_time < smallest ? rank->candidate_time : smallest,
                            latency));
    case RP_SEND_ALL:
        return larger(rank->clock, later(largest_of_missing(rank, bounds, count), latency));
    default:
        return rank->clock;
    }
}

void rp_send_bounds(const struct rp_send_bound_rank *ranks, size_t count, uint64_t latency,
                    size_t still, uint64_t *bounds)
{
    bool changed = true;

    for (size_t i = 0; i < count; i++)
        bounds[i] = ranks[i].kind == RP_SEND_RUNS && i != still ? ranks[i].clock : RP_SEND_NEVER;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < count; i++) {
            uint64_t bound =
                i == still ? RP_SEND_NEVER : bound_of(ranks, bounds, count, latency, i);
            changed |= bound != bounds[i];
            bounds[i] = bound;
        }
    }
}
