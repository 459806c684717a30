/* SPDX-License-Identifier: MIT */
/* Lower bounds of clocks, compared with the greatest fixpoint found by iteration from above. */
#include "cdc/model/cdc_lower_bound.h"
#include "unit.h"

enum { MOST = 6 };

static uint64_t one_round(const struct rp_cdc_bound_rank *ranks, size_t count,
                          const uint64_t *bounds, size_t r)
{
    uint64_t least = ranks[r].next_clock;

    if (!ranks[r].waits)
        return ranks[r].clock;
    for (size_t s = 0; s < count; s++)
        if (s != r && bounds[s] < least)
            least = bounds[s];
    least = least == RP_NEVER ? RP_NEVER : least + 1;
    return ranks[r].clock > least ? ranks[r].clock : least;
}

static void by_iteration(const struct rp_cdc_bound_rank *ranks, size_t count, uint64_t *bounds)
{
    bool changed = true;

    for (size_t i = 0; i < count; i++)
        bounds[i] = RP_NEVER;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < count; i++) {
            uint64_t next = one_round(ranks, count, bounds, i);
            changed |= next != bounds[i];
            bounds[i] = next;
        }
    }
}

static uint64_t random_clock(uint64_t *seed)
{
    return unit_below(seed, 5) == 0 ? RP_NEVER : unit_below(seed, 8);
}

TEST(bounds_are_the_greatest_fixpoint)
{
    uint64_t seed = 5;

    for (int i = 0; i < 200000; i++) {
        struct rp_cdc_bound_rank ranks[MOST];
        uint64_t found[MOST], expected[MOST];
        size_t count = 1 + unit_below(&seed, MOST);
        for (size_t r = 0; r < count; r++)
            ranks[r] = (struct rp_cdc_bound_rank){random_clock(&seed), random_clock(&seed),
                                                  unit_below(&seed, 2)};
        rp_cdc_lower_bounds_find(ranks, count, found);
        by_iteration(ranks, count, expected);
        for (size_t r = 0; r < count; r++)
            CHECK_EQ(found[r], expected[r]);
    }
}

TEST(ranks_that_wait_for_each_other_send_nothing)
{
    struct rp_cdc_bound_rank ranks[2] = {{3, RP_NEVER, true}, {5, RP_NEVER, true}};
    uint64_t bounds[2];

    rp_cdc_lower_bounds_find(ranks, 2, bounds);
    CHECK_EQ(bounds[0], RP_NEVER);
    CHECK_EQ(bounds[1], RP_NEVER);
    ranks[0].next_clock = 7;
    rp_cdc_lower_bounds_find(ranks, 2, bounds);
    CHECK_EQ(bounds[0], 8);
    CHECK_EQ(bounds[1], 9);
}
