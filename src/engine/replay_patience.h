/* SPDX-License-Identifier: MIT */
/* How a wait of a replay passes the time: it yields and sleeps, says what it waits for, and reports
 * a stall. */
#ifndef RP_REPLAY_PATIENCE_H
#define RP_REPLAY_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "entry/engine.h"
#include "log/replaystate.h"

/* One wait; zero but for `certain`. */
struct rp_patience {
    enum rp_certainty certain; /* whether only another rank can end it */
    uint64_t polls;
    int64_t since; /* milliseconds */
    int64_t next_report, next_look;
    int64_t hangs_since;            /* as the recorded run did, at each look since; 0: not */
    uint64_t moves;                 /* of all ranks, at the last look */
    bool listens;                   /* a sender wakes it; the next poll sleeps */
    bool is_published, has_a_place; /* what it waits for, and where */
};

/* Whether the next poll may have to say what it waits for: before, the words need not be made. */
enum { RP_PATIENCE_YIELDS = 2000 };
static inline bool rp_patience_is_long(const struct rp_patience *patience)
{
    return patience->polls >= RP_PATIENCE_YIELDS - 1;
}

/* The wait found nothing to do. `what` it waits for is read from the RP_PATIENCE_YIELDS-th poll on.
 * May end the job; may return with the rank free (rp_replay_is_free). */
void rp_patience_poll(struct rp_patience *patience, const struct rp_call *call, const char *what);

/* The wait is over. */
void rp_patience_end(struct rp_patience *patience);

/* No rank can move any more: reports it and ends the job. Also for the thread that looks for it. */
void rp_patience_stuck(void) __attribute__((noreturn));

#endif
