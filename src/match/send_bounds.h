/* SPDX-License-Identifier: MIT */
/*
 * Send bounds (DMP 3.3, 3.4): the earliest logical time at which a rank can still send, as far as
 * it follows from what all ranks publish of themselves. They are why deadlocks of figure 4 (4.2.2)
 * cannot occur. No MPI.
 *
 * A message that is sent at time s takes effect from s + latency on: a rank that waits for it goes
 * on no earlier.
 */
#ifndef RP_SEND_BOUNDS_H
#define RP_SEND_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RP_SEND_NEVER UINT64_MAX

enum rp_send_bound_kind {
    RP_SEND_RUNS, /* it may send at its clock */
    RP_SEND_ONE,  /* it goes on when rank `target` has done something for it */
    RP_SEND_ANY,  /* it goes on when any other rank has, or with what it has already, which arrived
                     at `candidate_time` */
    RP_SEND_ALL,  /* it goes on when all ranks in `missing` have; what it has arrived at
                     `candidate_time` */
};

/* What is known of a rank. */
struct rp_send_bound_rank {
    uint64_t clock; /* nothing is sent earlier than this; RP_SEND_NEVER: nothing any more */
    enum rp_send_bound_kind kind;
    uint32_t target;
    uint64_t candidate_time; /* ANY: RP_SEND_NEVER if there is none; ALL: 0 if there is none */
    const uint64_t *missing; /* a bit for each rank */
};

/* Sets bounds[r], for each of `count` ranks, to a time before which rank r sends nothing, as long
 * as rank `still` does not go on (`count`: there is no such rank). latency > 0. */
void rp_send_bounds(const struct rp_send_bound_rank *ranks, size_t count, uint64_t latency,
                    size_t still, uint64_t *bounds);

/* Whether a message that `rank` sends at `stamp` comes before another; those of one time by
 * rank. */
static inline bool rp_send_is_before(uint64_t stamp, uint32_t rank, uint64_t other_stamp,
                                     uint32_t other_rank)
{
    return stamp < other_stamp || (stamp == other_stamp && rank < other_rank);
}

#endif
