/* SPDX-License-Identifier: MIT */
/* What the entry points are made of, those that are generated and those of threads. */
#ifndef RP_ENTRY_H
#define RP_ENTRY_H

#include <mpi.h>

#include "base/visibility.h"
#include "entry/engine.h"
#include "entry/request_notes.h"
#include "entry/thread_state.h"
#include "entry/threads.h"
#include "next.h"

#define RP_LIKELY(condition) __builtin_expect(!!(condition), 1)

/* Nothing stands against a call that needs no engine. */
#define RP_IS_IDLE RP_LIKELY(rp_thread_state.busy == 0)

/* Completions must be seen: of receives under way; or of all, where another thread may cancel one
 * meanwhile, or messages carry clocks. */
#define RP_IS_WATCHED                                                                              \
    (rp_state.watched || (rp_threads_on && rp_state.notes_named) ||                                \
     rp_thread_state.always & RP_SLOW_CLOCKS)

#define RP_WANTS_ALL (rp_thread_state.always & RP_SLOW_ENGINE)

/* The call is not ours to see: it comes from inside another, or before MPI_Init. A thread that is
 * not followed is refused if the call matters. */
#define RP_ELSEWHERE(name, matters)                                                                \
    (__builtin_expect(rp_thread_state.depth != 0, 0) && rp_is_elsewhere(name, matters))

/* The real call, with our depth raised: a tool behind us may make other calls out of it. */
#define RP_INSIDE(rc, real)                                                                        \
    do {                                                                                           \
        rp_thread_state.depth++;                                                                   \
        (rc) = (real);                                                                             \
        rp_thread_state.depth--;                                                                   \
    } while (0)

/* The same for a call that is neither inside another nor made by an untracked thread. */
#define RP_ALONE(rc, real)                                                                         \
    do {                                                                                           \
        rp_thread_state.depth = 1;                                                                 \
        (rc) = (real);                                                                             \
        rp_thread_state.depth = 0;                                                                 \
    } while (0)

/* A call that an engine sees, with the lock that threads need. */
#define RP_LOCKED(rc, real)                                                                        \
    do {                                                                                           \
        rp_threads_enter();                                                                        \
        (rc) = (real);                                                                             \
        rp_threads_leave();                                                                        \
    } while (0)

/* gcc does it by itself: this file is always optimised. */
#if defined(__clang__)
#define RP_TAIL __attribute__((musttail))
#else
#define RP_TAIL
#endif

/* Arguments beyond the sixth lie on the stack, eight bytes each. */
#if defined(__x86_64__) && defined(__LP64__) && !defined(__clang__)
#define RP_STACKED_ARGUMENTS
#endif

#define RP_ENVELOPE(e, s, t, c, st, also_sends)                                                    \
    ((e).source = (s), (e).tag = (t), (e).comm = (c), (e).status = (st), (e).sends = (also_sends))

#define RP_ENVELOPE_BUFFER(e, b, n, t) ((e).buf = (b), (e).count = (n), (e).type = (t))

/* Whether a call by this thread, which is inside another or not followed, passes us by. Does not
 * return if it cannot be let through. */
int rp_is_elsewhere(const char *name, int matters);

#endif
