/* SPDX-License-Identifier: MIT */
/*
 * What a rank waits for is known in full to itself alone: the tags, the communicator, all requests
 * of the call. So each rank that finds the deadlock publishes a description in the shared state,
 * and one of them reports for all. A rank that waits inside MPI, or on another host, is described
 * by what can be seen of it from outside; before it goes inside MPI, it publishes the communicator.
 */
#include "det/det_deadlock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diagnostics.h"
#include "det/det_request_table.h"
#include "det/det_sites.h"
#include "det/shared_describe.h"
#include "match/deadlock_cycle.h"
#include "match/send_bounds.h"
#include "preload/constants.h"

void rp_det_publish_comm(const struct rp_det_comm *comm)
{
    static size_t published = SIZE_MAX;
    struct rp_buffer text = {0};

    if (comm->made_before == published)
        return;
    rp_det_put_comm(&text, comm);
    rp_buffer_byte(&text, 0);
    snprintf(rp_shared.own->comm_name, sizeof rp_shared.own->comm_name, "%s",
             text.failed ? "" : (char *)text.bytes);
    rp_buffer_free(&text);
    published = comm->made_before;
}

static void put_collective(struct rp_buffer *text, const struct rp_shared_collective *collective)
{
    rp_shared_put_missing(text, collective);
    rp_det_put_comm_of(text, collective->comm);
}

static void put_receive(struct rp_buffer *text, const struct rp_det_receive *receive)
{
    if (receive->source == MPI_ANY_SOURCE)
        rp_buffer_printf(text, "a message from any rank");
    else
        rp_buffer_printf(text, "a message from rank %s", rp_shared_rank_name(receive->world).text);
    if (receive->tag == MPI_ANY_TAG)
        rp_buffer_printf(text, " with any tag");
    else
        rp_buffer_printf(text, " with tag %d", receive->tag);
    rp_det_put_comm(text, receive->comm);
}

static void put_request(struct rp_buffer *text, const struct rp_det_request *own)
{
    if (own->kind == RP_DET_SEND && own->is_persistent)
        own = rp_det_request_find(own->receive.real);
    if (!own || own->kind == RP_DET_FOREIGN)
        rp_buffer_printf(text, "a request of MPI's own");
    else if (own->kind == RP_DET_SEND)
        rp_buffer_printf(text, "rank %s to receive its message with tag %d",
                         rp_shared_rank_name(own->dest).text, own->message->tag);
    else if (own->kind == RP_DET_RECEIVE)
        put_receive(text, &own->receive);
    else if (own->collective)
        put_collective(text, own->collective);
    else
        rp_buffer_printf(text, "a collective call");
}

/* Returns whether the request is not complete. */
static bool is_open(MPI_Request handle)
{
    const struct rp_det_request *own =
        handle == rp_constant.request_null ? NULL : rp_det_request_find(handle);

    return own && own->is_active && !own->is_cancelled &&
           !(own->kind == RP_DET_RECEIVE && own->receive.is_known) &&
           !(own->kind == RP_DET_COLLECTIVE && own->collective &&
             rp_shared_collective_is_complete(own->collective));
}

static void put_requests(struct rp_buffer *text, const struct rp_det_wait *wait)
{
    enum { MOST = 6 };
    bool is_first_of = !strcmp(wait->what, "MPI_Waitany") || !strcmp(wait->what, "MPI_Waitsome");
    int open = 0, shown = 0;

    for (int i = 0; i < wait->count; i++)
        open += is_open(wait->requests[i]);
    rp_buffer_printf(text, open < 2 ? "for " : is_first_of ? "for one of: " : "for all of: ");
    for (int i = 0; i < wait->count && shown < MOST; i++)
        if (is_open(wait->requests[i])) {
            rp_buffer_printf(text, shown++ ? "; " : "");
            put_request(text, rp_det_request_find(wait->requests[i]));
        }
    if (open > shown)
        rp_buffer_printf(text, "; and %d more", open - shown);
}

void rp_det_put_wait(struct rp_buffer *text, const struct rp_det_wait *wait)
{
    if (wait->requests) {
        put_requests(text, wait);
    } else if (wait->receive || wait->probe) {
        rp_buffer_printf(text, "for ");
        put_receive(text, wait->receive ? wait->receive : wait->probe);
    } else if (wait->kind == RP_WAIT_RECEIVER) {
        rp_buffer_printf(text, "until rank %s receives its message with tag %d",
                         rp_shared_rank_name(wait->target).text,
                         rp_shared_message_at(wait->object)->tag);
    } else if (wait->kind == RP_WAIT_COLLECTIVE) {
        rp_buffer_printf(text, "for ");
        put_collective(text, rp_shared_collective_at(wait->object));
    } else if (wait->whom) {
        rp_buffer_printf(text, "%s", wait->whom);
    }
}

void rp_det_publish_wait(const struct rp_det_wait *wait)
{
    struct rp_buffer text = {0};

    if (!wait || wait->runs || atomic_load(&rp_shared.own->is_described))
        return;
    rp_det_put_wait(&text, wait);
    rp_det_put_place(&text, rp_shared.rank, rp_det_site());
    rp_buffer_byte(&text, 0);
    if (!text.failed)
        snprintf(rp_shared.own->description, sizeof rp_shared.own->description, "%s",
                 (char *)text.bytes);
    atomic_store(&rp_shared.own->is_described, 1);
    rp_buffer_free(&text);
}

/* Whether a rank that never goes on may still put into words what it waits for. */
static bool may_publish(uint32_t rank, uint64_t bound)
{
    const struct rp_shared_rank *state = &rp_shared.all[rank];

    return bound == RP_SEND_NEVER && rp_shared_clock_of(rank) != RP_SEND_NEVER &&
           !rp_shared_is_remote(rank) && atomic_load(&state->wait) != RP_WAIT_INSIDE_MPI &&
           !atomic_load(&state->is_described);
}

static bool are_descriptions_missing(const uint64_t *bounds)
{
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (may_publish(i, bounds[i]))
            return true;
    return false;
}

static void await_descriptions(const uint64_t *bounds)
{
    enum { ROUNDS = 1000 }; /* lines of source may take long to find */
    struct timespec pause = {0, 10000000};

    for (int i = 0; i < ROUNDS && are_descriptions_missing(bounds); i++)
        nanosleep(&pause, NULL);
}

void rp_det_report_deadlock(void)
{
    struct rp_buffer text = {0};
    struct rp_deadlock_cycle cycle = {.chain = calloc(rp_shared.ranks, sizeof *cycle.chain)};

    if (!cycle.chain)
        rp_bug(__FILE__, __LINE__, "out of memory for a deadlock");
    const uint64_t *bounds = rp_shared_cycle(&cycle);
    await_descriptions(bounds);
    if (cycle.count == 0)
        cycle.chain[cycle.count++] = rp_shared.rank;
    rp_buffer_printf(&text, "deadlock in %s: ", rp_shared.all[cycle.chain[0]].what);
    rp_shared_describe(&text, &cycle, bounds, rp_det_put_comm_of);
    rp_buffer_byte(&text, 0);
    if (!text.failed)
        rp_error("%s", (char *)text.bytes);
    rp_buffer_free(&text);
    free(cycle.chain);
}
