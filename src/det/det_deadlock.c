/* SPDX-License-Identifier: MIT */
/*
 * What is said of a deadlock. What a rank waits for is known in full to itself alone: the tags, the
 * communicator, all requests of the call. So each that finds the deadlock puts it into words beside
 * MPI, and one of them speaks for all. Who waits inside MPI, or on another host, is described by
 * what is seen of it from outside; who goes inside has left there which communicator it is about.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/diagnostics.h"
#include "base/text.h"
#include "det/det.h"
#include "match/deadlock_cycle.h"
#include "preload/constants.h"
#include "reprise.h"

enum { PREDEFINED = 2 }; /* MPI_COMM_WORLD and MPI_COMM_SELF */

static void put_comm(struct rp_buffer *text, const struct rp_det_comm *comm)
{
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;

    if (!comm->is_freed)
        rp_pmpi.Comm_get_name(comm->comm, name, &length);
    if (name[0])
        rp_buffer_printf(text, " on %s", rp_text_shown(name));
    else
        rp_buffer_printf(text, " on a communicator of %u ranks, made by %s (number %zu here)",
                         comm->member_count, comm->made_by ? comm->made_by : "MPI",
                         comm->made_before - PREDEFINED + 1);
}

void rp_det_tell_comm(const struct rp_det_comm *comm)
{
    static size_t told = SIZE_MAX;
    struct rp_buffer text = {0};

    if (comm->made_before == told)
        return;
    put_comm(&text, comm);
    rp_buffer_byte(&text, 0);
    snprintf(rp_shared_side.own->where, sizeof rp_shared_side.own->where, "%s",
             text.failed ? "" : (char *)text.bytes);
    rp_buffer_free(&text);
    told = comm->made_before;
}

void rp_det_put_comm_with(struct rp_buffer *text, uint64_t id)
{
    const struct rp_det_comm *comm = rp_det_comm_with(id);

    if (comm)
        put_comm(text, comm);
    else if (rp_det_is_file(id))
        rp_buffer_printf(text, " on a file");
}

static void put_meeting(struct rp_buffer *text, const struct rp_shared_collective *meeting)
{
    rp_shared_put_missing(text, meeting);
    rp_det_put_comm_with(text, meeting->comm);
}

static void put_receive(struct rp_buffer *text, const struct rp_det_receive *receive)
{
    if (receive->source == MPI_ANY_SOURCE)
        rp_buffer_printf(text, "a message from any rank");
    else
        rp_buffer_printf(text, "a message from rank %u", receive->world);
    if (receive->tag == MPI_ANY_TAG)
        rp_buffer_printf(text, " with any tag");
    else
        rp_buffer_printf(text, " with tag %d", receive->tag);
    put_comm(text, receive->comm);
}

static void put_request(struct rp_buffer *text, const struct rp_det_request *own)
{
    if (own->kind == RP_DET_SEND && own->is_persistent)
        own = rp_det_request_find(own->receive.real);
    if (!own || own->kind == RP_DET_FOREIGN)
        rp_buffer_printf(text, "a request of MPI's own");
    else if (own->kind == RP_DET_SEND)
        rp_buffer_printf(text, "rank %u to receive its message with tag %d", own->dest,
                         own->note->tag);
    else if (own->kind == RP_DET_RECEIVE)
        put_receive(text, &own->receive);
    else if (own->meeting)
        put_meeting(text, own->meeting);
    else
        rp_buffer_printf(text, "a collective call");
}

/* Those that nothing has come for. */
static bool is_open(MPI_Request handle)
{
    const struct rp_det_request *own =
        handle == rp_constant.request_null ? NULL : rp_det_request_find(handle);

    return own && own->is_active && !own->is_cancelled &&
           !(own->kind == RP_DET_RECEIVE && own->receive.is_known) &&
           !(own->kind == RP_DET_MEETS && own->meeting && rp_shared_is_complete(own->meeting));
}

