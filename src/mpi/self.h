/* SPDX-License-Identifier: MIT */
/* The state of the calling thread that the entry points look at before anything else. */
#ifndef RP_SELF_H
#define RP_SELF_H

#include <stdint.h>

#include "mpi/requests.h"

enum { RP_STRANGER = 1 << 24 };

/* Why every call must be looked at closely. */
enum rp_always {
    RP_ALWAYS_ENGINE = 1, /* the engine wants named receives, probes and posts too */
    RP_ALWAYS_TOOL = 2,   /* another tool stands between us and the MPI library, and may make calls out of ours */
    RP_ALWAYS_FREED = 4,  /* receives that the program freed are under way */
    RP_ALWAYS_CALLBACKS = 8, /* MPI may call functions out of ours that make calls themselves: error handlers, generalised requests, ROMIO */
};

struct rp_self {
    union {
        struct {
            uint32_t depth;  /* > 0: inside one of our calls; RP_STRANGER: a thread that has no stream */
            uint32_t always; /* enum rp_always */
        };
        uint64_t busy; /* 0: a call that the engine need not see can go straight through */
    };
    uint32_t watched;     /* requests under way whose completion must be seen */
    uint32_t persistent;  /* persistent receives that exist */
    int watched_tag;      /* recording: the tag that all wildcard receives under way ask for */
    uint32_t mixed_tags;  /* they ask for several tags, or for any */
    uint32_t notes_named; /* recording: named receives may be cancelled, so their handles are noted */
    struct rp_requests requests;
    uint64_t posts;       /* non-blocking receives so far, also those that failed */
    struct rp_wild_posts wild;
    uint64_t waitalls; /* calls of Waitall */
};

/* The state of the thread that has the stream; NULL: none yet. */
extern struct rp_self *rp_owner;

extern __thread struct rp_self rp_self __attribute__((tls_model("initial-exec")));

#endif
