/* SPDX-License-Identifier: MIT */
#include "stress/chance.h"

#include <string.h>

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t below(uint64_t *state, uint64_t n)
{
    return (uint64_t)((unsigned __int128)next(state) * n >> 64);
}

struct rp_manner rp_manner_of(uint64_t seed, uint64_t longest)
{
    static const uint32_t often[] = {2, 4, 16, 64};
    uint64_t state = seed;
    struct rp_manner manner = {.delay_one_in = often[below(&state, 4)],
                               .keep_back_one_in = often[below(&state, 3)]};

    manner.longest = longest >> below(&state, 4);
    manner.preference = (enum rp_preference)below(&state, RP_PREFERENCES);
    return manner;
}

void rp_chance_init(struct rp_chance *chance, uint64_t seed, uint64_t rank, uint64_t longest,
                    uint64_t now)
{
    uint64_t own = rank;

    memset(chance, 0, sizeof *chance);
    chance->manner = rp_manner_of(seed, longest);
    chance->state = seed ^ next(&own);
    chance->started = now;
}

uint64_t rp_chance_below(struct rp_chance *chance, uint64_t n)
{
    return below(&chance->state, n);
}

static bool one_in(struct rp_chance *chance, uint32_t n)
{
    return below(&chance->state, n) == 0;
}

static void pass_time(struct rp_chance *chance)
{
    enum { SHORTEST = 8, DOUBLINGS = 6, SLOW_ONE_IN = 4 };

    if (chance->until_change-- > 0)
        return;
    chance->slow = one_in(chance, SLOW_ONE_IN);
    chance->until_change = (uint32_t)SHORTEST << below(&chance->state, DOUBLINGS);
}

/* Delays of all sizes are equally frequent: from the longest down to a 16th of it. */
static uint64_t length(struct rp_chance *chance)
{
    uint64_t most = chance->manner.longest >> below(&chance->state, 4);

    return most ? 1 + below(&chance->state, most) : 0;
}

static uint64_t allowed(const struct rp_chance *chance, uint64_t now)
{
    const uint64_t second = 1000000000;

    return second + (now - chance->started) / 4;
}

bool rp_chance_has_time(const struct rp_chance *chance, uint64_t now)
{
    return chance->delayed < allowed(chance, now);
}

void rp_chance_used(struct rp_chance *chance, uint64_t nanoseconds)
{
    chance->delayed += nanoseconds;
}

static uint64_t within_bounds(struct rp_chance *chance, uint64_t now, uint64_t delay)
{
    if (chance->delayed + delay > allowed(chance, now))
        return 0;
    chance->delayed += delay;
    return delay;
}

uint64_t rp_chance_delay(struct rp_chance *chance, uint64_t now)
{
    enum { OFTEN = 2 };

    pass_time(chance);
    if (!one_in(chance, chance->slow ? OFTEN : chance->manner.delay_one_in))
        return 0;
    return within_bounds(chance, now, length(chance));
}

uint64_t rp_chance_wait(struct rp_chance *chance, uint64_t now)
{
    if (!one_in(chance, chance->manner.keep_back_one_in))
        return 0;
    return within_bounds(chance, now, length(chance));
}

bool rp_chance_keeps_back(struct rp_chance *chance)
{
    if (chance->kept_back < RP_KEPT_BACK_IN_A_ROW &&
        one_in(chance, chance->manner.keep_back_one_in)) {
        chance->kept_back++;
        return true;
    }
    chance->kept_back = 0;
    return false;
}

uint32_t rp_chance_choose(struct rp_chance *chance, uint32_t count, uint32_t first)
{
    enum { UNBIASED_ONE_IN = 4 }; /* nobody is passed over for ever */
    enum rp_preference preference = chance->manner.preference;

    if (preference == RP_PREFER_ANY || one_in(chance, UNBIASED_ONE_IN))
        return (uint32_t)below(&chance->state, count);
    if (preference == RP_PREFER_LOW_RANKS)
        return 0;
    if (preference == RP_PREFER_HIGH_RANKS)
        return count - 1;
    uint32_t other = (uint32_t)below(&chance->state, count);
    return other == first ? (other + 1) % count : other;
}
