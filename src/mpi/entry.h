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

/* The call is not ours to see: it comes from inside another, or before MPI_Init. A thread without a stream is refused if the call matters. */
#define RP_ELSEWHERE(name, matters)                                                                                    \
    (__builtin_expect(rp_self.depth != 0, 0) &&                                                                        \
     (((rp_self.depth & RP_STRANGER) && (matters)) ? (rp_refuse_thread(name), 1) : 1))

#define RP_CALL(name, twin)                                                                                            \
    {                                                                                                                  \
        name, twin, (uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0)                      \
    }

#define RP_ENVELOPE(s, t, c, st, also_sends)                                                                           \
    {                                                                                                                  \
        .source = s, .tag = t, .comm = c, .status = st, .sends = also_sends                                            \
    }

/* A named receive was posted while recording: it counts, and a cancel may ask for it. */
static inline void rp_requests_note_named(MPI_Request request)
{
    uint64_t key = rp_request_key(request);
    struct rp_request *entry = &rp_self.requests.slots[rp_request_slot(key) & rp_self.requests.mask];

    if (__builtin_expect(entry->handle != key, 0))
        entry = rp_requests_enter(&rp_self.requests, key);
    entry->post = rp_self.posts++;
    entry->flags = RP_REQUEST_RECEIVE;
}

void rp_next_find(const char *name, void *slot, size_t size);
void rp_next_missing(const char *name) __attribute__((noreturn));

#endif
