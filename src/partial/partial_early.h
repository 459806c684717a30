/* SPDX-License-Identifier: MIT */
/* Results that are in memory before the call that completes them. */
#ifndef RP_PARTIAL_EARLY_H
#define RP_PARTIAL_EARLY_H

#include "partial/partial_areas.h"

enum {
    RP_EARLY_BYTES = 256
}; /* of longer ones, only the beginning of one-sided results is looked at */
extern RP_HIDDEN const struct rp_function rp_f_arrived;
extern RP_HIDDEN size_t rp_early_watched; /* how many are */
/* Recording: such an operation is about to begin. Need not be called. */
void rp_early_before(const struct rp_areas *areas);
/* It has begun (both sides). The areas must stay where they are; rp_areas_free ends it. */
void rp_early_add(struct rp_areas *areas);
void rp_early_drop(struct rp_early *early); /* may be NULL */
/* Feeding: it was complete when it began; what has come to be told of all is. */
void rp_early_at_once(const struct rp_areas *areas);
void rp_early_report(void);
/* An MPI call begins, or (`inside`) returns: what came gets an entry, or feeding is put there. */
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
/* Feeding: an entry that came at no look. */
void rp_partial_feed_arrived(void);

#endif
