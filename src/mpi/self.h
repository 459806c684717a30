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
    uint64_t posts;      /* non-blocking receives posted so far */
    struct rp_requests requests;
};

extern __thread struct rp_self rp_self __attribute__((tls_model("initial-exec")));

#endif
