/* SPDX-License-Identifier: MIT */
/* Following the record: each event that the program makes in a replay is held against the next one
 * of the record. */
#ifndef RP_REPLAY_FOLLOW_H
#define RP_REPLAY_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "entry/engine.h"
#include "event/event.h"

#define RP_KIND(kind) (1u << (kind))

/* The recorded event of this call, which must be one of `kinds`. NULL: the record has ended, and
 * the rank runs on freely. Does not return if the program has left the record, or if the replay
 * stops at its end. */
const struct rp_event *rp_follow_expect(const struct rp_call *call, uint32_t scope, uint32_t kinds);

/* Whether the next recorded event is of this kind and was made by this very call of MPI_Waitall. */
bool rp_follow_is_next(const struct rp_call *call, uint32_t kind);

/* One poll of the run that rp_follow_expect returned was answered; false: the record does not have
 * it (only with threads). */
bool rp_follow_take_no(void);

/* The event that rp_follow_expect returned was replayed. */
void rp_follow_take(void);

/* The program saw this; it must be the next recorded event. */
void rp_follow_observe(const struct rp_call *call, uint32_t kind, uint32_t scope, int32_t a,
                       int32_t b, uint64_t c);

/* The program's arguments do not allow the expected event: ends all ranks. */
void rp_follow_diverge(const struct rp_call *call, const char *what) __attribute__((noreturn));

#endif
