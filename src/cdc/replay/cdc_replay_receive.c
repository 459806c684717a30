/* SPDX-License-Identifier: MIT */
/* Receives and probes of a replay by clocks, and how a receive gets its message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "cdc/replay/cdc_replay_calls.h"
#include "cdc/replay/cdc_replay_state.h"
#include "preload/constants.h"
#include "entry/request_notes.h"

/* Giving a message */

static bool fits(const struct rp_pooled *message, MPI_Comm comm, int source, int tag)
{
    return message->comm == comm && (source == MPI_ANY_SOURCE || source == message->source) &&
           (tag == MPI_ANY_TAG || tag == message->tag);
}

/* Into a buffer of the program, by MPI itself: so that types, counts and errors are right. */
static int deliver_now(const struct rp_call *call, struct rp_pooled *message,
                       const struct rp_envelope *e, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    if (!fits(message, e->asked_comm, e->asked_source, e->asked_tag))
        rp_cdc_replay_diverge(call, "its message is not one that this receive can take");
    reprise_piggyback_pause(1);
    int rc = rp_pmpi.Sendrecv(message->payload, (int)message->length, rp_constant.byte, 0,
                              rp_cdc_replay.largest_tag, e->buf, (int)e->count, e->type, 0,
                              rp_cdc_replay.largest_tag, rp_cdc_replay.own, seen);
    reprise_piggyback_pause(-1);
    seen->MPI_SOURCE = message->source;
    seen->MPI_TAG = message->tag;
    rp_pool_drop(message);
    if (rc != MPI_SUCCESS)
        rp_pmpi.Comm_call_errhandler(e->asked_comm, rc);
    return rc;
}

struct rp_receipt *rp_cdc_replay_receipt(MPI_Request request)
{
    struct rp_request *entry =
        request == rp_constant.request_null ? NULL : rp_requests_find(&rp_state.requests, request);

    return entry && entry->flags & RP_REQUEST_RECEIVE ? entry->note : NULL;
}

