/* SPDX-License-Identifier: MIT */
/* What the generated entry points of libreprise-blocking.so call. */
#ifndef RP_BLOCKING_CALLS_H
#define RP_BLOCKING_CALLS_H

#include "peers/peer_blocking.h"
#include "preload/real_functions.h"
#include "next.h"

#define RP_TAIL
#define RP_FRAME (uintptr_t) __builtin_frame_address(0)
#define RP_RETURNS (uintptr_t) __builtin_return_address(0)

extern __attribute__((visibility("hidden"))) __thread struct rp_blocked rp_blocked;

/* Counts one more nested call, and returns the depth. An error handler may have left an earlier
 * call by longjmp; that call's frame is then below the new one, and the depth starts again. */
static inline uint32_t rp_blocking_depth(uintptr_t frame)
{
    if (rp_blocked.depth > 0 && frame >= rp_blocked.frame)
        rp_blocked.depth = 0;
    if (rp_blocked.depth++ == 0)
        rp_blocked.frame = frame;
    return rp_blocked.depth;
}

/* Begins a call of MPI-IO: calls inside it are not noted. */
static inline void rp_blocking_pass(uintptr_t frame)
{
    if (rp_blocking_depth(frame) == 1)
        rp_blocked.function = NULL;
}

static inline void rp_blocking_enter(const char *function, uintptr_t frame, uintptr_t place,
                                     const MPI_Comm *comm, int peer_is, int peer, int tag)
{
    if (rp_blocking_depth(frame) > 1)
        return;
    rp_blocked.calls = rp_blocked.calls + 1;
    rp_blocked.has_comm = comm != NULL;
    if (comm)
        rp_blocked.comm = *comm;
    rp_blocked.peer_is = peer_is;
    rp_blocked.peer = peer;
    rp_blocked.tag = tag;
    rp_blocked.place = place;
    rp_blocked.function = function;
}

static inline void rp_blocking_leave(void)
{
    if (rp_blocked.depth > 0 && --rp_blocked.depth == 0)
        rp_blocked.function = NULL;
}

#endif
