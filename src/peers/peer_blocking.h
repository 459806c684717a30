/* SPDX-License-Identifier: MIT */
/*
 * libreprise-blocking.so stands behind the other libraries in a replay, and notes in which blocking
 * call of MPI a thread is. It changes nothing, and recordings do without it. What it offers to the
 * engine in libreprise.so; NULL where it is not preloaded.
 *
 * MPI-IO is left out: how long a file takes is not for MPI to say. So is what MPI calls inside one
 * of its own calls.
 */
#ifndef RP_PEER_BLOCKING_H
#define RP_PEER_BLOCKING_H

#include <mpi.h>
#include <stdint.h>

struct rp_blocked {
    const char *volatile function; /* NULL: in none */
    volatile uint64_t calls;       /* so far, with this one */
    MPI_Comm comm;                 /* if has_comm */
    uintptr_t place;               /* where the call returns to */
    int has_comm;
    enum { RP_PEER_NONE, RP_PEER_TO, RP_PEER_FROM } peer_is;
    int peer, tag;
    /* its own */
    uint32_t depth;  /* > 0: inside such a call, or a call of MPI-IO */
    uintptr_t frame; /* of the outermost one */
};

/* The calling thread's, as long as it lives: others may read it. */
__attribute__((weak, visibility("default"))) const struct rp_blocked *reprise_blocking_self(void);

#endif
