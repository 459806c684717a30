/* SPDX-License-Identifier: MIT */
/*
 * What the ranks of a replay by clocks publish for each other: a file beside the state of the
 * replay that all map. Of each rank: its clock, whether it waits for a message, and the clock of
 * the one that it would take as things are; of each pair, how many messages were sent and how many
 * have arrived.
 *
 * A rank's own entries change together, between begin and end, so that whoever reads them twice and
 * finds the same versions has seen one moment (cdc/model/cdc_lower_bound.h).
 */
#ifndef RP_CDC_REPLAY_STATE_H
#define RP_CDC_REPLAY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Rank 0 makes the file before the others map it. */
enum rp_status rp_cdc_replay_create(const char *path, uint32_t ranks, struct rp_problem *why);
enum rp_status rp_cdc_replay_map(const char *path, uint32_t ranks, uint32_t rank,
                                 struct rp_problem *why);

void rp_cdc_replay_begin(void);
void rp_cdc_replay_end(void);

/* Between the two. */
void rp_cdc_replay_set_clock(uint64_t clock);
void rp_cdc_replay_set_least(uint64_t least);
void rp_cdc_replay_set_waits(bool waits);
void rp_cdc_replay_set_unseen(
    int64_t since); /* in a collective call since this millisecond of which
                    others do not see who is missing; 0: no longer */
void rp_cdc_replay_count_sent(uint32_t dest);
void rp_cdc_replay_count_arrived(uint32_t source);

/* Collective calls on communicator number `comm` (below RP_CDC_REPLAY_COMMS for each rank): this
 * rank enters one that `arrivals` calls in all must have entered; it leaves. */
enum { RP_CDC_REPLAY_COMMS = 1024 };
void rp_cdc_replay_enter(uint32_t comm, uint64_t arrivals);
void rp_cdc_replay_leave(void);

/*
 * The bounds of all ranks, and whether messages are under way from them to this rank. They are of
 * one moment; NULL: none was found, others were changing theirs. Valid until the next call.
 */
const uint64_t *rp_cdc_replay_bounds(const bool **under_way);

#endif
