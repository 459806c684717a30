/* SPDX-License-Identifier: MIT */
/* What a rank of a replay does at the end of its record. */
#ifndef RP_REPLAY_END_H
#define RP_REPLAY_END_H

#include <stdbool.h>

#include "base/visibility.h"
#include "entry/engine.h"

enum rp_at_end { RP_AT_END_STOP, RP_AT_END_GDB, RP_AT_END_CONTINUE };

struct rp_replay_end {
    bool is_free;     /* the rank runs on behind the end of its record */
    bool is_finished; /* the program has reached MPI_Finalize, or ended otherwise */
};

extern RP_HIDDEN struct rp_replay_end rp_replay_end;

static inline bool rp_replay_is_free(void)
{
    return rp_replay_end.is_free;
}

/* `release` is called once when the record ends and the rank runs on; `sink` takes in messages
 * while the rank is parked. */
void rp_replay_end_open(enum rp_at_end at_end, void (*release)(void), void (*sink)(void));

/* The call cannot complete in the record. Returns only when the rank runs on freely, or when the
 * program has ended meanwhile (with threads). */
void rp_replay_end_of_record(const struct rp_call *call);

/*
 * A rank that was killed may have had receives under way that were matched, though nobody learnt by
 * what. Where it has nothing left to replay and waits, they are posted as the program asked, so
 * that their senders can go on.
 */
void rp_replay_release_unknown(void);

/* The program is about to end its process without MPI_Finalize: returns when it may. */
void rp_replay_leave(void);

/* The same when a call is refused: returns when the job may be ended for it. */
void rp_replay_refused(const char *function);

/* The same before a crash, or _exit: MPI may be in any state. */
void rp_replay_wait_before_crash(bool is_crash);

/* By the thread that looks for a standstill (engine/standstill.h): no rank polls, and all are in
 * calls from which the recorded run did not return either. */
void rp_replay_hangs_at_end(const char *function) __attribute__((noreturn));

#endif
