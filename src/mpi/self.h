/* SPDX-License-Identifier: MIT */
/* The state of the calling thread that the entry points look at before anything else. */
#ifndef RP_SELF_H
#define RP_SELF_H

#include <stdint.h>

#include "mpi/requests.h"

enum { RP_STRANGER = 1 << 24 };

struct rp_self {
    uint32_t depth;      /* > 0: inside one of our calls; RP_STRANGER: a thread that has no stream */
    uint32_t every_call; /* the engine wants named receives, probes and posts too */
    uint32_t watched;    /* requests under way whose completion must be seen */
    uint32_t persistent; /* persistent receives that exist */
    uint32_t pending;    /* recording: wildcard receives under way */
    int pending_tag;     /* the tag that they all ask for */
    uint32_t pending_mixed; /* they ask for several tags, or for any */
    uint64_t posts;      /* non-blocking receives posted so far */
    uint64_t waits;      /* calls of Wait and Waitall */
    struct rp_requests requests;
};

/* The state of the thread that has the stream; NULL: none yet. */
extern struct rp_self *rp_owner;

extern __thread struct rp_self rp_self __attribute__((tls_model("initial-exec")));

#endif
