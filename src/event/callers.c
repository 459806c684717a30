/* SPDX-License-Identifier: MIT */
#include "event/callers.h"

#include <stdlib.h>

enum { SLOTS_FIRST = 4, SLOTS_MOST = 1024, CALLERS_MOST = 128 };

static size_t slots_of(const struct rp_callers *callers)
{
    return callers->mask / sizeof(struct rp_callers_slot) + 1;
}

static struct rp_callers *new_callers(const uintptr_t *at, size_t slots)
{
    struct rp_callers *callers = calloc(1, sizeof *callers + slots * sizeof *callers->slot);

    if (callers) {
        callers->at = at;
        callers->mask = (slots - 1) * sizeof *callers->slot;
    }
    return callers;
}

void rp_callers_free(uint64_t outcome)
{
    struct rp_callers *callers = rp_callers_of(outcome);

    if (outcome == 0 || outcome & RP_CALLERS_SITE)
        return;
    for (size_t i = 0; i < slots_of(callers); i++)
        rp_callers_free(callers->slot[i].outcome);
    free(callers);
}

bool rp_callers_find(uint64_t outcome, uint32_t *site)
{
    while (!(outcome & RP_CALLERS_SITE)) {
        const struct rp_callers *callers = rp_callers_of(outcome);
        const struct rp_callers_slot *slot = rp_callers_slot(callers, *callers->at);
        if (slot->word != *callers->at) {
            *site = callers->site;
            return callers->is_full;
        }
        outcome = slot->outcome;
    }
    *site = (uint32_t)outcome;
    return true;
}

static bool move(const struct rp_callers *from, struct rp_callers *to)
{
    for (size_t i = 0; i < slots_of(from); i++) {
        struct rp_callers_slot *slot = rp_callers_slot(to, from->slot[i].word);
        if (from->slot[i].word && slot->word)
            return false;
        if (from->slot[i].word)
            *slot = from->slot[i];
    }
    to->count = from->count;
    to->site = from->site;
    return true;
}

/* Returns a table of at least twice the size, in which every word has a slot of its own. Returns
 * NULL if there is none. */
static struct rp_callers *larger(const struct rp_callers *callers)
{
    for (size_t slots = 2 * slots_of(callers); slots <= SLOTS_MOST; slots *= 2) {
        struct rp_callers *more = new_callers(callers->at, slots);
        if (!more || move(callers, more))
            return more;
        free(more);
    }
    return NULL;
}

/* Returns the slot of this word, which may be new. Returns NULL if there is no room. */
static struct rp_callers_slot *make_slot(uint64_t *outcome, uintptr_t word)
{
    for (;;) {
        struct rp_callers *callers = rp_callers_of(*outcome);
        struct rp_callers_slot *slot = rp_callers_slot(callers, word);
        if (slot->word == word)
            return slot;
        struct rp_callers *more =
            slot->word && callers->count < CALLERS_MOST ? larger(callers) : NULL;
        if (!slot->word && callers->count < CALLERS_MOST) {
            slot->word = word;
            callers->count++;
            return slot;
        }
        callers->is_full = !more;
        if (!more)
            return NULL;
        *outcome = (uintptr_t)more->slot;
        free(callers);
    }
}

/* The word is not always in the same place, since the function moves its stack pointer. From now on
 * all its callers are one. */
static uint32_t give_up(uint64_t *outcome)
{
    uint32_t site = rp_callers_of(*outcome)->site;

    rp_callers_free(*outcome);
    *outcome = site | RP_CALLERS_SITE;
    return site;
}

static void begin(uint64_t *outcome, const uintptr_t *at, uint32_t site)
{
    struct rp_callers *callers = new_callers(at, SLOTS_FIRST);

    if (callers) {
        callers->site = site;
        *outcome = (uintptr_t)callers->slot;
    }
}

uint32_t rp_callers_add(uint64_t *outcome, const uintptr_t *const *at, size_t levels, uint32_t site)
{
    for (size_t i = 0; i < levels && !(*outcome & RP_CALLERS_SITE); i++) {
        if (*outcome == 0)
            begin(outcome, at[i], site);
        if (*outcome == 0)
            break;
        if (rp_callers_of(*outcome)->at != at[i])
            return give_up(outcome);
        struct rp_callers_slot *slot = make_slot(outcome, *at[i]);
        if (!slot)
            return rp_callers_of(*outcome)->site;
        outcome = &slot->outcome;
    }
    if (*outcome == 0)
        *outcome = site | RP_CALLERS_SITE;
    return *outcome & RP_CALLERS_SITE ? (uint32_t)*outcome : site;
}
