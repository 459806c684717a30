/* SPDX-License-Identifier: MIT */
/* Following the record: the next recorded event, the check of what the program does against it, and
 * what happens where they part or the record ends. */
#ifndef RP_REPLAY_FOLLOW_H
#define RP_REPLAY_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/session.h"
#include "event/event.h"
#include "log/replaystate.h"
#include "match/matcher.h"
#include "entry/engine.h"

enum rp_at_end { RP_AT_END_STOP, RP_AT_END_GDB, RP_AT_END_CONTINUE };

struct rp_follow_options {
    enum rp_at_end at_end;
    long stall;        /* seconds; 0: never report */
    bool check_places; /* the program is the recorded one: call sites can be compared */
};

/* Opens this rank's log. `release` is called once when the record ends and the rank is to run on;
 * `sink` makes progress while it is parked. */
enum rp_status rp_follow_open(const struct rp_session *session,
                              const struct rp_follow_options *options, const char *state_path,
                              void (*release)(void), void (*sink)(void), struct rp_problem *why);

#define RP_KIND(kind) (1u << (kind))

/* The recorded event of this call, which must be one of `kinds`. NULL: the record has ended, and
 * the rank runs on freely. Does not return if the program has left the record, or if the replay
 * stops at its end. */
const struct rp_event *rp_follow_expect(const struct rp_call *call, uint32_t scope, uint32_t kinds);

/* Whether the next recorded event is of this kind and said by this very call of Waitall. */
bool rp_follow_is_next(const struct rp_call *call, uint32_t kind);

/* One poll of the run that rp_follow_expect returned was answered; false: the record does not have
 * it (only with threads). */
bool rp_follow_take_no(void);

/* The event that rp_follow_expect returned has come true. */
void rp_follow_take(void);

/* Events before the expected one. */
uint64_t rp_follow_position(void);

/* The k-th event behind the expected one, NULL if the record ends before. */
const struct rp_event *rp_follow_ahead(size_t k);

/* The program saw this; it must be the next recorded event. */
void rp_follow_observe(const struct rp_call *call, uint32_t kind, uint32_t scope, int32_t a,
                       int32_t b, uint64_t c);

/* The program's arguments do not allow the expected event: ends all ranks. */
void rp_follow_diverge(const struct rp_call *call, const char *what) __attribute__((noreturn));

/* What receive number `post` matched; false: nothing, as far as the record goes. */
bool rp_follow_match(uint64_t post, struct rp_match *out);

/* The call cannot complete in the record. Returns only when the rank runs on freely. */
void rp_follow_end_of_record(const struct rp_call *call);

bool rp_follow_is_free(void);

/* With threads: whether nothing is left of the record, for any of them. */
bool rp_follow_is_over(void);

/* Called by a wait that found nothing to do: yields, publishes what it waits for, and reports a
 * stall. */
struct rp_patience {
    enum rp_certainty certain;
    uint64_t polls;
    int64_t since; /* milliseconds */
    int64_t next_report, next_look;
    int64_t hangs_since;    /* as the recorded run did, at each look since; 0: not */
    uint64_t moves;         /* of all ranks, at the last look */
    bool listens;           /* for the bell; the next poll sleeps */
    bool published, placed; /* what it waits for, and where */
};
/* Whether the next poll may have to say what it waits for: before, the words need not be made. */
enum { RP_PATIENCE_YIELDS = 2000 };
static inline bool rp_patience_is_long(const struct rp_patience *patience)
{
    return patience->polls >= RP_PATIENCE_YIELDS - 1;
}

void rp_patience_poll(struct rp_patience *patience, const struct rp_call *call, const char *what);
void rp_patience_end(struct rp_patience *patience);

/* With threads: returns when it is the calling thread's turn to send, to post a receive or to take
 * a mutex, and not before. */
void rp_follow_await_turn(const struct rp_call *call, int is_post);

/* The turn was taken (but not if it was a post). */
void rp_follow_take_turn(void);

/* A call is refused: returns when the job may be ended for it. */
void rp_follow_refused(const char *function);

/* The program reached MPI_Finalize, or ended otherwise: everything must have been replayed. */
void rp_follow_finish(bool finalized);

#endif
