/* SPDX-License-Identifier: MIT */
/*
 * From each rank that waits for ever a chain leads to a rank that keeps it waiting, and so on,
 * until it comes to a rank that is on it already, or has ended. A rank that never goes on waits
 * only for such ranks: if it waits for one, for that one; if for several, for at least one of them;
 * if for any, for all others.
 */
#include "match/deadlock_cycle.h"

#include <string.h>

struct walk {
    const struct rp_send_bound_rank *ranks;
    const uint64_t *bounds;
    size_t count;
    bool any; /* also by ranks that wait for any */
};

static bool has_ended(const struct walk *walk, size_t rank)
{
    return walk->ranks[rank].clock == RP_SEND_NEVER;
}

static bool keeps(const struct walk *walk, size_t self, size_t other)
{
    const struct rp_send_bound_rank *rank = &walk->ranks[self];

    if (walk->bounds[other] != RP_SEND_NEVER)
        return false;
    if (rank->kind == RP_SEND_ONE)
        return other == rank->target;
    if (rank->kind == RP_SEND_ALL)
        return rank->missing[other / 64] >> other % 64 & 1;
    return rank->kind == RP_SEND_ANY && walk->any && other != self;
}

/* A rank that keeps it waiting, if possible one that waits itself; `count`: none. */
static size_t next_of(const struct walk *walk, size_t self)
{
    size_t ended = walk->count;

    for (size_t i = 0; i < walk->count; i++) {
        if (!keeps(walk, self, i))
            continue;
        if (!has_ended(walk, i))
            return i;
        if (ended == walk->count)
            ended = i;
    }
    return ended;
}

static size_t place_of(const struct rp_deadlock_cycle *cycle, size_t rank)
{
    size_t at = 0;

    while (at < cycle->count && cycle->chain[at] != rank)
        at++;
    return at;
}

/* What leads to the cycle is not part of it. */
static void close_at(struct rp_deadlock_cycle *cycle, size_t place)
{
    cycle->count -= place;
    memmove(cycle->chain, cycle->chain + place, cycle->count * sizeof *cycle->chain);
    cycle->is_closed = true;
}

static void follow(const struct walk *walk, size_t start, struct rp_deadlock_cycle *cycle)
{
    size_t at = start;

    cycle->count = 0;
    cycle->is_closed = false;
    while (at < walk->count && place_of(cycle, at) == cycle->count) {
        cycle->chain[cycle->count++] = (uint32_t)at;
        at = has_ended(walk, at) ? walk->count : next_of(walk, at);
    }
    if (at < walk->count)
        close_at(cycle, place_of(cycle, at));
}

static void turn_to_smallest(struct rp_deadlock_cycle *cycle)
{
    size_t smallest = 0;

    for (size_t i = 1; i < cycle->count; i++)
        if (cycle->chain[i] < cycle->chain[smallest])
            smallest = i;
    for (; cycle->is_closed && smallest > 0; smallest--) {
        uint32_t first = cycle->chain[0];
        memmove(cycle->chain, cycle->chain + 1, (cycle->count - 1) * sizeof first);
        cycle->chain[cycle->count - 1] = first;
    }
}

/* Whether a chain was found that is closed or, if that is enough, comes to a rank that has ended.
 */
static bool find(const struct walk *walk, bool may_end, struct rp_deadlock_cycle *cycle)
{
    for (size_t i = 0; i < walk->count; i++) {
        if (walk->bounds[i] != RP_SEND_NEVER || has_ended(walk, i))
            continue;
        follow(walk, i, cycle);
        if (cycle->is_closed || (may_end && has_ended(walk, cycle->chain[cycle->count - 1])))
            return true;
    }
    return false;
}

void rp_deadlock_cycle_find(const struct rp_send_bound_rank *ranks, size_t count,
                            const uint64_t *bounds, struct rp_deadlock_cycle *cycle)
{
    struct walk walk = {ranks, bounds, count, false};

    cycle->count = 0;
    cycle->has_choice = false;
    if (!find(&walk, false, cycle) && !find(&walk, true, cycle)) {
        walk.any = cycle->has_choice = true;
        if (!find(&walk, false, cycle))
            find(&walk, true, cycle);
    }
    turn_to_smallest(cycle);
}
