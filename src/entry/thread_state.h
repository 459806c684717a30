/* SPDX-License-Identifier: MIT */
/* What the entry points look at before anything else: the state of the calling thread, and that of
 * the process. */
#ifndef RP_THREAD_STATE_H
#define RP_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/visibility.h"
#include "preload/requests.h"

enum { RP_UNTRACKED_THREAD = 1 << 24 };

/* Why every call must be looked at closely. */
enum rp_slow {
    RP_SLOW_ENGINE = 1, /* the engine wants named receives, probes and posts too */
    RP_SLOW_TOOL =
        2, /* another tool stands between us and the MPI library, and may make calls out of ours */
    RP_SLOW_FREED = 4,     /* receives that the program freed are under way */
    RP_SLOW_CALLBACKS = 8, /* MPI may call functions out of ours that make calls themselves: error
                                handlers, generalised requests, ROMIO */
    RP_SLOW_THREADS = 16,  /* several threads may call: entry/threads.h */
    RP_SLOW_CLOCKS = 32,   /* messages carry clocks: all completions of receives must be seen */
};

/* A thread's own. */
struct rp_thread_state {
    union {
        struct {
            uint32_t depth;  /* > 0: inside one of our calls; RP_UNTRACKED_THREAD: a thread that is
                                not  followed */
            uint32_t always; /* enum rp_slow: a copy of the process's */
        };
        uint64_t busy; /* 0: a call that the engine need not see can go straight through */
    };
    uint64_t waitalls; /* calls of Waitall */
    uint64_t identity; /* the same in every run: how the thread was created; 0: not created by the
                          program */
    uint32_t children; /* threads that it created */
    int32_t number;    /* in the record, once it has one; else -1, but 0 for the thread that
                          initialised MPI */
    uint64_t rested; /* the last look (entry/threads.h) that found it waiting for long, in a wait of
                        ours */
};

/* The process's. With several threads: only under the lock of entry/threads.h. */
struct rp_state {
    uint32_t always;
    uint32_t watched;    /* requests under way whose completion must be seen */
    uint32_t persistent; /* persistent receives that exist */
    int watched_tag;     /* recording: the tag that all wildcard receives under way ask for;
                            MPI_ANY_TAG: several, or any */
    uint32_t
        notes_named; /* recording: named receives may be cancelled, so their handles are noted */
    struct rp_requests requests;
    uint64_t posts;      /* non-blocking receives so far, also those that failed */
    bool is_initialised; /* MPI is, and not finalised */
};

/* Hidden only where an instruction can name it: elsewhere an address that is looked up once costs
 * less than one that gcc makes anew for each field. */
#ifdef __x86_64__
extern RP_HIDDEN struct rp_state rp_state;
#else
extern struct rp_state rp_state;
#endif

/* The state of the thread that initialised MPI; NULL: none yet. */
extern RP_HIDDEN struct rp_thread_state *rp_owner;

extern RP_HIDDEN __thread struct rp_thread_state rp_thread_state
    __attribute__((tls_model("initial-exec")));

/* Whether the calling thread is inside one of our calls, whoever it is. */
static inline int rp_is_inside(void)
{
    return (rp_thread_state.depth & ~(uint32_t)RP_UNTRACKED_THREAD) != 0;
}

static inline void rp_slow_set(uint32_t reason)
{
    rp_state.always |= reason;
    rp_thread_state.always |= reason;
}

static inline void rp_slow_clear(uint32_t reason)
{
    rp_state.always &= ~reason;
    rp_thread_state.always &= ~reason;
}

#endif
