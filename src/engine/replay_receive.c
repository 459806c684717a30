/* SPDX-License-Identifier: MIT */
/*
 * Receives and probes of a replay. A wildcard receive is posted with the source and tag that it
 * matched in the record; by MPI's non-overtaking rule it can then only take the message that it
 * took before.
 */
#include "engine/wakeup.h"
#include "engine/return_codes.h"
#include "engine/replay_calls.h"
#include "engine/replay_cursor.h"
#include "engine/replay_end.h"
#include "engine/replay_follow.h"
#include "engine/replay_shuffle.h"
#include "engine/placeholder_requests.h"
#include "engine/replay_wait.h"
#include "entry/comms.h"
#include "preload/constants.h"
#include "entry/request_notes.h"
#include "entry/thread_state.h"
#include "entry/threads.h"

static int largest_tag;

void rp_replay_receive_start(void)
{
    int *largest = NULL, found = 0;

    rp_pmpi.Comm_get_attr(rp_constant.world, MPI_TAG_UB, &largest, &found);
    largest_tag = found ? *largest : 32767;
}
/* Receives */

static bool is_wild(const struct rp_envelope *e)
{
    return RP_IS_WILD(e->asked_source, e->asked_tag);
}

static void note_asked(struct rp_envelope *e)
{
    e->asked_source = e->source;
    e->asked_tag = e->tag;
    e->asked_comm = e->comm;
}

/* Only where asking cannot itself be an error: that is the real call's to make. */
static bool can_probe(int source, int tag, MPI_Comm comm)
{
    return source >= 0 && tag >= 0 && tag <= largest_tag && source < rp_comms_peers(comm);
}

void rp_replay_receive_begin(const struct rp_call *call, struct rp_envelope *e)
{
    rp_replay_call_begins();
    note_asked(e);
    if (!is_wild(e)) {
        if (!e->sends && can_probe(e->source, e->tag, e->comm))
            rp_await_message(call, e->source, e->tag, e->comm);
        return;
    }
    if (e->status == MPI_STATUS_IGNORE)
        e->status = &e->own_status;
    const struct rp_event *event =
        rp_follow_expect(call, rp_comms_expected(e->comm), RP_KIND(RP_RECV) | RP_KIND(RP_ERROR));
    if (!event || event->kind == RP_ERROR)
        return;
    e->source = event->match.source;
    e->tag = event->match.tag;
    if (!e->sends)
        rp_await_message(call, e->source, e->tag, e->comm);
}

static void observe_envelope(const struct rp_call *call, uint32_t kind, MPI_Comm comm,
                             const MPI_Status *status, int rc)
{
    if (rp_return_code_matched(rc))
        rp_follow_observe(call, kind, rp_comms_number(comm), status->MPI_SOURCE, status->MPI_TAG,
                          0);
    else
        rp_follow_observe(call, RP_ERROR, 0, rp_return_code_class(rc), 0, 0);
}

void rp_replay_receive_end(const struct rp_call *call, struct rp_envelope *e, int rc)
{
    if (is_wild(e) && !rp_replay_is_free())
        observe_envelope(call, RP_RECV, e->comm, e->status, rc);
    rp_replay_call_ends();
}

/* Only what the program left open is filled in: wrong arguments stay wrong. */
static void take_match(struct rp_envelope *e, int source, int tag)
{
    if (e->source == MPI_ANY_SOURCE)
        e->source = source;
    if (e->tag == MPI_ANY_TAG)
        e->tag = tag;
}

/*
 * MPI_Recv. With Open MPI, a receive that is posted finds its message sooner than a probe, and the
 * library need not keep it. With MPICH it makes no difference, and asking after a request whose
 * message was too long raises an error in the wrong place.
 */
static int receive_quietly(const struct rp_call *call, const struct rp_envelope *e,
                           const struct rp_buffer_args *b, MPI_Status *seen)
{
#ifdef OPEN_MPI
    MPI_Request request;
    int rc = rp_pmpi.Irecv(b->buf, (int)b->count, b->type, e->source, e->tag, e->comm, &request);

    if (rc != MPI_SUCCESS)
        return rc;
    rp_await_receive(call, request, e);
    return rp_pmpi.Wait(&request, seen);
#else
    rp_await_message(call, e->source, e->tag, e->comm);
    return call->next->Recv(b->buf, (int)b->count, b->type, e->source, e->tag, e->comm, seen);
#endif
}

