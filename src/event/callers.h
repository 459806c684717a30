/* SPDX-License-Identifier: MIT */
/*
 * Who called a wrapper (event/wrappers.h). For calls of one MPI function from one place at one
 * stack pointer, the return address of the function that called MPI is always saved at the same
 * place on the stack, which the first walk finds. So what tells two callers apart is one word
 * there, and a table leads from that word to the site; where the caller is a wrapper, too, to
 * another word and another table.
 *
 * An outcome is the number of a site with RP_CALLERS_SITE, or the address of the first slot of a
 * table of callers. Nothing is looked for in a table but the one slot where the word belongs: it
 * grows until no two words have the same.
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
    const uintptr_t *at;  /* where the word is */
    uintptr_t mask;       /* of slots, times 16 */
    uint32_t count, site; /* of the first caller: for those who find no room */
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

/* Whether the site of a call that is under way is known. */
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

/* The same, and also true where no more callers are told apart. */
bool rp_callers_find(uint64_t outcome, uint32_t *site);

/* Adds the site of a call whose wrappers have their return addresses saved at these places,
 * innermost first. `outcome` is 0, or what an earlier call made of it. Returns the site by which
 * the call is to go from now on: another one, if its callers cannot be told apart here. */
uint32_t rp_callers_add(uint64_t *outcome, const uintptr_t *const *at, size_t levels,
                        uint32_t site);

void rp_callers_free(uint64_t outcome);

#endif
