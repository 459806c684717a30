/* SPDX-License-Identifier: MIT */
#include "engine/record_requests.h"

#include <stdlib.h>

#include "base/diagnostics.h"
#include "peers/peer_det.h"
#include "preload/constants.h"
#include "engine/record_data.h"
#include "entry/engine.h"
#include "entry/refuse.h"
#include "entry/request_notes.h"
#include "reprise.h"

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
    uint64_t lasting = entry->flags & RP_REQUEST_PERSISTENT
                           ? entry->flags & (RP_REQUEST_PERSISTENT | RP_REQUEST_WILD)
                           : 0;

    rp_requests_forget(entry);
    entry->flags = lasting;
}

bool rp_record_complete_rare(struct rp_request *entry, const MPI_Status *status, uint32_t site)
{
    if (!(entry->flags & (RP_REQUEST_RECEIVE | RP_REQUEST_OTHER)))
        return false;
    bool cancelled = rp_return_code_cancelled(entry, status);
    if (cancelled)
        rp_record_push(entry->flags & RP_REQUEST_OTHER ? RP_UNSENT : RP_CANCELLED, site, 0, 0, 0,
                       entry->post);
    else if (entry->flags & RP_REQUEST_WILD)
        rp_record_push(RP_MATCH, site, 0, status->MPI_SOURCE, status->MPI_TAG, entry->post);
    rp_record_unwatch(entry);
    return !cancelled;
}

static bool is_over; /* the program makes no more calls: time may go on */

/* Questions of our own. */
static void ask_beside(bool begins)
{
    rp_record_data_asks(begins);
    if (begins)
        rp_quiet_begin();
    if (reprise_det_whose)
        reprise_det_whose(!begins   ? REPRISE_DET_PROGRAMS
                          : is_over ? REPRISE_DET_BESIDE_TIMED
                                    : REPRISE_DET_BESIDE);
    if (!begins)
        rp_quiet_end();
}

/* Records the match of a receive under way, if it has one by now. */
static void push_early_match(struct rp_request *entry, uint32_t site)
{
    MPI_Status status;
    int flag = 0;

    ask_beside(true);
    int rc = rp_pmpi.Request_get_status(rp_request_of_key(entry->handle), &flag, &status);
    ask_beside(false);
    if (!rp_return_code_matched(rc) || !flag || rp_return_code_cancelled(entry, &status))
        return;
    rp_record_push(RP_FREED, site, 0, status.MPI_SOURCE, status.MPI_TAG, entry->post);
    rp_request_unlist(entry);
    entry->flags |= RP_REQUEST_TOLD;
}

void rp_record_push_candidates(struct rp_request *first, uint64_t post, const MPI_Status *status,
                               uint32_t site)
{
    enum { ENOUGH = 256 };
    struct rp_request *entry = first;

    for (int left = ENOUGH; entry && left > 0; left--) {
        struct rp_request *next = entry->next;
        push_early_match(entry, site);
        entry = rp_record_candidate(next, post, status->MPI_SOURCE, status->MPI_TAG);
    }
}

void rp_record_push_pending(uint32_t site)
{
    struct rp_request *next;

    for (struct rp_request *entry = rp_state.requests.ends.next; entry != &rp_state.requests.ends;
         entry = next) {
        next = entry->next;
        push_early_match(entry, site);
    }
}

/* Freed while active */

void rp_record_keep_freed(MPI_Request *request, struct rp_request *entry)
{
    if (rp_record_data_has_threads()) {
        rp_error(
            "MPI_Request_free of a receive from anyone that is under way, where several threads "
            "call MPI: such a rank cannot be replayed alone yet");
        rp_end_job(REPRISE_EXIT_UNSUPPORTED);
    }
    if (freed_count == freed_room) {
        freed_room = freed_room ? freed_room * 2 : 16;
        freed = realloc(freed, freed_room * sizeof *freed);
        if (!freed)
            rp_bug(__FILE__, __LINE__, "out of memory for freed requests");
    }
    freed[freed_count++] = (struct freed){*request, entry->post};
    if (reprise_det_takes_call)
        reprise_det_takes_call();
    rp_slow_set(RP_SLOW_FREED);
    if (!(entry->flags & RP_REQUEST_TOLD))
        rp_request_unlist(entry);
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
        rp_slow_clear(RP_SLOW_FREED);
}

void rp_record_poll_freed(uint32_t site)
{
    for (size_t i = 0; i < freed_count;) {
        MPI_Status status;
        int flag = 0;
        ask_beside(true);
        rp_pmpi.Test(&freed[i].request, &flag, &status);
        if (flag && freed[i].request != rp_constant.request_null)
            rp_pmpi.Request_free(&freed[i].request);
        ask_beside(false);
        if (!flag) {
            i++;
            continue;
        }
        rp_record_event(RP_FREED, site, 0, status.MPI_SOURCE, status.MPI_TAG, freed[i].post);
        forget_freed(i);
    }
}

void rp_record_settle_freed(uint32_t site)
{
    enum { TRIES = 1000 };

    is_over = true;
    for (int i = 0; freed_count > 0 && i < TRIES; i++)
        rp_record_poll_freed(site);
    while (freed_count > 0) {
        rp_pmpi.Request_free(&freed[0].request);
        forget_freed(0);
    }
}
