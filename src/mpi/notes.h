/* SPDX-License-Identifier: MIT */
/* What recording notes of a request when it is made: the entry points do it themselves, since it is less work than to call an engine. */
#ifndef RP_NOTES_H
#define RP_NOTES_H

#include <mpi.h>

#include "mpi/self.h"

/* What a receive takes is open. Nothing ever comes from MPI_PROC_NULL, whatever the tag. */
#define RP_IS_WILD(source, tag) ((source) == MPI_ANY_SOURCE || ((tag) == MPI_ANY_TAG && (source) != MPI_PROC_NULL))

/* While recording: a wildcard receive under way may have been matched before this named one. */
#define RP_MAY_OVERLAP(tag) (rp_state.watched && (rp_state.watched_tag == (tag) || rp_state.mixed_tags))

/* A named receive, number `post`, was posted while recording: a cancel may ask for it. */
static inline void rp_requests_note_named(MPI_Request request, uint64_t post)
{
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, request);

    entry->post = post;
    entry->flags = RP_REQUEST_RECEIVE;
}

/* An older receive that is still under way may take its message: then its completion must be seen too. */
static inline void rp_requests_note_overlapping(MPI_Request request, uint64_t post)
{
    rp_requests_note_named(request, post);
    rp_requests_find(&rp_state.requests, request)->flags |= RP_REQUEST_COUNTED;
    rp_state.watched++;
}

/* A wildcard receive was posted while recording. Also for the start of a persistent one, which keeps its other flags. */
static inline void rp_requests_note_wild(MPI_Request request, uint64_t post, int source, int tag, uint64_t flags)
{
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, request);

    entry->post = post;
    entry->flags = flags | RP_REQUEST_RECEIVE | RP_REQUEST_WILD | RP_REQUEST_COUNTED;
    if (rp_state.watched++ == 0) {
        rp_state.watched_tag = tag;
        rp_state.mixed_tags = tag == MPI_ANY_TAG;
    } else if (tag != rp_state.watched_tag) {
        rp_state.mixed_tags = 1;
    }
    rp_wild_posts_add(&rp_state.wild, entry, request, source, tag);
}

/* Any receive that was posted while recording. */
static inline void rp_requests_note(MPI_Request request, uint64_t post, int source, int tag)
{
    if (RP_IS_WILD(source, tag))
        rp_requests_note_wild(request, post, source, tag, 0);
    else if (RP_MAY_OVERLAP(tag))
        rp_requests_note_overlapping(request, post);
    else if (rp_state.notes_named)
        rp_requests_note_named(request, post);
}

/* A request that is no receive was made: its handle may have been one's before. */
static inline void rp_requests_note_other(MPI_Request request)
{
    struct rp_request *entry = rp_state.requests.slots ? rp_requests_find(&rp_state.requests, request) : NULL;

    if (entry && !(entry->flags & RP_REQUEST_PERSISTENT))
        entry->flags = 0;
}

#endif
