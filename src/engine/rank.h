/* SPDX-License-Identifier: MIT */
/* The rank of a replay that this process is, in the state that all ranks of the replay share, and
 * how it gives up. */
#ifndef RP_RANK_H
#define RP_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/visibility.h"
#include "engine/session.h"
#include "log/replaystate.h"

struct rp_rank {
    struct rp_session session;
    char state_path[PATH_MAX];
    struct rp_replay_state *state; /* of all ranks */
    uint32_t first;                /* the slot of rank 0 of this job */
    struct rp_rank_slot *slot;     /* its part of this rank; NULL: not mapped yet */
    long stall;                    /* seconds after which a wait is reported; 0: never */
    int32_t cores;                 /* of this host */
};

extern RP_HIDDEN struct rp_rank rp_rank;

/* Maps the state file rp_rank.state_path and says there that this rank runs and has `events` events
 * to replay. rp_rank.session must be set. Fails if the file cannot be mapped. */
enum rp_status rp_rank_open(uint64_t events, struct rp_problem *why);

/* Whether this rank may report why the replay ends: the first rank that asks speaks for all. */
bool rp_rank_may_report(void);

/* For a rank that may not: waits until the one that reports has ended the job. */
void rp_rank_wait_to_be_ended(void) __attribute__((noreturn));

/* Ends the job with one of our exit statuses, and leaves this rank in `state` (enum
 * rp_rank_state). The reason must have been said. */
void rp_rank_give_up(uint32_t state, int exit_status) __attribute__((noreturn));

/* Reports that the replay waits for long, and where each rank is; nothing if another rank is about
 * to. */
void rp_rank_report_stall(void);

/* Reports that no rank can move, in these words and where each rank is, and ends the job. */
void rp_rank_stop_stalled(const char *what) __attribute__((noreturn));

/* CLOCK_MONOTONIC, in milliseconds. */
int64_t rp_rank_milliseconds(void);

#endif
