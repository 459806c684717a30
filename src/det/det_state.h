/* SPDX-License-Identifier: MIT */
/*
 * What every part of libreprise-det.so needs: the settings of the run, the call that the program is
 * in, how a run ends early, and the digest of what was decided.
 */
#ifndef RP_DET_STATE_H
#define RP_DET_STATE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "det/shared_state.h"
#include "peers/peer_det.h"
#include "preload/real_functions.h"
#include "next.h"

extern __thread int rp_det_is_owner; /* the thread that initialised MPI */

enum { RP_DET_CALL = 1000 }; /* what a call of MPI takes of logical time */

struct rp_det {
    int is_on, inside, depth;     /* depth: in calls of the program */
    enum reprise_det_whose whose; /* calls are */
    int guards;   /* since nonblocking I/O began, the library may make calls outside of those of the
                     program; else, calls inside calls are the program's, by callbacks */
    MPI_Comm own; /* for our own messages */
    uint64_t threshold;      /* bytes: longer messages are synchronous */
    uint64_t buffer_bytes;   /* room for copies of shorter ones */
    int may_have_threads;    /* that call MPI, which is refused */
    int keeps_copies;        /* no request may be tested: MPICH 4.0 crashes in a session of one
                                process */
    int fixed_reductions;    /* reductions are made in the order of ranks */
    long delay;              /* microseconds */
    const char *function;    /* that the program is in */
    uintptr_t caller, stack; /* where it was called: the return address, and the frame */
};
extern struct rp_det rp_det;

/* Ends the job because another thread than the one that initialised MPI calls `function`. */
void rp_det_refuse_thread(const char *function) __attribute__((noreturn));

/* For tests: waits for a random time. */
void rp_det_delay(void);

/* Every call of the program begins so. */
static inline __attribute__((always_inline)) void rp_det_enter(const char *function)
{
    if (__builtin_expect(!rp_det_is_owner, 0))
        rp_det_refuse_thread(function);
    if (__builtin_expect(rp_det.whose == REPRISE_DET_BESIDE, 0))
        return;
    rp_det.function = function;
    rp_det.caller = (uintptr_t)__builtin_return_address(0);
    rp_det.stack = (uintptr_t)__builtin_frame_address(0);
    rp_shared_tick(RP_DET_CALL);
    if (__builtin_expect(rp_det.delay != 0, 0))
        rp_det_delay();
}

/* Ends the job because `function` cannot be made deterministic. */
void rp_det_refuse(const char *function) __attribute__((noreturn));

/* Ends the job with this exit status. */
void rp_det_end_job(int exit_status) __attribute__((noreturn));

/* Adds to the digest what was decided: which message a receive or probe matched (the source in the
 * job, and the tag), or what a test answered. */
enum rp_det_decision { RP_DET_MATCH, RP_DET_ANSWER };
void rp_det_decided(enum rp_det_decision decision, uint64_t a, uint64_t b);
uint64_t rp_det_digest_mix(uint64_t digest, uint64_t value);

#endif
