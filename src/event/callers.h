/* SPDX-License-Identifier: MIT */
/*
 * Who called a wrapper (event/wrappers.h). Calls of one MPI function from one place with one stack
 * pointer save the return address of the function that called MPI at one place on the stack. The
 * first walk of the stack finds that place. So the one word there distinguishes callers. A table
 * maps the word to the site; or, if the caller is itself a wrapper, to another table, of another
 * word.
 *
 * An outcome is the number of a site with RP_CALLERS_SITE, or the address of the first slot of a
 * table of callers. A word is looked for only in the one slot where it belongs: the table grows
 * until no two words share a slot.
 */
#ifndef RP_CALLERS_H
#define RP_CALLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RP_CALLERS_SITE (UINT64_C(1) << 63)

struct rp_callers_slot {
    uintptr_t word; /* 0: free */
    uint64_t outcome;
};

struct rp_callers {
    const uintptr_t *at;  /* the address of the word */
    uintptr_t mask;       /* a mask for slots, times 16 */
    uint32_t count, site; /* `site` is that of the first caller: callers for which the table has no
                             room get it */
    bool is_full;
    struct rp_callers_slot slot[];
};

static inline struct rp_callers *rp_callers_of(uint64_t outcome)
{
    return (struct rp_callers *)((uintptr_t)outcome - offsetof(struct rp_callers, slot));
}

static inline struct rp_callers_slot *rp_callers_slot(const struct rp_callers *callers,
                                                      uintptr_t word)
{
    return (struct rp_callers_slot *)((uintptr_t)callers->slot + (word << 2 & callers->mask));
}

/* Sets *site to the site of the current call. Returns false if its caller is not in the tables. */
static inline bool rp_callers_known(uint64_t outcome, uint32_t *site)
{
    while (__builtin_expect(!(outcome & RP_CALLERS_SITE), 0)) {
        const struct rp_callers *callers = rp_callers_of(outcome);
        uintptr_t word = *callers->at;
        struct rp_callers_slot slot = *rp_callers_slot(callers, word);
        if (__builtin_expect(slot.word != word, 0))
            return false;
        outcome = slot.outcome;
    }
    *site = (uint32_t)outcome;
    return true;
}

/* Does the same, and also returns true, with the first caller's site, for a new caller in a table
 * that is full. */
bool rp_callers_find(uint64_t outcome, uint32_t *site);

/* Adds `site`, the site of a call whose wrappers have their return addresses saved at the `levels`
 * places `at`, innermost first. *outcome is 0, or what an earlier call of this function set.
 * Returns the site that the call has from now on, which is another one if its callers cannot be
 * distinguished here. */
uint32_t rp_callers_add(uint64_t *outcome, const uintptr_t *const *at, size_t levels,
                        uint32_t site);

void rp_callers_free(uint64_t outcome);

#endif
