/* SPDX-License-Identifier: MIT */
#include "match/deadlock_cycle.h"

#include "unit.h"

enum { MOST = 8, LATENCY = 10 };

static uint32_t chain[MOST];

static struct rp_send_bound_rank runs(void)
{
    return (struct rp_send_bound_rank){.clock = 5, .kind = RP_SEND_RUNS};
}
static struct rp_send_bound_rank ended(void)
{
    return (struct rp_send_bound_rank){.clock = RP_SEND_NEVER, .kind = RP_SEND_RUNS};
}
static struct rp_send_bound_rank one(uint32_t target)
{
    return (struct rp_send_bound_rank){.clock = 5, .kind = RP_SEND_ONE, .target = target};
}
static struct rp_send_bound_rank any(void)
{
    return (struct rp_send_bound_rank){.clock = 5,
                                       .kind = RP_SEND_ANY,
                                       .candidate_time = RP_SEND_NEVER};
}
static struct rp_send_bound_rank all(const uint64_t *missing)
{
    return (struct rp_send_bound_rank){.clock = 5, .kind = RP_SEND_ALL, .missing = missing};
}

static struct rp_deadlock_cycle find(const struct rp_send_bound_rank *ranks, size_t count)
{
    struct rp_deadlock_cycle knot = {.chain = chain};
    uint64_t bounds[MOST];

    rp_send_bounds(ranks, count, LATENCY, count, bounds);
    rp_deadlock_cycle_find(ranks, count, bounds, &knot);
    return knot;
}

static void check(struct rp_deadlock_cycle knot, bool is_closed, size_t count,
                  const uint32_t *expected)
{
    CHECK_EQ(knot.count, count);
    CHECK(count == 0 || knot.is_closed == is_closed);
    CHECK(memcmp(knot.chain, expected, count * sizeof *expected) == 0);
}

TEST(two_in_a_ring_while_others_go_on)
{
    const struct rp_send_bound_rank ranks[] = {one(1), one(0), one(3), runs()};

    check(find(ranks, 4), true, 2, (uint32_t[]){0, 1});
}

TEST(what_leads_to_a_ring_is_not_in_it)
{
    const struct rp_send_bound_rank ranks[] = {one(3), runs(), one(4), one(2), one(3)};

    check(find(ranks, 5), true, 3, (uint32_t[]){2, 4, 3});
}

TEST(nobody)
{
    const struct rp_send_bound_rank ranks[] = {one(1), any(), runs()};

    check(find(ranks, 3), false, 0, chain);
}

TEST(a_meeting_that_one_does_not_come_to)
{
    const uint64_t missing = 4;
    const struct rp_send_bound_rank ranks[] = {all(&missing), all(&missing), any()};

    check(find(ranks, 3), true, 2, (uint32_t[]){0, 2});
}

TEST(a_ring_without_choice_comes_first)
{
    const struct rp_send_bound_rank ranks[] = {any(), one(2), one(1)};

    check(find(ranks, 3), true, 2, (uint32_t[]){1, 2});
    CHECK(!find(ranks, 3).has_choice);
}

TEST(waiting_for_one_that_has_ended)
{
    const struct rp_send_bound_rank ranks[] = {ended(), one(2), one(0)},
                                    last[] = {any(), ended(), ended()}, alone[] = {any()};

    check(find(ranks, 3), false, 3, (uint32_t[]){1, 2, 0});
    check(find(last, 3), false, 2, (uint32_t[]){0, 1});
    CHECK_EQ(find(alone, 1).count, 1);
}

TEST(all_wait_for_any)
{
    const struct rp_send_bound_rank ranks[] = {any(), any(), any()};

    check(find(ranks, 3), true, 2, (uint32_t[]){0, 1});
    CHECK(find(ranks, 3).has_choice);
}
