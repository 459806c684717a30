/* SPDX-License-Identifier: MIT */
/*
 * Deterministic waiting (DMP 3.3, 3.4): what this rank can know of the others, and so how early
 * each of them can still send.
 */
#ifndef RP_SHARED_BOUNDS_H
#define RP_SHARED_BOUNDS_H

#include "det/shared_state.h"
#include "match/deadlock_cycle.h"

/* What was found of a rank, at the first look and, if it waits, at the second. */
struct rp_shared_look {
    bool waits;
    bool may_go_on;          /* it waits for a receiver, which may have received the message */
    bool relies;             /* it does not go on because `target` receives nothing */
    bool awaits_collectives; /* some of the operations that it waits for are collectives that are
                                not complete */
    uint32_t wait, target;
    uint32_t seen; /* how many had arrived at its collective, or whether its message was received */
    uint64_t clock, version, object;
    uint64_t candidate; /* at the second look: also the first of its operations */
    uint64_t fresh;     /* the time of the first that would be one, if its receiver received */
};

/* Makes room. In a process that has mapped the memory. */
enum rp_status rp_shared_bounds_start(struct rp_problem *why);

/*
 * How early each rank of the job can still send, by rank, valid until the next call. Messages that
 * were sent earlier are in the inbox when this returns. This rank waits as it has published; or as
 * `plan` says, if that is not NULL, and then it must keep to the plan.
 */
const uint64_t *rp_shared_bounds(const struct rp_shared_plan *plan);

/* Finds the ranks that wait for each other for ever (match/deadlock_cycle.h), by the bounds that
 * were found last, and returns these: a message that has arrived since, though of no use, would
 * hide the cycle. */
const uint64_t *rp_shared_cycle(struct rp_deadlock_cycle *cycle);

/* Whether a rank has ended, or waits inside MPI with no receive under way. Then a message that it
 * has not seen, if asked for after this, is matched by no receive of now. */
bool rp_shared_receives_nothing(uint32_t rank);

/* Two looks at a rank. If all ranks are looked at once, then there is a full fence, then those that
 * wait are looked at again, and all is unchanged, they all waited at one moment between. `relied`
 * (or NULL) gets a bit for each rank of which it counted that it receives nothing. Returns whether
 * all is unchanged. */
void rp_shared_look(uint32_t rank, struct rp_shared_look *look);
bool rp_shared_look_again(uint32_t rank, struct rp_shared_look *look, uint64_t *relied);

#endif
