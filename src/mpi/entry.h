/* SPDX-License-Identifier: MIT */
/* What the generated entry points are made of. */
#ifndef RP_ENTRY_H
#define RP_ENTRY_H

#include <mpi.h>

#include "mpi/constants.h"
#include "mpi/engine.h"
#include "mpi/life.h"
#include "mpi/self.h"
#include "next.h"

#define RP_ENTRY __attribute__((visibility("default")))

#define RP_IS_WILD(source, tag) ((source) == MPI_ANY_SOURCE || (tag) == MPI_ANY_TAG)

/* While recording: a wildcard receive under way may have been matched before this named one. */
#define RP_MAY_OVERLAP(tag) (rp_self.pending && (rp_self.pending_tag == (tag) || rp_self.pending_mixed))

/* What the owner's requests mean to a thread that has no stream. */
#define RP_OWNER(field) (rp_owner && rp_owner->field)

/* The call is not ours to see: it comes from inside another, or before MPI_Init. A thread without a stream is refused if the call matters. */
#define RP_ELSEWHERE(name, matters)                                                                                    \
    (__builtin_expect(rp_self.depth != 0, 0) &&                                                                        \
     (((rp_self.depth & RP_STRANGER) && (matters)) ? (rp_refuse_thread(name), 1) : 1))

/* The call needs no engine. Its depth is raised all the same: a tool behind us may make other calls out of it. */
#define RP_PASS(call)                                                                                                  \
    do {                                                                                                               \
        rp_self.depth++;                                                                                               \
        int passed = call;                                                                                             \
        rp_self.depth--;                                                                                               \
        return passed;                                                                                                 \
    } while (0)

#define RP_CALL(name, twin)                                                                                            \
    {                                                                                                                  \
        name, twin, (uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0)                      \
    }

#define RP_ENVELOPE(e, s, t, c, st, also_sends)                                                                        \
    ((e).source = (s), (e).tag = (t), (e).comm = (c), (e).status = (st), (e).sends = (also_sends))

/* A named receive was posted while recording: it counts, and a cancel may ask for it. */
static inline void rp_requests_note_named(MPI_Request request)
{
    struct rp_request *entry = rp_requests_entry(&rp_self.requests, request);

    entry->post = rp_self.posts++;
    entry->flags = RP_REQUEST_RECEIVE;
}

/* A request that is no receive was made: its handle may have been one's before. */
static inline void rp_requests_note_other(MPI_Request request)
{
    struct rp_request *entry = rp_self.requests.slots ? rp_requests_find(&rp_self.requests, request) : NULL;

    if (entry && !(entry->flags & RP_REQUEST_PERSISTENT))
        entry->flags = 0;
}

void rp_next_find(const char *name, void *slot, size_t size);
void rp_next_missing(const char *name) __attribute__((noreturn));

#endif
