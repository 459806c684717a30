/* SPDX-License-Identifier: MIT */
/*
 * Ranks choose one after the other, and each its buddies one after the other. The i-th of K buddies
 * has its place i/(K+1) of the ring away: half the ring for one copy, thirds for two. The best
 * candidate is taken: one that keeps fewer than K copies so far, on a host that has no copy yet, on
 * another host than the rank, nearest to that place.
 */
#include "recovery/buddies.h"

#include <stdbool.h>
#include <stdlib.h>

struct choice {
    int ranks, copies, rank;
    const int64_t *host_of;
    const int32_t *chosen; /* of this rank */
    int count;             /* so many so far */
    const int32_t *load;
};

static bool is_chosen(const struct choice *c, int candidate)
{
    for (int i = 0; i < c->count; i++)
        if (c->chosen[i] == candidate)
            return true;
    return candidate == c->rank;
}

static bool host_has_copy(const struct choice *c, int candidate)
{
    for (int i = 0; i < c->count; i++)
        if (c->host_of[c->chosen[i]] == c->host_of[candidate])
            return true;
    return c->host_of[c->rank] == c->host_of[candidate];
}

static int distance(const struct choice *c, int candidate)
{
    int place = (int)((int64_t)c->ranks * (c->count + 1) / (c->copies + 1));
    int away = (candidate - c->rank + c->ranks) % c->ranks;

    return abs(away - (place > 0 ? place : 1));
}

/* Smaller is better. */
static int64_t badness(const struct choice *c, int candidate)
{
    int64_t is_full = c->load[candidate] >= c->copies, is_used = host_has_copy(c, candidate);
    int64_t is_own = c->host_of[c->rank] == c->host_of[candidate];

    return is_full << 34 | is_used << 33 | is_own << 32 | distance(c, candidate);
}

static int best(const struct choice *c)
{
    int found = -1;

    for (int i = 1; i < c->ranks; i++) {
        int candidate = (c->rank + i) % c->ranks;
        if (!is_chosen(c, candidate) && (found < 0 || badness(c, candidate) < badness(c, found)))
            found = candidate;
    }
    return found;
}

int rp_buddies_choose(int ranks, int copies, const int64_t *host_of, int32_t *buddies)
{
    int32_t *load = calloc((size_t)ranks, sizeof *load);

    if (!load)
        return -1;
    for (int rank = 0; rank < ranks; rank++) {
        int32_t *chosen = buddies + (size_t)rank * (size_t)copies;
        struct choice choice = {ranks, copies, rank, host_of, chosen, 0, load};
        for (; choice.count < copies; choice.count++) {
            chosen[choice.count] = best(&choice);
            load[chosen[choice.count]]++;
        }
    }
    free(load);
    return 0;
}

static bool is_among(const int *list, int count, int process)
{
    for (int i = 0; i < count; i++)
        if (list[i] == process)
            return true;
    return false;
}

int rp_buddies_next_living(int processes, const int *dead, int dead_count, int process)
{
    do
        process = (process + 1) % processes;
    while (is_among(dead, dead_count, process));
    return process;
}