int rp_replay_receive(const struct rp_call *call, struct rp_envelope *e,
                      const struct rp_buffer_args *b)
{
    int instead = MPI_ANY_SOURCE;
    struct rp_event recorded;
    MPI_Status own, *seen = e->status == MPI_STATUS_IGNORE ? &own : e->status;
    const struct rp_event *event = NULL;
    int rc;

    rp_replay_call_begins();
    note_asked(e);
    if (is_wild(e))
        event = rp_follow_expect(call, rp_comms_expected(e->comm),
                                 RP_KIND(RP_RECV) | RP_KIND(RP_ERROR));
    bool fails = event && event->kind == RP_ERROR;
    if (event && !fails) {
        recorded = *event; /* looking ahead may move it */
        event = &recorded;
        if (e->source == MPI_ANY_SOURCE)
            instead = rp_shuffle_source(event);
        take_match(e, instead == MPI_ANY_SOURCE ? event->match.source : instead, event->match.tag);
        rp_comms_number(e->comm); /* it has one now */
    }
    if (!fails && !rp_replay_is_free() && can_probe(e->source, e->tag, e->comm))
        rc = receive_quietly(call, e, b, seen);
    else
        rc = call->next->Recv(b->buf, (int)b->count, b->type, e->source, e->tag, e->comm, seen);
    if (event && instead != MPI_ANY_SOURCE && rp_return_code_matched(rc) &&
        seen->MPI_SOURCE == instead) {
        MPI_Status as_recorded = *seen;
        as_recorded.MPI_SOURCE = event->match.source;
        observe_envelope(call, RP_RECV, e->comm, &as_recorded, rc);
    } else if (event)
        observe_envelope(call, RP_RECV, e->comm, seen, rc);
    rp_replay_call_ends();
    return rc;
}

/* An error, for the real call to find. */
static bool is_wrong(const struct rp_envelope *e)
{
    int peers = e->comm == rp_constant.comm_null ? 0 : rp_comms_peers(e->comm);

    return e->comm == rp_constant.comm_null || (e->tag < 0 && e->tag != MPI_ANY_TAG) ||
           e->tag > largest_tag ||
           (e->source != MPI_ANY_SOURCE && e->source != MPI_PROC_NULL &&
            (e->source < 0 || (peers > 0 && e->source >= peers)));
}

void rp_replay_post_begin(const struct rp_call *call, struct rp_envelope *e,
                          const struct rp_buffer_args *b)
{
    struct rp_match match;

    (void)call;
    rp_replay_call_begins();
    note_asked(e);
    e->post = rp_state.posts++;
    e->note = NULL;
    if (rp_replay_is_free())
        return;
    if (is_wrong(e))
        return;
    bool found = rp_cursor_match(e->post, &match);
    if (found && match.kind != RP_CANCELLED) {
        take_match(e, match.source, match.tag);
    } else if (found || is_wild(e)) {
        e->note = rp_placeholder_keep(e, b);
        rp_placeholder_make_ghost(e);
    }
}

void rp_replay_post_end(const struct rp_call *call, struct rp_envelope *e, int rc,
                        MPI_Request *request)
{
    (void)call;
    rp_replay_call_ends();
    if (rc != MPI_SUCCESS) {
        rp_placeholder_fail(e->note);
        return;
    }
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, *request);
    rp_placeholder_forget(entry);
    entry->post = e->post;
    entry->flags =
        RP_REQUEST_RECEIVE | (is_wild(e) ? RP_REQUEST_WILD : 0) | (e->note ? RP_REQUEST_GHOST : 0);
    entry->note = e->note;
    entry->source = e->source;
    entry->tag = e->tag;
}

void rp_replay_persistent_begin(const struct rp_call *call, struct rp_envelope *e,
                                const struct rp_buffer_args *b)
{
    (void)call;
    rp_replay_call_begins();
    note_asked(e);
    e->note = rp_placeholder_keep(e, b);
    if (is_wild(e) && !is_wrong(e) && !rp_replay_is_free())
        rp_placeholder_make_ghost(e);
}

void rp_replay_persistent_end(const struct rp_call *call, struct rp_envelope *e, int rc,
                              MPI_Request *request)
{
    (void)call;
    rp_replay_call_ends();
    if (rc != MPI_SUCCESS) {
        struct rp_request unused = {.note = e->note};
        e->comm != e->asked_comm ? rp_placeholder_fail(e->note) : rp_placeholder_forget(&unused);
        return;
    }
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, *request);
    rp_placeholder_forget(entry);
    entry->flags =
        RP_REQUEST_PERSISTENT | (is_wild(e) && e->comm != e->asked_comm ? RP_REQUEST_WILD : 0);
    entry->note = e->note;
    entry->source = e->asked_source;
    entry->tag = e->asked_tag;
    rp_state.persistent++;
}

