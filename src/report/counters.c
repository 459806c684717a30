/* SPDX-License-Identifier: MIT */
#include "report/counters.h"

#include <stdlib.h>
#include <string.h>

static struct rp_counter *entry_of(const struct rp_counters *tally, uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);

    for (size_t at = (hash ^ hash >> 32) & (tally->room - 1);; at = (at + 1) & (tally->room - 1))
        if (tally->entries[at].count == 0 || tally->entries[at].key == key)
            return &tally->entries[at];
}

static bool grow(struct rp_counters *tally)
{
    struct rp_counters larger = {.room = tally->room ? tally->room * 2 : 256, .used = tally->used};

    larger.entries = calloc(larger.room, sizeof *larger.entries);
    if (!larger.entries)
        return false;
    for (size_t i = 0; i < tally->room; i++)
        if (tally->entries[i].count > 0)
            *entry_of(&larger, tally->entries[i].key) = tally->entries[i];
    free(tally->entries);
    *tally = larger;
    return true;
}

void rp_counters_add(struct rp_counters *tally, uint64_t key)
{
    if (2 * (tally->used + 1) > tally->room && !grow(tally)) {
        tally->failed = true;
        return;
    }
    struct rp_counter *entry = entry_of(tally, key);
    if (entry->count++ == 0) {
        entry->key = key;
        tally->used++;
    }
}

void rp_counters_clear(struct rp_counters *tally)
{
    if (tally->room > 0)
        memset(tally->entries, 0, tally->room * sizeof *tally->entries);
    tally->used = 0;
}

void rp_counters_free(struct rp_counters *tally)
{
    free(tally->entries);
    memset(tally, 0, sizeof *tally);
}
