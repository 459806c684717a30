/* SPDX-License-Identifier: MIT */
/*
 * Collectives that have begun, in the memory of a host: which ranks have arrived at each, and what
 * they called. A collective is named by the number of its communicator, and its own number on that.
 */
#ifndef RP_SHARED_COLLECTIVES_H
#define RP_SHARED_COLLECTIVES_H

#include "det/shared_state.h"

/* Instead of a rank of the job, as a root. */
#define RP_SHARED_NO_ROOT UINT32_MAX
#define RP_SHARED_SOME_ROOT (UINT32_MAX - 1) /* of its group, which the others name */
#define RP_SHARED_BAD_ROOT (UINT32_MAX - 2)

/* What a rank calls. Function, operation and root must be the same in all ranks. */
struct rp_shared_call {
    uint32_t function, op; /* the same numbers in all ranks */
    uint32_t root;         /* in the job */
    int32_t said;          /* the root as the program passed it */
    uint32_t rank, site;   /* who calls, and where: one of its sites */
};

struct rp_shared_collective {
    uint64_t next, comm, number;
    _Atomic uint32_t count, left;       /* ranks that arrived, and that left */
    uint32_t size, here;                /* members; those of this host */
    uint32_t unforwarded;               /* arrivals here that other hosts have not been sent yet */
    _Atomic uint64_t latest;            /* of the clocks of ranks that arrived */
    struct rp_shared_call first, other; /* of those that arrived; one that does not match */
    _Atomic uint64_t bits[];            /* by rank: those that take part, then those that arrived */
};

static inline struct rp_shared_collective *rp_shared_collective_at(uint64_t place)
{
    return (struct rp_shared_collective *)(rp_shared.memory + place);
}

/*
 * This rank arrives at collective `number` on communicator `comm`, of which `members` (a bit for
 * each rank) are `size` ranks, and calls `call`. If the call does not match the others, the rank
 * does not count as arrived, and rp_shared_mismatch returns the collective. Each rank that arrived
 * must leave; when all have left, the collective is freed.
 */
struct rp_shared_collective *rp_shared_collective_arrive(uint64_t comm, uint64_t number,
                                                         const uint64_t *members, uint32_t size,
                                                         const struct rp_shared_call *call);
void rp_shared_collective_leave(struct rp_shared_collective *collective);

/* A collective whose calls do not match, which is never complete; NULL: none was found here. */
const struct rp_shared_collective *rp_shared_mismatch(void);

static inline bool rp_shared_collective_is_complete(const struct rp_shared_collective *collective)
{
    return atomic_load_explicit(&collective->count, memory_order_acquire) == collective->size;
}

/* Finds a collective and keeps it from being freed until it is unlocked. NULL: it is over, or has
 * not begun. */
struct rp_shared_collective *rp_shared_collective_lock(uint64_t comm, uint64_t number);
void rp_shared_collective_unlock(const struct rp_shared_collective *collective);

/* For the leader: rank call->rank of another host arrived at `clock`; one arrival of this host was
 * sent to all other hosts. */
void rp_shared_collective_arrive_remote(uint64_t comm, uint64_t number, const uint64_t *members,
                                        uint32_t size, const struct rp_shared_call *call,
                                        uint64_t clock);
void rp_shared_collective_forwarded(struct rp_shared_collective *collective);

#endif
