/* SPDX-License-Identifier: MIT */
/* The order of the threads of a rank in a replay (entry/threads.h). All is called under their
 * lock. */
#ifndef RP_REPLAY_TURNS_H
#define RP_REPLAY_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "entry/engine.h"
#include "event/event.h"

/* Returns when it is the calling thread's turn to send, to post a receive or to take a mutex, or
 * when the rank runs on freely. */
void rp_turns_await(const struct rp_call *call, int is_post);

/* The turn was taken (but not if it was a post). */
void rp_turns_take(void);

/*
 * Waits until the next event of the record is one of the calling thread's and returns it; NULL: the
 * record has ended. `polls`: the call may be answered no; then this may return a NO event, which is
 * answered by rp_turns_take_no.
 */
const struct rp_event *rp_turns_await_event(const struct rp_call *call, uint32_t scope, bool polls);

/* The poll was answered no; false: the record does not have it. */
bool rp_turns_take_no(void);

/* The calling thread has taken an event. */
void rp_turns_took_event(void);

/* Whether the next event is one of the calling thread's. */
bool rp_turns_is_own(void);

/* Whether nothing is left of the record, for any thread. */
bool rp_turns_are_over(void);

#endif
