/* SPDX-License-Identifier: MIT */
/* What recording notes of a request when it is made: the entry points do it themselves, since it is
 * less work than to call an engine. */
#ifndef RP_REQUEST_NOTES_H
#define RP_REQUEST_NOTES_H

#include <mpi.h>

#include "entry/thread_state.h"

/* What a receive takes is open. Nothing ever comes from MPI_PROC_NULL, whatever the tag. */
#define RP_IS_WILD(source, tag)                                                                    \
    ((source) == MPI_ANY_SOURCE || ((tag) == MPI_ANY_TAG && (source) != MPI_PROC_NULL))

/* While recording: a wildcard receive under way may have been matched before this named one. */
#define RP_MAY_OVERLAP(tag)                                                                        \
    (rp_state.watched && (rp_state.watched_tag == (tag) || rp_state.watched_tag == MPI_ANY_TAG))

/* MPI returned the handle again though its request was not seen to complete: what is known of the
 * handle is of an older request. */
void rp_requests_forget(struct rp_request *entry);

/* A named receive, number `post`, was posted while recording: a cancel may ask for it. */
static inline void rp_requests_note_named(MPI_Request request, uint64_t post)
{
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, request);

    if (entry->flags & RP_REQUEST_COUNTED)
        rp_requests_forget(entry);
    entry->post = post;
    entry->flags = RP_REQUEST_RECEIVE;
}

/* An older receive that is still under way may take its message: then its completion must be seen
 * too. */
static inline void rp_requests_note_overlapping(MPI_Request request, uint64_t post)
{
    rp_requests_note_named(request, post);
    rp_requests_find(&rp_state.requests, request)->flags |= RP_REQUEST_COUNTED;
    rp_state.watched++;
}

/* A wildcard receive is under way: `entry` has its number and its flags. */
static inline void rp_requests_list(struct rp_request *entry, int source, int tag)
{
    entry->source = source;
    entry->tag = tag;
    if (tag != rp_state.watched_tag)
        rp_state.watched_tag = rp_state.watched ? MPI_ANY_TAG : tag;
    rp_state.watched++;
    rp_requests_append(&rp_state.requests, entry);
}

/* A wildcard receive was posted while recording. `entry`: of its handle, of which nothing is under
 * way. */
static inline void rp_requests_note_entry(struct rp_request *entry, uint64_t post, int source,
                                          int tag)
{
    entry->flags = RP_REQUEST_USUAL;
    entry->post = post;
    rp_requests_list(entry, source, tag);
}

/* Of its handle nothing is known, or not that its last request is complete. Both return
 * MPI_SUCCESS, so that an entry can end in them. */
int rp_requests_note_new(MPI_Request request, uint64_t post, int source, int tag);

static inline int rp_requests_note_wild(MPI_Request request, uint64_t post, int source, int tag)
{
    struct rp_request *first = rp_requests_first(&rp_state.requests, request);

    if (__builtin_expect(!rp_request_has(first, request, 0), 0))
        return rp_requests_note_new(request, post, source, tag);
    rp_requests_note_entry(first, post, source, tag);
    return MPI_SUCCESS;
}

/* Any receive that was posted while recording. */
static inline void rp_requests_note(MPI_Request request, uint64_t post, int source, int tag)
{
    if (RP_IS_WILD(source, tag))
        rp_requests_note_wild(request, post, source, tag);
    else if (RP_MAY_OVERLAP(tag))
        rp_requests_note_overlapping(request, post);
    else if (rp_state.notes_named)
        rp_requests_note_named(request, post);
}

/* A request that is no receive was made: its handle may have been one's before. */
static inline void rp_requests_note_other(MPI_Request request)
{
    struct rp_request *entry =
        rp_state.requests.slots ? rp_requests_find(&rp_state.requests, request) : NULL;

    if (entry && !(entry->flags & RP_REQUEST_PERSISTENT))
        rp_requests_forget(entry);
}

#endif
