/* SPDX-License-Identifier: MIT */
/* What happened on each rank, event by event, and which messages connect the ranks. */
#ifndef RP_TIMELINE_H
#define RP_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { RP_CANDIDATES = 8 };

/* One event. Its place in the array is its number in the log. */
struct rp_moment {
    uint64_t time;   /* microseconds since the first of all ranks; 0 where there are no times */
    uint64_t number; /* NO: polls; MATCH, CANCELLED, FREED: the post; CLOCK: those of its call that
                        are still to come; YES, NEXT: the index, or UINT64_MAX */
    uint64_t sent;   /* has_clock: the clock of the message */
    uint64_t clock;  /* has_clock: that of this rank once it has it */
    int64_t send; /* how many events of the sender stand before the send, at most; -1: not known */
    int32_t source; /* of the message, as the event names it; -1: none */
    int32_t tag;    /* of a CLOCK whose receive had a wildcard, too; else 0 */
    uint32_t site;  /* row of the table of call sites */
    int32_t thread;
    uint32_t candidate; /* the first in the timeline's list */
    uint8_t candidates; /* how many: other senders whose message this receive could have had */
    uint8_t kind;
    bool has_clock; /* CLOCK, and a receive that one belongs to */
};

struct rp_timeline {
    struct rp_moment *at;
    size_t count, room;
    int32_t *candidate; /* ranks */
    size_t candidate_count, candidate_room;
};

bool rp_timeline_append(struct rp_timeline *timeline, const struct rp_moment *moment);
void rp_timeline_free(struct rp_timeline *timeline);

/*
 * Sets what takes a look at all ranks: clocks, sends and candidates.
 *
 * With Lamport clocks (`clocked`) the moment of a send follows from its clock, since a rank's clock
 * moves on at its sends and receives alone, or jumps in a collective call, of which nothing is
 * recorded: then it is the latest moment that is possible. A candidate is then a sender whose next
 * message with the same tag had been sent for certain without any knowledge of this receive.
 * Without clocks nothing is known of sends, and every sender of a later message with the same tag
 * is a candidate.
 */
enum rp_status rp_timelines_connect(struct rp_timeline *timelines, uint32_t ranks, bool clocked,
                                    struct rp_problem *why);

#endif
