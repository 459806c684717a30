/* SPDX-License-Identifier: MIT */
/*
 * From each rank that waits for ever a chain leads to one of those that keep it waiting, and so on,
 * until it comes to a rank that has been on it, or has ended. Ranks that never go on wait for such
 * alone: who waits for one, that one; who waits for several, one of them at least; who waits for
 * any, all others.
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

/* One that keeps it waiting, rather one that waits itself; `count`: none. */
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

static size_t place_of(const struct rp_deadlock_cycle *knot, size_t rank)
{
    size_t at = 0;

    while (at < knot->count && knot->chain[at] != rank)
        at++;
    return at;
}

/* What leads to the ring is not part of it. */
static void close_at(struct rp_deadlock_cycle *knot, size_t place)
{
    knot->count -= place;
    memmove(knot->chain, knot->chain + place, knot->count * sizeof *knot->chain);
    knot->is_closed = true;
}

static void follow(const struct walk *walk, size_t start, struct rp_deadlock_cycle *knot)
{
    size_t at = start;

    knot->count = 0;
    knot->is_closed = false;
    while (at < walk->count && place_of(knot, at) == knot->count) {
        knot->chain[knot->count++] = (uint32_t)at;
        at = has_ended(walk, at) ? walk->count : next_of(walk, at);
    }
    if (at < walk->count)
        close_at(knot, place_of(knot, at));
}

static void turn_to_smallest(struct rp_deadlock_cycle *knot)
{
    size_t smallest = 0;

    for (size_t i = 1; i < knot->count; i++)
        if (knot->chain[i] < knot->chain[smallest])
            smallest = i;
    for (; knot->is_closed && smallest > 0; smallest--) {
        uint32_t first = knot->chain[0];
        memmove(knot->chain, knot->chain + 1, (knot->count - 1) * sizeof first);
        knot->chain[knot->count - 1] = first;
    }
}

/* Whether one was found that is closed or, if that is enough, comes to one that has ended. */
static bool find(const struct walk *walk, bool may_end, struct rp_deadlock_cycle *knot)
{
    for (size_t i = 0; i < walk->count; i++) {
        if (walk->bounds[i] != RP_SEND_NEVER || has_ended(walk, i))
            continue;
        follow(walk, i, knot);
        if (knot->is_closed || (may_end && has_ended(walk, knot->chain[knot->count - 1])))
            return true;
    }
    return false;
}

void rp_deadlock_cycle_find(const struct rp_send_bound_rank *ranks, size_t count,
                            const uint64_t *bounds, struct rp_deadlock_cycle *knot)
{
    struct walk walk = {ranks, bounds, count, false};

    knot->count = 0;
    knot->has_choice = false;
    if (!find(&walk, false, knot) && !find(&walk, true, knot)) {
        walk.any = knot->has_choice = true;
        if (!find(&walk, false, knot))
            find(&walk, true, knot);
    }
    turn_to_smallest(knot);
}
