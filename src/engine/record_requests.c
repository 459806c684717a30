/* SPDX-License-Identifier: MIT */
#include "engine/record_requests.h"

#include <stdlib.h>

#include "base/message.h"
#include "mpi/constants.h"
#include "mpi/engine.h"

struct freed {
    MPI_Request request;
    uint64_t post;
};

static struct freed *freed;
static size_t freed_count, freed_room;

void rp_record_watch(struct rp_request *entry, uint64_t flags, uint64_t post)
{
    if (!(entry->flags & RP_REQUEST_COUNTED))
        rp_state.watched++;
    entry->flags = flags | RP_REQUEST_COUNTED;
    entry->post = post;
}

void rp_record_unwatch(struct rp_request *entry)
{
    uint64_t lasting = RP_REQUEST_PERSISTENT | RP_REQUEST_WILD, under_way = RP_REQUEST_RECEIVE | RP_REQUEST_WILD;

    if (entry->flags & RP_REQUEST_COUNTED)
        rp_state.watched--;
    if ((entry->flags & (under_way | RP_REQUEST_TOLD)) == under_way)
        rp_wild_posts_remove(&rp_state.wild, entry);
    entry->flags = entry->flags & RP_REQUEST_PERSISTENT ? entry->flags & lasting : 0;
}

bool rp_record_complete_rare(struct rp_request *entry, const MPI_Status *status, uint32_t site)
{
    if (!(entry->flags & (RP_REQUEST_RECEIVE | RP_REQUEST_OTHER)))
        return false;
    bool cancelled = rp_outcome_cancelled(entry, status);
    if (cancelled)
        rp_record_push(entry->flags & RP_REQUEST_OTHER ? RP_UNSENT : RP_CANCELLED, site, 0, 0, 0, entry->post);
    else if (entry->flags & RP_REQUEST_WILD)
        rp_record_push(RP_MATCH, site, 0, status->MPI_SOURCE, status->MPI_TAG, entry->post);
    rp_record_unwatch(entry);
    return !cancelled;
}

/* Tells the match of a receive under way, if it has one by now. */
static void tell(const struct rp_wild_post *wild, uint32_t site)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, wild->request);
    MPI_Status status;
    int flag = 0;

    if (!entry || entry->post != wild->post)
        return;
    rp_quiet_begin();
    int rc = rp_pmpi.Request_get_status(wild->request, &flag, &status);
    rp_quiet_end();
    if (!rp_outcome_matched(rc) || !flag || rp_outcome_cancelled(entry, &status))
        return;
    rp_record_push(RP_FREED, site, 0, status.MPI_SOURCE, status.MPI_TAG, wild->post);
    entry->flags |= RP_REQUEST_TOLD;
    rp_wild_posts_remove(&rp_state.wild, entry);
}

void rp_record_tell_older(uint64_t post, const MPI_Status *status, uint32_t site)
{
    enum { ENOUGH = 256 };
    const struct rp_wild_post *at = rp_state.wild.at, *wild = &at[at[0].next];
    int source = status->MPI_SOURCE, tag = status->MPI_TAG;

    for (int left = ENOUGH; left > 0 && wild != at && wild->post < post;) {
        const struct rp_wild_post *next = &at[wild->next];
        if ((wild->tag == tag || wild->tag == MPI_ANY_TAG) && (wild->source == source || wild->source == MPI_ANY_SOURCE)) {
            tell(wild, site);
            left--;
        }
        wild = next;
    }
}

void rp_record_tell_pending(uint32_t site)
{
    for (uint32_t next = rp_state.wild.at[0].next; next != 0;) {
        const struct rp_wild_post *wild = &rp_state.wild.at[next];
        next = wild->next;
        tell(wild, site);
    }
}

/* Freed while active */

void rp_record_keep_freed(MPI_Request *request, struct rp_request *entry)
{
    if (freed_count == freed_room) {
        freed_room = freed_room ? freed_room * 2 : 16;
        freed = realloc(freed, freed_room * sizeof *freed);
        if (!freed)
            rp_bug(__FILE__, __LINE__, "out of memory for freed requests");
    }
    freed[freed_count++] = (struct freed){*request, entry->post};
    rp_always_set(RP_ALWAYS_FREED);
    if (!(entry->flags & RP_REQUEST_TOLD))
        rp_wild_posts_remove(&rp_state.wild, entry);
    if (entry->flags & RP_REQUEST_PERSISTENT)
        rp_state.persistent--;
    entry->flags = 0; /* still counted in rp_state.watched */
    *request = rp_constant.request_null;
}

static void forget_freed(size_t i)
{
    freed[i] = freed[--freed_count];
    rp_state.watched--;
    if (freed_count == 0)
        rp_always_clear(RP_ALWAYS_FREED);
}

void rp_record_poll_freed(uint32_t site)
{
    for (size_t i = 0; i < freed_count;) {
        MPI_Status status;
        int flag = 0;
        rp_quiet_begin();
        rp_pmpi.Test(&freed[i].request, &flag, &status);
        rp_quiet_end();
        if (!flag) {
            i++;
            continue;
        }
        if (freed[i].request != rp_constant.request_null)
            rp_pmpi.Request_free(&freed[i].request);
        rp_record_event(RP_FREED, site, 0, status.MPI_SOURCE, status.MPI_TAG, freed[i].post);
        forget_freed(i);
    }
}

void rp_record_settle_freed(uint32_t site)
{
    enum { TRIES = 1000 };

    for (int i = 0; freed_count > 0 && i < TRIES; i++)
        rp_record_poll_freed(site);
    while (freed_count > 0) {
        rp_pmpi.Request_free(&freed[0].request);
        forget_freed(0);
    }
}