static void put_requests(struct rp_buffer *text, const struct rp_det_wait *wait)
{
    enum { MOST = 6 };
    bool is_first_of = !strcmp(wait->what, "MPI_Waitany") || !strcmp(wait->what, "MPI_Waitsome");
    int open = 0, told = 0;

    for (int i = 0; i < wait->count; i++)
        open += is_open(wait->requests[i]);
    rp_buffer_printf(text, open < 2 ? "for " : is_first_of ? "for one of: " : "for all of: ");
    for (int i = 0; i < wait->count && told < MOST; i++)
        if (is_open(wait->requests[i])) {
            rp_buffer_printf(text, told++ ? "; " : "");
            put_request(text, rp_det_request_find(wait->requests[i]));
        }
    if (open > told)
        rp_buffer_printf(text, "; and %d more", open - told);
}

void rp_det_put_wait(struct rp_buffer *text, const struct rp_det_wait *wait)
{
    if (wait->requests) {
        put_requests(text, wait);
    } else if (wait->receive || wait->probe) {
        rp_buffer_printf(text, "for ");
        put_receive(text, wait->receive ? wait->receive : wait->probe);
    } else if (wait->kind == RP_SHARED_TAKER) {
        rp_buffer_printf(text, "until rank %u receives its message with tag %d", wait->target,
                         rp_shared_note(wait->object)->tag);
    } else if (wait->kind == RP_SHARED_MEETING) {
        rp_buffer_printf(text, "for ");
        put_meeting(text, rp_shared_meeting_at(wait->object));
    }
}

void rp_det_tell_wait(const struct rp_det_wait *wait)
{
    struct rp_buffer text = {0};

    if (!wait || wait->runs || atomic_load(&rp_shared_side.own->is_told))
        return;
    rp_det_put_wait(&text, wait);
    rp_det_put_place(&text, rp_shared_side.rank, rp_det_site());
    rp_buffer_byte(&text, 0);
    if (!text.failed)
        snprintf(rp_shared_side.own->story, sizeof rp_shared_side.own->story, "%s",
                 (char *)text.bytes);
    atomic_store(&rp_shared_side.own->is_told, 1);
    rp_buffer_free(&text);
}

/* Whether a rank that never goes on may still put into words what it waits for. */
static bool may_tell(uint32_t rank, uint64_t bound)
{
    const struct rp_shared_rank *state = &rp_shared_side.all[rank];

    return bound == RP_SEND_NEVER && rp_shared_clock_of(rank) != RP_SEND_NEVER &&
           !rp_shared_is_away(rank) && atomic_load(&state->wait) != RP_SHARED_DEAF &&
           !atomic_load(&state->is_told);
}

static bool are_words_missing(const uint64_t *bounds)
{
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        if (may_tell(i, bounds[i]))
            return true;
    return false;
}

static void await_words(const uint64_t *bounds)
{
    enum { ROUNDS = 1000 }; /* lines of source may take long to find */
    struct timespec pause = {0, 10000000};

    for (int i = 0; i < ROUNDS && are_words_missing(bounds); i++)
        nanosleep(&pause, NULL);
}

void rp_det_say_deadlock(void)
{
    struct rp_buffer text = {0};
    struct rp_deadlock_cycle knot = {.chain = calloc(rp_shared_side.ranks, sizeof *knot.chain)};

    if (!knot.chain)
        rp_bug(__FILE__, __LINE__, "out of memory for a deadlock");
    const uint64_t *bounds = rp_shared_knot(&knot);
    await_words(bounds);
    if (knot.count == 0)
        knot.chain[knot.count++] = rp_shared_side.rank;
    rp_buffer_printf(&text, "deadlock in %s: ", rp_shared_side.all[knot.chain[0]].what);
    rp_shared_describe(&text, &knot, bounds, rp_det_put_comm_with);
    rp_buffer_byte(&text, 0);
    if (!text.failed)
        rp_error("%s", (char *)text.bytes);
    rp_buffer_free(&text);
    free(knot.chain);
}
