/* SPDX-License-Identifier: MIT */
/*
 * What libreprise-blocking.so offers to the engine in libreprise.so. It stands behind the other
 * libraries in a replay, and notes which blocking MPI call a thread is in. It changes nothing, and
 * recordings do not need it. Where it is not preloaded, the function is NULL.
 *
 * Calls of MPI-IO are left out: how long a file takes does not depend on MPI. Calls that MPI makes
 * inside its own calls are left out, too.
 */
#ifndef RP_PEER_BLOCKING_H
#define RP_PEER_BLOCKING_H

#include <mpi.h>
#include <stdint.h>

struct rp_blocked {
    const char *volatile function; /* NULL: the thread is in no blocking call */
    volatile uint64_t calls;       /* how many so far, this one included */
    MPI_Comm comm;                 /* valid if has_comm */
    uintptr_t place;               /* where the call returns to */
    int has_comm;
    enum { RP_PEER_NONE, RP_PEER_TO, RP_PEER_FROM } peer_is;
    int peer, tag;
    /* used by libreprise-blocking.so alone */
    uint32_t depth;  /* > 0: inside such a call, or a call of MPI-IO */
    uintptr_t frame; /* of the outermost such call */
};

/* Returns the state of the calling thread, which is valid as long as the thread lives. Other
 * threads may read it. */
__attribute__((weak, visibility("default"))) const struct rp_blocked *reprise_blocking_self(void);

#endif
