/* SPDX-License-Identifier: MIT */
/*
 * The ordering algebra: how many dependencies a program's order needs, so that it can be replayed
 * (Lifflander et al., Scalable Replay with Partial-Order Dependencies, section IV). A set of events
 * at one endpoint is O(events, dependencies). Some of its dependencies are given: they follow from
 * the program itself. Only the rest, the determinants, need a record.
 */
#ifndef RP_ALGEBRA_H
#define RP_ALGEBRA_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"

struct rp_algebra {
    uint64_t messages; /* that arrive; a commutative region is two events, however many it has */
    uint64_t events;   /* n of O(n, d) */
    uint64_t dependencies; /* d of O(n, d) */
    uint64_t given;   /* of these: follow from the program's own order or from the known size of a
                         region */
    uint64_t logical; /* corollary IV.2: events that interleave as one ordered set */
};

uint64_t rp_algebra_determinants(const struct rp_algebra *set);

/* The sets that everything is made of. Those that return a status fail (RP_USAGE) where numbers
 * make no sense. */
enum rp_status rp_algebra_ordered(uint64_t n, uint64_t d, struct rp_algebra *set,
                                  struct rp_problem *why);
enum rp_status rp_algebra_unordered(uint64_t n, uint64_t d, struct rp_algebra *set,
                                    struct rp_problem *why);
enum rp_status rp_algebra_deterministic(
    uint64_t n, uint64_t k, struct rp_algebra *set,
    struct rp_problem *why); /* k chains: others come between two, never inside one; 0: D(n) */
void rp_algebra_commutative(uint64_t n, struct rp_algebra *set);

/* `b` after `a`; linked: by the program itself. */
enum rp_status rp_algebra_sequence(const struct rp_algebra *a, const struct rp_algebra *b,
                                   bool linked, struct rp_algebra *set, struct rp_problem *why);
/* The same set `times` times in a row. */
enum rp_status rp_algebra_repeat(const struct rp_algebra *a, uint64_t times, bool linked,
                                 struct rp_algebra *set, struct rp_problem *why);
/* Any interleaving of some sets, at one endpoint (lemma IV.3). */
enum rp_status rp_algebra_interleave(const struct rp_algebra *sets, size_t count,
                                     struct rp_algebra *set, struct rp_problem *why);
/* Sets whose relative order nobody sees: several endpoints, or regions that share nothing. */
enum rp_status rp_algebra_independent(const struct rp_algebra *sets, size_t count,
                                      struct rp_algebra *set, struct rp_problem *why);

/*
 * Evaluates an expression, and appends a line for each step to `steps` (which may be NULL):
 *   O(n,d) U(n,d) D(n) D(n,k) C(n)      sets
 *   a ; b                               b after a, by a dependency
 *   a -> b                              b after a, by the program itself
 *   repeat(k, a)  loop(k, a)            k times a, as by ; and as by ->
 *   interleave(a, b, ...)  independent(a, b, ...)  (a)
 */
enum rp_status rp_algebra_evaluate(const char *expression, struct rp_buffer *steps,
                                   struct rp_algebra *set, struct rp_problem *why);

#endif
