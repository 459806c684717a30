/* SPDX-License-Identifier: MIT */
/*
 * The order rule of deterministic execution: how early, in logical time, a rank can still send, as
 * far as it can be known from what all ranks publish of themselves. No MPI.
 *
 * A message that is sent at time s takes effect from s + latency on: who waits for it goes on no
 * earlier.
 */
#ifndef RP_SEND_BOUNDS_H
#define RP_SEND_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RP_SEND_NEVER UINT64_MAX

enum rp_send_bound_kind {
    RP_SEND_RUNS, /* it may send at its clock */
    RP_SEND_ONE,  /* it goes on after an act of rank `target` */
    RP_SEND_ANY,  /* it goes on after the act of any other rank, or by what it has already, which
                      came at `candidate` */
    RP_SEND_ALL,  /* it goes on after acts of all ranks in `missing`, and what came at `candidate`
                   */
};

struct rp_send_bound_rank {
    uint64_t clock; /* nothing is sent earlier than this; RP_SEND_NEVER: nothing any more */
    enum rp_send_bound_kind kind;
    uint32_t target;
    uint64_t candidate;      /* ANY: RP_SEND_NEVER if there is none; ALL: 0 if there is none */
    const uint64_t *missing; /* a bit for each rank */
};

/* By rank: no message from it is sent earlier than this, as long as rank `still` does not go on
 * (`count`: no such rank). latency > 0. */
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
