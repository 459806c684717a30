/* SPDX-License-Identifier: MIT */
/*
 * Deterministic mapping (DMP 3.4): which message a receive takes, and when that is certain.
 *
 * Messages are sent at logical times and can be seen from `latency` later on. A receive or probe
 * that names no source takes the message that was sent first (those of one time by rank), as soon
 * as no earlier one can arrive (match/send_bounds.h). The payload goes by MPI as ever: receives are
 * made by source and tag when it is known which message they take.
 */
#ifndef RP_DET_MATCHING_H
#define RP_DET_MATCHING_H

#include "det/det_posted.h"
#include "det/shared_bounds.h"

/* What this rank waits for. */
struct rp_det_wait {
    enum rp_shared_wait kind;
    uint32_t target;
    uint64_t candidate, object; /* as in struct rp_shared_plan */
    const struct rp_det_receive *probe;
    const struct rp_det_receive *receive; /* it goes on with this one's message, and not before */
    const char *what;                     /* the MPI function */
    const char *whom;                     /* in words, if nothing else here says for what */
    const MPI_Request *requests; /* all that the call still waits for, or for the first of: so many;
                                    NULL: only for this */
    int count;
    bool runs; /* it waits for others' clocks alone, and does not publish that */
};

/* The matching must know what this rank waits for: what it sends to itself meanwhile does not
 * count. NULL: nothing. */
void rp_det_set_waiting(const struct rp_det_wait *wait);

/* What this rank waits for, to publish it; false: it runs. */
bool rp_det_plan(struct rp_shared_plan *plan);

/* What is known of the logical time at which an operation is complete, compared with a limit. */
enum rp_det_known {
    RP_DET_KNOWN, /* the time itself is */
    RP_DET_AFTER, /* only that it is later than the limit: a test says no for certain */
    RP_DET_OPEN,  /* neither yet: whoever must know has to wait */
};

/* Begins a receive or probe. False: PROC_NULL, or an error for MPI to report. */
bool rp_det_receive_open(struct rp_det_receive *receive, MPI_Comm comm, int source, int tag);

/* Whether the real receive can be made only when the message is known. */
bool rp_det_receive_must_delay(const struct rp_det_receive *receive);

void rp_det_receive_post(struct rp_det_receive *receive);

/* Forgets it, with its message if it has one. After a cancel, others may take the message. */
void rp_det_receive_close(struct rp_det_receive *receive);
void rp_det_receive_cancel(struct rp_det_receive *receive);

/* When its message can be seen, or whether that is after the limit. */
enum rp_det_known rp_det_receive_look(struct rp_det_receive *receive, uint64_t limit,
                                      uint64_t *when);

/* The message that a receive or probe takes, without taking it; NULL: not certain yet. */
struct rp_shared_message *rp_det_match(const struct rp_det_receive *receive);

/* Whether no message that was sent at the limit or before is for this receive or probe; there may
 * be one that another receive wants first. */
bool rp_det_is_after(const struct rp_det_receive *receive, uint64_t limit);

/* What was sent until this time can be seen at `limit`. */
uint64_t rp_det_seen_until(uint64_t limit);

/* The sender of a synchronous message learns that a receive that was posted at this time took it.
 */
void rp_det_notify_sender(struct rp_shared_message *message, uint64_t posted);

/* Reads the inbox, and matches receives that name their source; matches the other receives as far
 * as that is certain; or both. Only while this rank runs. */
void rp_det_read_inbox(void);
void rp_det_resolve(void);
void rp_det_match_messages(void);

/* Whether rp_det_resolve would do something. */
bool rp_det_would_resolve(void);

/* Bounds, once found, stay true; but there may be better ones later. */
void rp_det_forget_bounds(void);

/* Whether no message of this rank of the job comes that was sent at the limit or before. Messages
 * sent before may be in the inbox. */
bool rp_det_is_later(uint32_t world, uint64_t limit);

/* Whether this rank, at its time `now`, comes before all that this rank of the job does from now
 * on. */
bool rp_det_is_turn_before(uint64_t now, uint32_t world);

/* Messages of this rank that no receive has: the first, chained by own_next; 0: none. */
uint64_t rp_det_unreceived(uint32_t source);

/* Returns how many messages have arrived since the start. */
uint64_t rp_det_messages_received(void);
bool rp_det_has_delayed(void);
bool rp_det_has_receives(void);

#endif