void rp_cdc_replay_deliver(const struct rp_call *call, struct rp_pooled *message,
                           MPI_Request request)
{
    struct rp_receipt *receipt = rp_cdc_replay_receipt(request);
    MPI_Request sent;
    int done = 0;

    if (!receipt || receipt->is_given ||
        !fits(message, receipt->comm, receipt->source, receipt->tag))
        rp_cdc_replay_diverge(call, "its message is not one that this request can take");
    receipt->is_given = true;
    receipt->given_source = message->source;
    receipt->given_tag = message->tag;
    reprise_piggyback_pause(1);
    rp_pmpi.Isend(message->payload, (int)message->length, rp_constant.byte, 0, receipt->own_tag,
                  rp_cdc_replay.own, &sent);
    while (rp_pmpi.Test(&sent, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        ;
    reprise_piggyback_pause(-1);
    rp_pool_drop(message);
}

/* The receive is no longer under way. */
static void settle(MPI_Request request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);
    struct rp_receipt *receipt = entry->note;

    receipt->next->previous = receipt->previous;
    receipt->previous->next = receipt->next;
    receipt->is_given = false;
    entry->flags &= RP_REQUEST_PERSISTENT;
    if (!entry->flags) {
        free(receipt);
        entry->note = NULL;
    }
}

static void open_receipt(struct rp_receipt *receipt)
{
    receipt->previous = rp_cdc_replay.under_way.previous;
    receipt->next = &rp_cdc_replay.under_way;
    receipt->previous->next = receipt;
    rp_cdc_replay.under_way.previous = receipt;
}

int rp_cdc_replay_complete_request(const struct rp_call *call, MPI_Request *request,
                                   MPI_Status *status)
{
    MPI_Request before = *request;
    struct rp_receipt *receipt = rp_cdc_replay_receipt(before);
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int done = 0, rc;

    while ((rc = rp_pmpi.Test(request, &done, seen)) == MPI_SUCCESS && !done)
        rp_cdc_replay_rest(call->function, "a request of its own (a send, or a collective)");
    rp_cdc_replay_rested();
    if (!receipt)
        return rc;
    if (receipt->is_given) {
        seen->MPI_SOURCE = receipt->given_source;
        seen->MPI_TAG = receipt->given_tag;
    }
    if (rc != MPI_SUCCESS)
        rp_pmpi.Comm_call_errhandler(receipt->comm, rc);
    settle(before);
    return rc;
}

/* Receives */

static bool is_wrong(const struct rp_envelope *e)
{
    int peers, is_inter = 0;

    if (e->comm == rp_constant.comm_null || (e->tag < 0 && e->tag != MPI_ANY_TAG) ||
        e->tag > rp_cdc_replay.largest_tag)
        return true;
    rp_pmpi.Comm_test_inter(e->comm, &is_inter);
    is_inter ? rp_pmpi.Comm_remote_size(e->comm, &peers) : rp_pmpi.Comm_size(e->comm, &peers);
    return e->source != MPI_ANY_SOURCE && (e->source < 0 || e->source >= peers);
}

static void note_asked(struct rp_envelope *e)
{
    e->asked_source = e->source;
    e->asked_tag = e->tag;
    e->asked_comm = e->comm;
    e->note = NULL;
}

/* The message of a blocking receive; NULL: it failed, and the real call is to fail again. */
static struct rp_pooled *receive_message(const struct rp_call *call)
{
    struct rp_answer answer = rp_cdc_replay_next(call);
    int32_t index;

    if (answer.kind == RP_ROW_OTHER && answer.other.kind == RP_ERROR) {
        rp_cdc_replay_pass(call, -1);
        return NULL;
    }
    if (answer.kind != RP_ROW_MESSAGE)
        rp_cdc_replay_diverge(call, "a receive");
    return rp_cdc_replay_hand_out(call, &answer, &index);
}

int rp_cdc_replay_receive(const struct rp_call *call, struct rp_envelope *e,
                          const struct rp_buffer_args *b)
{
    struct rp_pooled *message = NULL;

    rp_cdc_replay_call_begins();
    note_asked(e);
    e->buf = b->buf;
    e->count = b->count;
    e->type = b->type;
    if (e->source != MPI_PROC_NULL && !is_wrong(e)) {
        rp_pool_know(e->comm);
        message = receive_message(call);
    }
    int rc = message ? deliver_now(call, message, e, e->status)
                     : call->next->Recv(b->buf, (int)b->count, b->type, e->source, e->tag, e->comm,
                                        e->status);
    rp_cdc_replay_call_ends();
    return rc;
}

/* The real call only sends: as if nobody was to be received from. */
void rp_cdc_replay_receive_begin(const struct rp_call *call, struct rp_envelope *e)
{
    (void)call;
    rp_cdc_replay_call_begins();
    note_asked(e);
    if (e->source == MPI_PROC_NULL || is_wrong(e))
        return;
    rp_pool_know(e->comm);
    e->source = MPI_PROC_NULL;
    e->note = e;
}

void rp_cdc_replay_receive_end(const struct rp_call *call, struct rp_envelope *e, int rc)
{
    struct rp_pooled *message = e->note && rc == MPI_SUCCESS ? receive_message(call) : NULL;

    if (message)
        deliver_now(call, message, e, e->status);
    rp_cdc_replay_call_ends();
}

/* Posts it where only we send to. */
static void redirect(struct rp_envelope *e)
{
    struct rp_receipt *receipt = calloc(1, sizeof *receipt);

    if (!receipt)
        rp_bug(__FILE__, __LINE__, "out of memory for a receive");
    rp_pool_know(e->comm);
    rp_cdc_replay.next_tag =
        rp_cdc_replay.next_tag + 1 < rp_cdc_replay.largest_tag ? rp_cdc_replay.next_tag + 1 : 0;
    *receipt = (struct rp_receipt){.comm = e->comm,
                                   .source = e->source,
                                   .tag = e->tag,
                                   .own_tag = rp_cdc_replay.next_tag};
    e->note = receipt;
    e->comm = rp_cdc_replay.own;
    e->source = 0;
    e->tag = receipt->own_tag;
    reprise_piggyback_pause(1);
}

void rp_cdc_replay_post_begin(const struct rp_call *call, struct rp_envelope *e,
                              const struct rp_buffer_args *b)
{
    (void)call;
    (void)b;
    rp_cdc_replay_call_begins();
    note_asked(e);
    e->post = rp_state.posts++;
    if (e->source != MPI_PROC_NULL && !is_wrong(e))
        redirect(e);
}

/* The handle's entry; NULL: it is not ours, or there is none. */
static struct rp_request *redirected(struct rp_envelope *e, int rc, MPI_Request *request)
{
    if (e->note)
        reprise_piggyback_pause(-1);
    rp_cdc_replay_call_ends();
    if (rc != MPI_SUCCESS) {
        free(e->note);
        return NULL;
    }
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, *request);
    entry->flags = 0;
    entry->note = e->note;
    entry->post = e->post;
    return e->note ? entry : NULL;
}