/* A persistent receive: through an inner request if its match is not what it asked for. */
static int start_receive(const struct rp_call *call, struct rp_request *entry, MPI_Request *request)
{
    struct rp_match match;
    bool found = !rp_replay_is_free() && rp_cursor_match(rp_state.posts, &match);
    bool matched = found && match.kind != RP_CANCELLED;
    int rc;

    entry->flags &= ~(uint64_t)(RP_REQUEST_GHOST | RP_REQUEST_CANCELLING);
    if (entry->flags & RP_REQUEST_WILD || (found && !matched)) {
        rc = rp_placeholder_start(entry, matched ? &match : NULL);
        entry->flags |= matched ? 0 : RP_REQUEST_GHOST;
    } else {
        rc = call->next->Start(request);
    }
    entry->post = rp_state.posts++;
    entry->flags |= RP_REQUEST_RECEIVE;
    if (matched) {
        entry->source = match.source;
        entry->tag = match.tag;
    }
    if (rp_replay_is_free() && entry->flags & RP_REQUEST_GHOST)
        rp_placeholder_release();
    return rc;
}

int rp_replay_Start(const struct rp_call *call, MPI_Request *request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, *request);
    int rc;

    rp_replay_call_begins();
    if (entry && entry->flags & RP_REQUEST_PERSISTENT)
        rc = start_receive(call, entry, request);
    else
        rc = call->next->Start(request);
    if (!rp_threads_on)
        rp_wakeup_ring_all();
    rp_replay_call_ends();
    return rc;
}

int rp_replay_Startall(const struct rp_call *call, int count, MPI_Request *requests)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = rp_replay_Start(call, &requests[i]);
    return rc;
}

/* Probes */

/* Probe, or Mprobe where there is a `message`. */
static int probe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                 MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    bool has_event = RP_IS_WILD(source, tag) || rp_threads_on;
    const struct rp_event *event = NULL;

    rp_replay_call_begins();
    if (has_event)
        event =
            rp_follow_expect(call, rp_comms_expected(comm), RP_KIND(RP_PROBE) | RP_KIND(RP_ERROR));
    if (event && event->kind == RP_PROBE) {
        source = event->match.source;
        tag = event->match.tag;
        rp_await_message(call, source, tag, comm);
    } else if (!has_event && can_probe(source, tag, comm)) {
        rp_await_message(call, source, tag, comm);
    }
    int rc = message ? call->next->Mprobe(source, tag, comm, message, seen)
                     : call->next->Probe(source, tag, comm, seen);
    if (event)
        observe_envelope(call, RP_PROBE, comm, seen, rc);
    rp_replay_call_ends();
    return rc;
}

int rp_replay_Probe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                    MPI_Status *status)
{
    return probe(call, source, tag, comm, NULL, status);
}

int rp_replay_Mprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                     MPI_Message *message, MPI_Status *status)
{
    return probe(call, source, tag, comm, message, status);
}

enum { POLL_KINDS = 1u << RP_NO | 1u << RP_PROBE | 1u << RP_ERROR };

/* Iprobe, or Improbe where there is a `message`. */
static int poll_probe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                      MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = MPI_SUCCESS;

    rp_replay_call_begins();
    const struct rp_event *event = rp_follow_expect(call, rp_comms_expected(comm), POLL_KINDS);
    if (event && event->kind == RP_NO) {
        *flag = 0;
        rp_comms_number(comm); /* it has one now */
        rp_answer_no();
        rp_replay_call_ends();
        return rc;
    }
    if (event && event->kind == RP_PROBE) {
        source = event->match.source;
        tag = event->match.tag;
        rp_await_message(call, source, tag, comm);
    }
    rc = message ? call->next->Improbe(source, tag, comm, flag, message, seen)
                 : call->next->Iprobe(source, tag, comm, flag, seen);
    if (event)
        observe_envelope(call, RP_PROBE, comm, seen, rc);
    rp_replay_call_ends();
    return rc;
}

int rp_replay_Iprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                     MPI_Status *status)
{
    return poll_probe(call, source, tag, comm, flag, NULL, status);
}

int rp_replay_Improbe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                      MPI_Message *message, MPI_Status *status)
{
    return poll_probe(call, source, tag, comm, flag, message, status);
}
