/* SPDX-License-Identifier: MIT */
/*
 * What the ranks of a replay by clocks tell each other: a file beside the state of the replay that
 * all map. Of each rank: its clock, whether it waits for a message, and the clock of the one that
 * it would take as things are; of each pair, how many messages were sent and how many have arrived.
 *
 * A rank's own entries change together, between begin and end, so that whoever reads them twice and
 * finds the same versions has seen one moment (match/bounds.h).
 */
#ifndef RP_CLOCKED_STATE_H
#define RP_CLOCKED_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Rank 0 makes the file before the others map it. */
enum rp_status rp_clocked_create(const char *path, uint32_t ranks, struct rp_problem *why);
enum rp_status rp_clocked_map(const char *path, uint32_t ranks, uint32_t rank,
                              struct rp_problem *why);

void rp_clocked_begin(void);
void rp_clocked_end(void);

/* Between the two. */
void rp_clocked_set_clock(uint64_t clock);
void rp_clocked_set_least(uint64_t least);
void rp_clocked_set_waits(bool waits);
void rp_clocked_set_unseen(int64_t since); /* in a collective call since this millisecond of which
                                              others do not see who is missing; 0: no longer */
void rp_clocked_count_sent(uint32_t dest);
void rp_clocked_count_arrived(uint32_t source);

/* Collective calls on communicator number `comm` (below RP_CLOCKED_COMMS for each rank): this rank
 * enters one that `arrivals` calls in all must have entered; it leaves. */
enum { RP_CLOCKED_COMMS = 1024 };
void rp_clocked_enter(uint32_t comm, uint64_t arrivals);
void rp_clocked_leave(void);

/*
 * The bounds of all ranks, and whether messages are under way from them to this rank. They are of
 * one moment; NULL: none was found, others were changing theirs. Valid until the next call.
 */
const uint64_t *rp_clocked_bounds(const bool **under_way);

#endif