void rp_cdc_replay_post_end(const struct rp_call *call, struct rp_envelope *e, int rc,
                            MPI_Request *request)
{
    (void)call;
    struct rp_request *entry = redirected(e, rc, request);

    if (!entry)
        return;
    entry->flags = RP_REQUEST_RECEIVE;
    open_receipt(entry->note);
}

void rp_cdc_replay_persistent_begin(const struct rp_call *call, struct rp_envelope *e,
                                    const struct rp_buffer_args *b)
{
    (void)call;
    (void)b;
    rp_cdc_replay_call_begins();
    note_asked(e);
    if (e->source != MPI_PROC_NULL && !is_wrong(e))
        redirect(e);
}

void rp_cdc_replay_persistent_end(const struct rp_call *call, struct rp_envelope *e, int rc,
                                  MPI_Request *request)
{
    (void)call;
    struct rp_request *entry = redirected(e, rc, request);

    if (!entry)
        return;
    entry->flags = RP_REQUEST_PERSISTENT;
    rp_state.persistent++;
}

int rp_cdc_replay_Start(const struct rp_call *call, MPI_Request *request)
{
    rp_cdc_replay_call_begins();
    int rc = call->next->Start(request);
    struct rp_request *entry =
        rc == MPI_SUCCESS ? rp_requests_find(&rp_state.requests, *request) : NULL;
    if (entry && entry->flags & RP_REQUEST_PERSISTENT) {
        entry->post = rp_state.posts++;
        entry->flags = RP_REQUEST_PERSISTENT | RP_REQUEST_RECEIVE;
        open_receipt(entry->note);
    }
    rp_cdc_replay_call_ends();
    return rc;
}

int rp_cdc_replay_Startall(const struct rp_call *call, int count, MPI_Request *requests)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = rp_cdc_replay_Start(call, &requests[i]);
    return rc;
}

/* Probes */

static void fill_status(const struct rp_pooled *message, MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    memset(status, 0, sizeof *status);
    status->MPI_SOURCE = message->source;
    status->MPI_TAG = message->tag;
    rp_pmpi.Status_set_elements_x(status, rp_constant.byte, (MPI_Count)message->length);
}

/* Receives under way that would take the message before a probe sees it. */
static const struct rp_pooled *first_unclaimed(int source, int tag, MPI_Comm comm)
{
    const struct rp_pooled *message = rp_pool_after(NULL, source, tag, comm);

    for (struct rp_receipt *r = rp_cdc_replay.under_way.next; r != &rp_cdc_replay.under_way;
         r = r->next) {
        if (r->is_given || r->comm != comm ||
            (r->source != MPI_ANY_SOURCE && source != MPI_ANY_SOURCE && r->source != source) ||
            (r->tag != MPI_ANY_TAG && tag != MPI_ANY_TAG && r->tag != tag))
            continue;
        if (RP_IS_WILD(r->source, r->tag) || r->source != source || r->tag != tag)
            rp_cdc_replay_refuse(
                "a probe while a receive is under way that could take its message");
        message = message ? rp_pool_after(message, source, tag, comm) : NULL;
    }
    return message;
}

