/* SPDX-License-Identifier: MIT */
/* Early results: results that are in memory before the call that completes their operation. A
 * program can see them there, so a recording watches for them and writes entries `arrived`. */
#ifndef RP_PARTIAL_EARLY_H
#define RP_PARTIAL_EARLY_H

#include "partial/partial_areas.h"

enum {
    RP_EARLY_BYTES = 256
}; /* of longer ones, only the beginning of one-sided results is looked at */
extern RP_HIDDEN const struct rp_function rp_f_arrived;
extern RP_HIDDEN size_t rp_early_watched; /* how many operations are watched */
/* Recording: prepares the watch of an operation that is about to begin. The call is optional. */
void rp_early_before(const struct rp_areas *areas);
/* Recording and feeding: starts the watch of an operation that has begun. The areas must stay where
 * they are; rp_areas_free ends the watch. */
void rp_early_add(struct rp_areas *areas);
void rp_early_drop(struct rp_early *early); /* may be NULL */
/* Ends all watches. With several threads there are no more: what changed between two calls of a
 * thread another may have stored, inside one of its own. */
void rp_early_end(void);
/* Feeding: the operation was complete when it began, so its result was in memory before the call
 * that completes it. rp_early_report prints that once, at the end. */
void rp_early_at_once(const struct rp_areas *areas);
void rp_early_report(void);
/* Called when an MPI call begins, or (`inside`) returns. Recording, writes an entry for each result
 * that arrived; feeding, puts the recorded ones into memory. */
void rp_early_look(bool inside);
static inline void rp_early_enter(void)
{
    if (__builtin_expect(rp_early_watched != 0, 0))
        rp_early_look(false);
}
static inline void rp_early_leave(void)
{
    if (__builtin_expect(rp_early_watched != 0, 0))
        rp_early_look(true);
}
/* Feeding: reads an entry `arrived` that stands where no look took it. */
void rp_partial_feed_arrived(void);

#endif
