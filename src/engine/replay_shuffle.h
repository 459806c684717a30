/* SPDX-License-Identifier: MIT */
/* Commutative regions of a replay (entry/region.h): where they are shuffled (REPRISE_SHUFFLE),
 * their receives take the recorded messages in another order. */
#ifndef RP_REPLAY_SHUFFLE_H
#define RP_REPLAY_SHUFFLE_H

#include <stdint.h>

#include "engine/session.h"
#include "event/event.h"

/* Whether they are, and where regions of this rank ended early. */
enum rp_status rp_shuffle_open(const struct rp_session *session, struct rp_problem *why);

void rp_shuffle_region_begin(unsigned long count);
void rp_shuffle_region_end(void);

/* The source that a receive from anyone takes its message from, in place of that of `event`, the
 * recorded one, which looking ahead may move. */
int rp_shuffle_source(const struct rp_event *event);

/* How many receives were shuffled. */
uint64_t rp_shuffle_count(void);

#endif
