/* SPDX-License-Identifier: MIT */
/*
 * Requests whose completion a recording must see. A wildcard receive gets the next post number when
 * it is posted; its match is recorded when the program learns of its completion, or before, when a
 * younger receive that could have taken the same message completes.
 */
#ifndef RP_RECORD_REQUESTS_H
#define RP_RECORD_REQUESTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/return_codes.h"
#include "engine/record_events.h"
#include "preload/requests.h"
#include "entry/thread_state.h"

void rp_record_watch(struct rp_request *entry, uint64_t flags, uint64_t post);
void rp_record_unwatch(struct rp_request *entry);

/* Whether none is older than this one, which is listed. */
static inline bool rp_record_is_oldest(const struct rp_request *entry)
{
    return rp_state.requests.ends.next == entry;
}

/* The first from `entry` on, but older than `post`, that could have taken a message; NULL: none. */
static inline struct rp_request *rp_record_candidate(struct rp_request *entry, uint64_t post,
                                                     int source, int tag)
{
    for (; entry->post < post; entry = entry->next)
        if ((entry->tag == tag || entry->tag == MPI_ANY_TAG) &&
            (entry->source == source || entry->source == MPI_ANY_SOURCE))
            return entry;
    return NULL;
}

void rp_record_push_candidates(struct rp_request *first, uint64_t post, const MPI_Status *status,
                               uint32_t site);

/* Records the matches of receives older than `post` that could have taken the message of `status`.
 * They matched before it, whether the program ever completes them or not; if the program dies
 * first, nothing else records them. */
static inline void rp_record_push_older(uint64_t post, const MPI_Status *status, uint32_t site)
{
    struct rp_request *first =
        rp_record_candidate(rp_state.requests.ends.next, post, status->MPI_SOURCE, status->MPI_TAG);

    if (first)
        rp_record_push_candidates(first, post, status, site);
}

/* The same of all, at the end. */
void rp_record_push_pending(uint32_t site);

/* The program learnt that the request of this entry is complete: pushes what MPI left open of it.
 * Returns whether it was a receive that took a message, so that older ones are of interest. */
bool rp_record_complete_rare(struct rp_request *entry, const MPI_Status *status, uint32_t site);

/* The same of a receive with RP_REQUEST_USUAL, after an event was found ready. `posts`: since the
 * last event. */
static inline void rp_record_match(struct rp_request *entry, const MPI_Status *status,
                                   uint32_t site, uint32_t posts)
{
    rp_record_put_after(posts, RP_MATCH, site, 0, status->MPI_SOURCE, status->MPI_TAG, entry->post);
    rp_request_unlist(entry);
    rp_state.watched--;
    entry->flags = 0;
}

static inline bool rp_record_complete_request(struct rp_request *entry, const MPI_Status *status,
                                              uint32_t site)
{
    if (__builtin_expect(entry->flags != RP_REQUEST_USUAL, 0))
        return rp_record_complete_rare(entry, status, site);
    if (__builtin_expect(!rp_record_is_ready(1), 0))
        rp_record_prepare(site);
    rp_record_match(entry, status, site, rp_record_take_posts());
    return true;
}

/* The same for the only request of a call, or the last. */
static inline void rp_record_complete_last(struct rp_request *entry, const MPI_Status *status,
                                           uint32_t site)
{
    if (rp_record_complete_request(entry, status, site))
        rp_record_push_older(entry->post, status, site);
}

/* Receives that the program freed while active: they are kept, and their matches are recorded as
 * soon as they are found. */
void rp_record_keep_freed(MPI_Request *request, struct rp_request *entry);
void rp_record_poll_freed(uint32_t site);
void rp_record_settle_freed(uint32_t site);

#endif