/*
 * A probe does not move the clock on, so that what the rank sends between it and the receive has a
 * clock that nobody can bound from below. Programs do not usually send there: the others may take
 * it that the message is received next. If not, rp_pool_fault finds out.
 *
 * So who waits in a probe waits, for the others, for the message that its record has next. Nothing
 * less will do: a rank that only says which messages it has, of which the first is to be received
 * later, keeps those waiting whose messages it waits for.
 */
static void publish_probe(bool waits)
{
    struct rp_answer next = rp_cdc_replay_rows_next_message();

    rp_cdc_replay_begin();
    rp_cdc_replay_set_clock(reprise_piggyback_clock());
    rp_pool_want(&next);
    rp_cdc_replay_set_waits(waits);
    rp_cdc_replay_end();
}

static void probe_message(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                          MPI_Status *status)
{
    const struct rp_pooled *message;
    char what[96];

    snprintf(what, sizeof what, "a message from rank %d with tag %d", source, tag);
    rp_pool_know(comm);
    rp_pool_poll();
    publish_probe(true);
    rp_cdc_replay.certain = RP_CERTAIN_MESSAGE;
    while (!(message = first_unclaimed(source, tag, comm)))
        rp_cdc_replay_rest(call->function, what);
    rp_cdc_replay_rested();
    publish_probe(false);
    fill_status(message, status);
}

int rp_cdc_replay_Probe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                        MPI_Status *status)
{
    rp_cdc_replay_call_begins();
    if (RP_IS_WILD(source, tag)) {
        struct rp_answer answer = rp_cdc_replay_next(call);
        if (answer.kind != RP_ROW_OTHER || answer.other.kind != RP_PROBE)
            rp_cdc_replay_diverge(call, "a probe");
        rp_cdc_replay_pass(call, -1);
        source = answer.other.match.source;
        tag = answer.other.match.tag;
    }
    int rc = MPI_SUCCESS;
    if (source == MPI_PROC_NULL)
        rc = call->next->Probe(source, tag, comm, status);
    else
        probe_message(call, source, tag, comm, status);
    rp_cdc_replay_call_ends();
    return rc;
}

int rp_cdc_replay_Iprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                         MPI_Status *status)
{
    rp_cdc_replay_call_begins();
    struct rp_answer answer = rp_cdc_replay_next(call);
    int rc = MPI_SUCCESS;
    bool found = answer.kind == RP_ROW_OTHER && answer.other.kind == RP_PROBE;

    if (answer.kind != RP_ROW_UNMATCHED && !found)
        rp_cdc_replay_diverge(call, "a probe");
    found ? rp_cdc_replay_pass(call, -1) : rp_cdc_replay_pass_no(call);
    *flag = found;
    if (found && answer.other.match.source == MPI_PROC_NULL)
        rc = call->next->Iprobe(source, tag, comm, flag, status);
    else if (found)
        probe_message(call, answer.other.match.source, answer.other.match.tag, comm, status);
    rp_cdc_replay_call_ends();
    return rc;
}

int rp_cdc_replay_Mprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm,
                         MPI_Message *message, MPI_Status *status)
{
    (void)call, (void)source, (void)tag, (void)comm, (void)message, (void)status;
    rp_cdc_replay_refuse("MPI_Mprobe");
}

int rp_cdc_replay_Improbe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                          MPI_Message *message, MPI_Status *status)
{
    (void)call, (void)source, (void)tag, (void)comm, (void)flag, (void)message, (void)status;
    rp_cdc_replay_refuse("MPI_Improbe");
}

void rp_cdc_replay_received_matched(const struct rp_call *call)
{
    rp_cdc_replay_refuse(call->function);
}
