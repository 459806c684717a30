/* SPDX-License-Identifier: MIT */
/*
 * Replay. A wildcard receive is posted with the source and tag that it matched in the record; by MPI's non-overtaking rule it can then only take the message
 * that it took before. A completion call waits for exactly the requests that it found before, and a recorded 'no' is answered at once. Every real call is
 * made with the program's own arguments and function where possible, so that errors and error handlers are those of the record.
 *
 * Waits are made quiet: the real blocking function is called only when it can return, and until then we poll, yield and sleep. So
 * a replay does not spin on a busy machine, and a stalled one can say what it waits for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "base/settings.h"
#include "engine/doorbell.h"
#include "engine/outcome.h"
#include "engine/replay_follow.h"
#include "engine/replay_standin.h"
#include "engine/session.h"
#include "log/manifest.h"
#include "log/rundir.h"
#include "mpi/comms.h"
#include "mpi/constants.h"
#include "mpi/debugger.h"
#include "mpi/engine.h"
#include "mpi/life.h"
#include "mpi/notes.h"
#include "mpi/self.h"
#include "mpi/threads.h"
#include "reprise.h"

/* Room for one call's requests. */
static __thread struct {
    MPI_Request *before; /* handles as the program passed them */
    MPI_Request *real;   /* with stand-ins */
    MPI_Request *subset;
    MPI_Status *statuses;
    int *indices; /* of the real call */
    int *chosen;  /* of the program's, where it has no array for them */
    size_t room;
} room;

static struct {
    struct rp_session session;
    uint64_t cancels;
    int largest_tag;
} replay;

static void reserve(int count)
{
    size_t wanted = count > 0 ? (size_t)count : 1;

    if (wanted <= room.room)
        return;
    room.before = realloc(room.before, wanted * sizeof *room.before);
    room.real = realloc(room.real, wanted * sizeof *room.real);
    room.subset = realloc(room.subset, wanted * sizeof *room.subset);
    room.statuses = realloc(room.statuses, wanted * sizeof *room.statuses);
    room.indices = realloc(room.indices, wanted * sizeof *room.indices);
    room.chosen = realloc(room.chosen, wanted * sizeof *room.chosen);
    if (!room.chosen || !room.before || !room.real || !room.subset || !room.statuses || !room.indices)
        rp_bug(__FILE__, __LINE__, "out of memory for a request array");
    room.room = wanted;
}

/* Quiet waits */

static void describe_message(char *what, size_t size, int source, int tag, MPI_Comm comm)
{
    snprintf(what, size, "a message from rank %d with tag %d on communicator %u", source, tag, rp_comms_number(comm));
}

static void await_message(const struct rp_call *call, int source, int tag, MPI_Comm comm)
{
    struct rp_patience patience = {.certain = RP_CERTAIN_MESSAGE};
    char what[96] = "";
    int flag = 0;

    while (rp_pmpi.Iprobe(source, tag, comm, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag) {
        if (!what[0] && rp_patience_is_long(&patience))
            describe_message(what, sizeof what, source, tag, comm);
        rp_patience_poll(&patience, call, what);
    }
    rp_patience_end(&patience);
}

#ifdef OPEN_MPI
static void await_receive(const struct rp_call *call, MPI_Request request, const struct rp_envelope *e)
{
    struct rp_patience patience = {.certain = RP_CERTAIN_RECEIVE};
    char what[96] = "";
    int flag = 0;

    while (rp_pmpi.Request_get_status(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag) {
        if (!what[0] && rp_patience_is_long(&patience))
            describe_message(what, sizeof what, e->source, e->tag, e->comm);
        rp_patience_poll(&patience, call, what);
    }
    rp_patience_end(&patience);
}
#endif

static enum rp_certainty certainty_of(MPI_Request request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);

    return entry && entry->flags & RP_REQUEST_RECEIVE ? RP_CERTAIN_RECEIVE : RP_CERTAIN_NOT;
}

static void describe_request(MPI_Request request, char *what, size_t size)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);

    if (entry && entry->flags & RP_REQUEST_RECEIVE)
        snprintf(what, size, "its receive number %llu", (unsigned long long)entry->post);
    else
        snprintf(what, size, "a request of its own (a send, or a collective)");
}

/* A request of MPI-IO or of the program's own kind may be worked on only in the calls that complete it: asking after it would never end. */
static bool makes_its_own_progress(MPI_Request request)
{
    struct rp_request *entry = rp_self.always & RP_ALWAYS_CALLBACKS ? rp_requests_find(&rp_state.requests, request) : NULL;

    return rp_self.always & RP_ALWAYS_CALLBACKS && !(entry && entry->flags & RP_REQUEST_RECEIVE);
}

/* Polls on. Other threads must not find our error handler. */
static void rest(struct rp_patience *patience, const struct rp_call *call, const char *what)
{
    if (!rp_threads_on) {
        rp_patience_poll(patience, call, what);
        return;
    }
    rp_quiet_end();
    rp_patience_poll(patience, call, what);
    rp_quiet_begin();
}

static void await_request(const struct rp_call *call, MPI_Request request)
{
    MPI_Request real = rp_standin_real(request);
    struct rp_patience patience = {.certain = certainty_of(request)};
    char what[96] = "";
    int flag = 0;

    if (real == rp_constant.request_null || makes_its_own_progress(request))
        return;
    rp_quiet_begin();
    while (rp_pmpi.Request_get_status(real, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag) {
        if (!what[0] && rp_patience_is_long(&patience))
            describe_request(request, what, sizeof what);
        rest(&patience, call, what);
    }
    rp_quiet_end();
    rp_patience_end(&patience);
}

static bool is_ghost(MPI_Request request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);

    return entry && entry->flags & RP_REQUEST_GHOST && !(entry->flags & RP_REQUEST_CANCELLING);
}

/* A request that never completed in the record: the record ends in this call. */
static void stop_at_ghost(const struct rp_call *call, MPI_Request request)
{
    struct rp_patience patience = {0};

    while (is_ghost(request) && !rp_follow_is_free()) {
        if (!rp_threads_on || rp_follow_is_over()) {
            rp_follow_end_of_record(call);
            break;
        }
        rp_patience_poll(&patience, call, "the end of the record"); /* another thread may cancel it, or has events left */
    }
    rp_patience_end(&patience);
}

static void begin(void)
{
    rp_self.depth++;
}

static void end(void)
{
    rp_self.depth--;
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
    return source >= 0 && tag >= 0 && tag <= replay.largest_tag && source < rp_comms_peers(comm);
}

static void replay_receive_begin(const struct rp_call *call, struct rp_envelope *e)
{
    begin();
    note_asked(e);
    if (!is_wild(e)) {
        if (!e->sends && can_probe(e->source, e->tag, e->comm))
            await_message(call, e->source, e->tag, e->comm);
        return;
    }
    if (e->status == MPI_STATUS_IGNORE)
        e->status = &e->own_status;
    const struct rp_event *event = rp_follow_expect(call, rp_comms_expected(e->comm), RP_KIND(RP_RECV) | RP_KIND(RP_ERROR));
    if (!event || event->kind == RP_ERROR)
        return;
    e->source = event->a;
    e->tag = event->b;
    if (!e->sends)
        await_message(call, e->source, e->tag, e->comm);
}

static void observe_envelope(const struct rp_call *call, uint32_t kind, MPI_Comm comm, const MPI_Status *status, int rc)
{
    if (rp_outcome_matched(rc))
        rp_follow_observe(call, kind, rp_comms_number(comm), status->MPI_SOURCE, status->MPI_TAG, 0);
    else
        rp_follow_observe(call, RP_ERROR, 0, rp_outcome_class(rc), 0, 0);
}

static void replay_receive_end(const struct rp_call *call, struct rp_envelope *e, int rc)
{
    if (is_wild(e) && !rp_follow_is_free())
        observe_envelope(call, RP_RECV, e->comm, e->status, rc);
    end();
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
 * MPI_Recv. With Open MPI, a receive that is posted finds its message sooner than a probe, and the library need not keep it. With MPICH it makes no difference, and asking after
 * a request whose message was too long raises an error in the wrong place.
 */
static int receive_quietly(const struct rp_call *call, const struct rp_envelope *e, const struct rp_buffer_args *b, MPI_Status *seen)
{
#ifdef OPEN_MPI
    MPI_Request request;
    int rc = rp_pmpi.Irecv(b->buf, (int)b->count, b->type, e->source, e->tag, e->comm, &request);

    if (rc != MPI_SUCCESS)
        return rc;
    await_receive(call, request, e);
    return rp_pmpi.Wait(&request, seen);
#else
    await_message(call, e->source, e->tag, e->comm);
    return call->next->Recv(b->buf, (int)b->count, b->type, e->source, e->tag, e->comm, seen);
#endif
}

static int replay_receive(const struct rp_call *call, struct rp_envelope *e, const struct rp_buffer_args *b)
{
    MPI_Status own, *seen = e->status == MPI_STATUS_IGNORE ? &own : e->status;
    const struct rp_event *event = NULL;
    int rc;

    begin();
    note_asked(e);
    if (is_wild(e))
        event = rp_follow_expect(call, rp_comms_expected(e->comm), RP_KIND(RP_RECV) | RP_KIND(RP_ERROR));
    bool fails = event && event->kind == RP_ERROR;
    if (event && !fails) {
        take_match(e, event->a, event->b);
        rp_comms_number(e->comm); /* it has one now */
    }
    if (!fails && !rp_follow_is_free() && can_probe(e->source, e->tag, e->comm))
        rc = receive_quietly(call, e, b, seen);
    else
        rc = call->next->Recv(b->buf, (int)b->count, b->type, e->source, e->tag, e->comm, seen);
    if (event)
        observe_envelope(call, RP_RECV, e->comm, seen, rc);
    end();
    return rc;
}

/* An error, for the real call to find. */
static bool is_wrong(const struct rp_envelope *e)
{
    int peers = e->comm == rp_constant.comm_null ? 0 : rp_comms_peers(e->comm);

    return e->comm == rp_constant.comm_null || (e->tag < 0 && e->tag != MPI_ANY_TAG) || e->tag > replay.largest_tag ||
           (e->source != MPI_ANY_SOURCE && e->source != MPI_PROC_NULL && (e->source < 0 || (peers > 0 && e->source >= peers)));
}

static void replay_post_begin(const struct rp_call *call, struct rp_envelope *e, const struct rp_buffer_args *b)
{
    struct rp_match match;

    (void)call;
    begin();
    note_asked(e);
    e->post = rp_state.posts++;
    e->note = NULL;
    if (rp_follow_is_free())
        return;
    if (is_wrong(e))
        return;
    bool found = rp_follow_match(e->post, &match);
    if (found && match.kind != RP_CANCELLED) {
        take_match(e, match.source, match.tag);
    } else if (found || is_wild(e)) {
        e->note = rp_standin_keep(e, b);
        rp_standin_make_ghost(e);
    }
}

static void replay_post_end(const struct rp_call *call, struct rp_envelope *e, int rc, MPI_Request *request)
{
    (void)call;
    end();
    if (rc != MPI_SUCCESS) {
        rp_standin_fail(e->note);
        return;
    }
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, *request);
    rp_standin_forget(entry);
    entry->post = e->post;
    entry->flags = RP_REQUEST_RECEIVE | (is_wild(e) ? RP_REQUEST_WILD : 0) | (e->note ? RP_REQUEST_GHOST : 0);
    entry->note = e->note;
    entry->source = e->source;
    entry->tag = e->tag;
}

static void replay_persistent_begin(const struct rp_call *call, struct rp_envelope *e, const struct rp_buffer_args *b)
{
    (void)call;
    begin();
    note_asked(e);
    e->note = rp_standin_keep(e, b);
    if (is_wild(e) && !is_wrong(e) && !rp_follow_is_free())
        rp_standin_make_ghost(e);
}

static void replay_persistent_end(const struct rp_call *call, struct rp_envelope *e, int rc, MPI_Request *request)
{
    (void)call;
    end();
    if (rc != MPI_SUCCESS) {
        struct rp_request unused = {.note = e->note};
        e->comm != e->asked_comm ? rp_standin_fail(e->note) : rp_standin_forget(&unused);
        return;
    }
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, *request);
    rp_standin_forget(entry);
    entry->flags = RP_REQUEST_PERSISTENT | (is_wild(e) && e->comm != e->asked_comm ? RP_REQUEST_WILD : 0);
    entry->note = e->note;
    entry->source = e->asked_source;
    entry->tag = e->asked_tag;
    rp_state.persistent++;
}

/* A persistent receive: through an inner request if its match is not what it asked for. */
static int start_receive(const struct rp_call *call, struct rp_request *entry, MPI_Request *request)
{
    struct rp_match match;
    bool found = rp_follow_match(rp_state.posts, &match);
    bool matched = found && match.kind != RP_CANCELLED;
    int rc;

    entry->flags &= ~(uint64_t)(RP_REQUEST_GHOST | RP_REQUEST_CANCELLING);
    if (entry->flags & RP_REQUEST_WILD || (found && !matched)) {
        rc = rp_standin_start(entry, matched ? &match : NULL);
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
    if (rp_follow_is_free() && entry->flags & RP_REQUEST_GHOST)
        rp_standin_release();
    return rc;
}

static int replay_start(const struct rp_call *call, MPI_Request *request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, *request);
    int rc;

    begin();
    if (entry && entry->flags & RP_REQUEST_PERSISTENT)
        rc = start_receive(call, entry, request);
    else
        rc = call->next->Start(request);
    if (!rp_threads_on)
        rp_doorbell_ring_all();
    end();
    return rc;
}

static int replay_startall(const struct rp_call *call, int count, MPI_Request *requests)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = replay_start(call, &requests[i]);
    return rc;
}

/* Probes */

/* Probe, or Mprobe where there is a `message`. */
static int probe(const struct rp_call *call, int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    bool told = RP_IS_WILD(source, tag) || rp_threads_on;
    const struct rp_event *event = NULL;

    begin();
    if (told)
        event = rp_follow_expect(call, rp_comms_expected(comm), RP_KIND(RP_PROBE) | RP_KIND(RP_ERROR));
    if (event && event->kind == RP_PROBE) {
        source = event->a;
        tag = event->b;
        await_message(call, source, tag, comm);
    } else if (!told && can_probe(source, tag, comm)) {
        await_message(call, source, tag, comm);
    }
    int rc = message ? call->next->Mprobe(source, tag, comm, message, seen) : call->next->Probe(source, tag, comm, seen);
    if (event)
        observe_envelope(call, RP_PROBE, comm, seen, rc);
    end();
    return rc;
}

static int replay_probe(const struct rp_call *call, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return probe(call, source, tag, comm, NULL, status);
}

static int replay_mprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, MPI_Message *message,
                         MPI_Status *status)
{
    return probe(call, source, tag, comm, message, status);
}

enum { POLL_KINDS = 1u << RP_NO | 1u << RP_PROBE | 1u << RP_ERROR };

/* Lets the MPI library work now and then while we answer 'no' from the record. */
static void answer_no(void)
{
    static unsigned answered;
    int flag;

    rp_follow_take_no();
    if (++answered % 16 == 0)
        rp_pmpi.Iprobe(0, 0, rp_constant.self, &flag, MPI_STATUS_IGNORE);
}

/* Iprobe, or Improbe where there is a `message`. */
static int poll_probe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                      MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = MPI_SUCCESS;

    begin();
    const struct rp_event *event = rp_follow_expect(call, rp_comms_expected(comm), POLL_KINDS);
    if (event && event->kind == RP_NO) {
        *flag = 0;
        rp_comms_number(comm); /* it has one now */
        answer_no();
        end();
        return rc;
    }
    if (event && event->kind == RP_PROBE) {
        source = event->a;
        tag = event->b;
        await_message(call, source, tag, comm);
    }
    rc = message ? call->next->Improbe(source, tag, comm, flag, message, seen)
                 : call->next->Iprobe(source, tag, comm, flag, seen);
    if (event)
        observe_envelope(call, RP_PROBE, comm, seen, rc);
    end();
    return rc;
}

static int replay_iprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return poll_probe(call, source, tag, comm, flag, NULL, status);
}

static int replay_improbe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                          MPI_Message *message, MPI_Status *status)
{
    return poll_probe(call, source, tag, comm, flag, message, status);
}

/* Completion */

typedef int some_function(int, MPI_Request *, int *, int *, MPI_Status *);

/* After a call that had nothing to complete: no event, unless it failed. */
static int decided(const struct rp_call *call, int count, int rc)
{
    if (rc != MPI_SUCCESS)
        rp_follow_observe(call, RP_ERROR, (uint32_t)count, rp_outcome_class(rc), 0, 0);
    end();
    return rc;
}

/* The program learns that this request is complete: the same events as in the record. */
static void complete(const struct rp_call *call, MPI_Request request, const MPI_Status *status)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);

    if (!entry || !(entry->flags & (RP_REQUEST_RECEIVE | RP_REQUEST_OTHER)))
        return;
    uint64_t flags = entry->flags, post = entry->post, lasting = RP_REQUEST_PERSISTENT | RP_REQUEST_WILD;
    bool cancelled = rp_outcome_cancelled(entry, status);
    if (flags & RP_REQUEST_PERSISTENT) {
        entry->flags = flags & lasting;
    } else {
        rp_standin_forget(entry);
        entry->flags = 0;
    }
    if (cancelled)
        rp_follow_observe(call, flags & RP_REQUEST_OTHER ? RP_UNSENT : RP_CANCELLED, 0, 0, 0, post);
    else if (flags & RP_REQUEST_WILD)
        rp_follow_observe(call, RP_MATCH, 0, status->MPI_SOURCE, status->MPI_TAG, post);
}

/* Ready for the real call on `count` requests: returns them with stand-ins, and keeps the program's. */
static MPI_Request *enter(int count, MPI_Request *requests)
{
    reserve(count);
    if (count > 0 && requests)
        memcpy(room.before, requests, (size_t)count * sizeof *requests);
    return requests ? rp_standin_enter(count, requests, room.real) : NULL;
}

static void leave(int count, MPI_Request *requests, const MPI_Request *real)
{
    if (requests)
        rp_standin_leave(count, requests, real, room.before);
}

/* The real calls that wait: they can return at once, as a rule. With threads they are polls all the same, since the lock is held. */

static int real_wait(const struct rp_call *call, MPI_Request *request, MPI_Status *seen)
{
    struct rp_patience patience = {0};
    int flag = 0, rc;

    if (!rp_threads_on)
        return call->next->Wait(request, seen);
    while ((rc = call->next->Test(request, &flag, seen)) == MPI_SUCCESS && !flag)
        rp_patience_poll(&patience, call, "a request of its own");
    rp_patience_end(&patience);
    return rc;
}

static int real_waitall(const struct rp_call *call, int count, MPI_Request *requests, MPI_Status *seen)
{
    struct rp_patience patience = {0};
    int flag = 0, rc;

    if (!rp_threads_on)
        return call->next->Waitall(count, requests, seen);
    while ((rc = call->next->Testall(count, requests, &flag, seen)) == MPI_SUCCESS && !flag)
        rp_patience_poll(&patience, call, "requests of its own");
    rp_patience_end(&patience);
    return rc;
}

static int real_waitany(const struct rp_call *call, int count, MPI_Request *requests, int *index, MPI_Status *seen)
{
    struct rp_patience patience = {0};
    int flag = 0, rc;

    if (!rp_threads_on)
        return call->next->Waitany(count, requests, index, seen);
    while ((rc = call->next->Testany(count, requests, index, &flag, seen)) == MPI_SUCCESS && !flag)
        rp_patience_poll(&patience, call, "requests of its own");
    rp_patience_end(&patience);
    return rc;
}

/* Waitsome and Testsome: `real_call` says which. */
static int real_some(const struct rp_call *call, some_function *real_call, int count, MPI_Request *requests, int *outcount, int *indices,
                     MPI_Status *seen)
{
    struct rp_patience patience = {0};
    int rc;

    if (!rp_threads_on || real_call == call->next->Testsome)
        return real_call(count, requests, outcount, indices, seen);
    while ((rc = call->next->Testsome(count, requests, outcount, indices, seen)) == MPI_SUCCESS && *outcount == 0)
        rp_patience_poll(&patience, call, "requests of its own");
    rp_patience_end(&patience);
    return rc;
}

static int replay_wait(const struct rp_call *call, MPI_Request *request, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    begin();
    stop_at_ghost(call, *request);
    await_request(call, *request);
    MPI_Request before = *request, *real = enter(1, request);
    int rc = real_wait(call, real, seen);
    leave(1, request, real);
    if (rp_outcome_matched(rc))
        complete(call, before, seen);
    end();
    return rc;
}

/* A recorded index must be that of a request that can complete. */
static void check_index(const struct rp_call *call, int index, int count, const MPI_Request *requests)
{
    if (index >= count)
        rp_follow_diverge(call, "the completed request is not in the array");
    if (requests[index] == rp_constant.request_null)
        rp_follow_diverge(call, "the completed request is null here");
}

/* The one request of Waitany and Testany: only it takes part in the real call. */
static int complete_one(const struct rp_call *call, MPI_Request *requests, int index, int *flag, MPI_Status *seen)
{
    int only = 0, rc;

    await_request(call, requests[index]);
    MPI_Request before = requests[index], *real = enter(1, &requests[index]);
    if (flag)
        rc = call->next->Testany(1, real, &only, flag, seen);
    else
        rc = real_waitany(call, 1, real, &only, seen);
    leave(1, &requests[index], real);
    rp_follow_take();
    complete(call, before, seen);
    return rc;
}


static int replay_waitany(const struct rp_call *call, int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc;

    begin();
    if (rp_outcome_all_null(count, requests))
        return decided(call, count, call->next->Waitany(count, requests, index, seen));
    const struct rp_event *event = rp_follow_expect(call, (uint32_t)count, RP_KIND(RP_YES) | RP_KIND(RP_ERROR));
    if (event && event->kind == RP_YES && event->a >= 0) {
        int chosen = event->a;
        check_index(call, chosen, count, requests);
        rc = complete_one(call, requests, chosen, NULL, seen);
        *index = chosen;
    } else {
        MPI_Request *real = enter(count, requests);
        rc = real_waitany(call, count, real, index, seen);
        leave(count, requests, real);
        if (event)
            rp_follow_take();
        else if (rp_outcome_matched(rc) && *index != MPI_UNDEFINED)
            complete(call, room.before[*index], seen);
    }
    end();
    return rc;
}

static int replay_testany(const struct rp_call *call, int count, MPI_Request *requests, int *index, int *flag,
                          MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = MPI_SUCCESS;

    begin();
    if (rp_outcome_all_null(count, requests))
        return decided(call, count, call->next->Testany(count, requests, index, flag, seen));
    const struct rp_event *event =
        rp_follow_expect(call, (uint32_t)count, RP_KIND(RP_NO) | RP_KIND(RP_YES) | RP_KIND(RP_ERROR));
    if (event && event->kind == RP_NO) {
        *flag = 0;
        *index = MPI_UNDEFINED;
        answer_no();
    } else if (event && event->kind == RP_YES && event->a >= 0) {
        int chosen = event->a;
        check_index(call, chosen, count, requests);
        rc = complete_one(call, requests, chosen, flag, seen);
        *index = chosen;
    } else {
        MPI_Request *real = enter(count, requests);
        rc = call->next->Testany(count, real, index, flag, seen);
        leave(count, requests, real);
        if (event)
            rp_follow_take();
        else if (rp_outcome_matched(rc) && *flag && *index != MPI_UNDEFINED)
            complete(call, room.before[*index], seen);
    }
    end();
    return rc;
}

/* Waitsome and Testsome of exactly the recorded requests, in the recorded order. */
static int complete_some(const struct rp_call *call, some_function *real_call, int count, MPI_Request *requests,
                         int *outcount, int *indices, MPI_Status *statuses)
{
    int wanted = rp_follow_ahead(0)->b, found = 0;

    reserve(count);
    for (int i = 0; i < wanted; i++) {
        indices[i] = rp_follow_ahead((size_t)i)->a;
        check_index(call, indices[i], count, requests);
        await_request(call, requests[indices[i]]);
        room.before[i] = requests[indices[i]];
        room.subset[i] = rp_standin_real(requests[indices[i]]);
    }
    MPI_Status *seen = statuses == MPI_STATUSES_IGNORE ? room.statuses : statuses;
    int rc = real_some(call, real_call, wanted, room.subset, &found, room.indices, seen);
    if (!rp_outcome_some(rc) || found != wanted)
        rp_follow_diverge(call, "a completed request is inactive here");
    for (int i = 0; i < wanted; i++)
        rp_follow_take();
    for (int i = 0; i < wanted; i++) {
        rp_standin_leave(1, &requests[indices[i]], &room.subset[i], &room.before[i]);
        complete(call, room.before[i], &seen[i]);
    }
    *outcount = wanted;
    return rc;
}

static int freely_some(const struct rp_call *call, some_function *real_call, int count, MPI_Request *requests,
                       int *outcount, int *indices, MPI_Status *statuses)
{
    MPI_Request *real = enter(count, requests);
    MPI_Status *seen = statuses == MPI_STATUSES_IGNORE ? room.statuses : statuses;
    int rc = real_some(call, real_call, count, real, outcount, indices, seen);

    leave(count, requests, real);
    for (int i = 0; rp_outcome_some(rc) && rp_follow_is_free() && i < *outcount; i++)
        complete(call, room.before[indices[i]], &seen[i]);
    return rc;
}

static int replay_some(const struct rp_call *call, some_function *real_call, uint32_t kinds, int count,
                       MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    int rc = MPI_SUCCESS;

    begin();
    if (rp_outcome_all_null(count, requests))
        return decided(call, count, real_call(count, requests, outcount, indices, statuses));
    const struct rp_event *event = rp_follow_expect(call, (uint32_t)count, kinds);
    if (event && event->kind == RP_NO) {
        *outcount = 0;
        answer_no();
    } else if (event && event->kind == RP_YES && event->b > 0) {
        rc = complete_some(call, real_call, count, requests, outcount, indices, statuses);
    } else {
        rc = freely_some(call, real_call, count, requests, outcount, indices, statuses);
        if (event)
            rp_follow_take();
    }
    end();
    return rc;
}

/* The status, in a Waitall that failed, of a request that it did not complete: pending, or empty in this MPI's manner where there was nothing to wait for. */
static void tell_incomplete(MPI_Request handle, MPI_Status *status)
{
    const struct rp_request *entry = rp_requests_find(&rp_state.requests, handle);
    bool is_inactive = entry && entry->flags & RP_REQUEST_PERSISTENT && !(entry->flags & RP_REQUEST_RECEIVE);
    MPI_Request nothing = rp_constant.request_null;
    int flag;

    if (handle == rp_constant.request_null || is_inactive)
        rp_pmpi.Test(&nothing, &flag, status);
    else
        status->MPI_ERROR = MPI_ERR_PENDING;
}

/* A Waitall that failed before all were complete: exactly those that were complete are, the others stay pending. */
static int waitall_partly(const struct rp_call *call, int count, MPI_Request *requests, MPI_Status *statuses)
{
    const struct rp_event *event = rp_follow_expect(call, (uint32_t)count, RP_KIND(RP_YES));

    if (!event)
        return call->next->Waitall(count, requests, statuses);
    int completed = event->b, found = 0;
    reserve(count);
    MPI_Status *own = room.statuses;
    for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; i++)
        tell_incomplete(requests[i], &statuses[i]);
    int rc = complete_some(call, call->next->Waitsome, count, requests, &found, room.chosen, MPI_STATUSES_IGNORE);
    for (int i = 0; i < completed && statuses != MPI_STATUSES_IGNORE; i++)
        statuses[room.chosen[i]] = own[i];
    return rc;
}

static bool are_complete(int count, const MPI_Request *requests)
{
    int flag = 1;

    rp_quiet_begin();
    for (int i = 0; i < count && flag; i++) {
        MPI_Request real = rp_standin_real(requests[i]);
        if (real != rp_constant.request_null && !makes_its_own_progress(requests[i]) &&
            rp_pmpi.Request_get_status(real, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            flag = 1; /* the real call finds it out */
    }
    rp_quiet_end();
    return flag;
}

static bool has_ghost(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (is_ghost(requests[i]))
            return true;
    return false;
}

/* Waits for all of them, or, with true, until the record says that the call failed before. With threads, that may become the next event only later. */
static bool await_all(const struct rp_call *call, int count, MPI_Request *requests)
{
    struct rp_patience patience = {0};
    bool failed = rp_follow_is_next(call, RP_YES);

    if (!rp_threads_on) {
        for (int i = 0; i < count && requests && !failed; i++) {
            stop_at_ghost(call, requests[i]);
            await_request(call, requests[i]);
        }
        return failed;
    }
    while (requests && !failed && !rp_follow_is_free() && !are_complete(count, requests)) {
        if (has_ghost(count, requests) && rp_follow_is_over()) {
            rp_follow_end_of_record(call);
            break;
        }
        rp_patience_poll(&patience, call, "requests of its own");
        failed = rp_follow_is_next(call, RP_YES);
    }
    rp_patience_end(&patience);
    return failed;
}

static int replay_waitall(const struct rp_call *call, int count, MPI_Request *requests, MPI_Status *statuses)
{
    begin();
    if (await_all(call, count, requests)) {
        int partly = waitall_partly(call, count, requests, statuses);
        end();
        return partly;
    }
    MPI_Request *real = enter(count, requests);
    MPI_Status *seen = statuses == MPI_STATUSES_IGNORE ? room.statuses : statuses;
    int rc = real_waitall(call, count, real, seen);
    leave(count, requests, real);
    bool in_status = rc != MPI_SUCCESS && rp_outcome_class(rc) == MPI_ERR_IN_STATUS;
    for (int i = 0; (rc == MPI_SUCCESS || in_status) && i < count; i++)
        if (!in_status || rp_outcome_class(seen[i].MPI_ERROR) != MPI_ERR_PENDING)
            complete(call, room.before[i], &seen[i]);
    end();
    return rc;
}

static int replay_waitsome(const struct rp_call *call, int count, MPI_Request *requests, int *outcount, int *indices,
                           MPI_Status *statuses)
{
    return replay_some(call, call->next->Waitsome, RP_KIND(RP_YES) | RP_KIND(RP_ERROR), count, requests, outcount,
                       indices, statuses);
}

static int replay_testsome(const struct rp_call *call, int count, MPI_Request *requests, int *outcount, int *indices,
                           MPI_Status *statuses)
{
    return replay_some(call, call->next->Testsome, RP_KIND(RP_NO) | RP_KIND(RP_YES) | RP_KIND(RP_ERROR), count, requests,
                       outcount, indices, statuses);
}

static int replay_test(const struct rp_call *call, MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = MPI_SUCCESS;

    begin();
    if (request && *request == rp_constant.request_null)
        return decided(call, 1, call->next->Test(request, flag, seen));
    const struct rp_event *event = rp_follow_expect(call, 1, RP_KIND(RP_NO) | RP_KIND(RP_YES) | RP_KIND(RP_ERROR));
    if (event && event->kind == RP_NO) {
        *flag = 0;
        answer_no();
    } else {
        if (event && event->kind == RP_YES)
            await_request(call, *request);
        MPI_Request before = request ? *request : rp_constant.request_null, *real = enter(1, request);
        struct rp_patience patience = {0};
        while ((rc = call->next->Test(real, flag, seen)) == MPI_SUCCESS && !*flag && event && event->kind == RP_YES)
            rp_patience_poll(&patience, call, "a request of its own");
        rp_patience_end(&patience);
        leave(1, request, real);
        if (event)
            rp_follow_take();
        if (rp_outcome_matched(rc) && *flag)
            complete(call, before, seen);
    }
    end();
    return rc;
}

static int replay_testall(const struct rp_call *call, int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    int rc = MPI_SUCCESS;

    begin();
    if (rp_outcome_all_null(count, requests))
        return decided(call, count, call->next->Testall(count, requests, flag, statuses));
    const struct rp_event *event =
        rp_follow_expect(call, (uint32_t)count, RP_KIND(RP_NO) | RP_KIND(RP_YES) | RP_KIND(RP_ERROR));
    if (event && event->kind == RP_NO) {
        *flag = 0;
        answer_no();
        end();
        return rc;
    }
    for (int i = 0; event && event->kind == RP_YES && i < count; i++)
        await_request(call, requests[i]);
    MPI_Request *real = enter(count, requests);
    MPI_Status *seen = statuses == MPI_STATUSES_IGNORE ? room.statuses : statuses;
    rc = call->next->Testall(count, real, flag, seen);
    leave(count, requests, real);
    if (event)
        rp_follow_take();
    for (int i = 0; rp_outcome_some(rc) && *flag && i < count; i++)
        complete(call, room.before[i], &seen[i]);
    end();
    return rc;
}

static int replay_request_get_status(const struct rp_call *call, MPI_Request request, int *flag, MPI_Status *status)
{
    int rc = MPI_SUCCESS;

    begin();
    const struct rp_event *event = rp_follow_expect(call, 1, RP_KIND(RP_NO) | RP_KIND(RP_YES) | RP_KIND(RP_ERROR));
    if (event && event->kind == RP_NO) {
        *flag = 0;
        answer_no();
    } else {
        if (event && event->kind == RP_YES)
            await_request(call, request);
        rc = call->next->Request_get_status(rp_standin_real(request), flag, status);
        if (event)
            rp_follow_take();
    }
    end();
    return rc;
}

static int replay_parrived(const struct rp_call *call, MPI_Request request, int partition, int *flag)
{
#if MPI_VERSION >= 4
    struct rp_patience patience = {0};
    int rc = MPI_SUCCESS;

    begin();
    const struct rp_event *event = rp_follow_expect(call, 1, RP_KIND(RP_NO) | RP_KIND(RP_YES) | RP_KIND(RP_ERROR));
    if (event && event->kind == RP_NO) {
        *flag = 0;
        answer_no();
    } else {
        while ((rc = call->next->Parrived(request, partition, flag)) == MPI_SUCCESS && !*flag && event &&
               event->kind == RP_YES)
            rp_patience_poll(&patience, call, "a partition");
        rp_patience_end(&patience);
        if (event)
            rp_follow_take();
    }
    end();
    return rc;
#else
    (void)call, (void)request, (void)partition, (void)flag;
    return MPI_ERR_OTHER;
#endif
}

/* Cancelling and freeing */

static int replay_cancel(const struct rp_call *call, MPI_Request *request)
{
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, *request);
    MPI_Request real = rp_standin_real(*request);
    int rc = MPI_SUCCESS;

    begin();
    if (entry->flags & RP_REQUEST_RECEIVE) {
        /* A cancel that lost in the record must not win now. */
        if (entry->flags & RP_REQUEST_GHOST || rp_follow_is_free())
            rc = call->next->Cancel(&real);
        entry->flags |= RP_REQUEST_CANCELLING;
    } else {
        rc = call->next->Cancel(&real);
        if (rc == MPI_SUCCESS && !(entry->flags & RP_REQUEST_OTHER)) {
            entry->flags |= RP_REQUEST_OTHER;
            entry->post = replay.cancels++;
        }
    }
    end();
    return rc;
}

static int replay_request_free(const struct rp_call *call, MPI_Request *request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, *request);
    MPI_Status status;

    if (!entry || !entry->flags)
        return call->next->Request_free(request);
    begin();
    if (entry->flags & RP_REQUEST_RECEIVE && entry->flags & RP_REQUEST_CANCELLING) {
        MPI_Request before = *request;
        await_request(call, *request);
        MPI_Request *real = enter(1, request);
        rp_pmpi.Wait(real, &status);
        leave(1, request, real);
        complete(call, before, &status);
        entry = rp_requests_find(&rp_state.requests, before); /* the table may have moved */
    }
    int rc = MPI_SUCCESS;
    if (*request != rp_constant.request_null) {
        if (entry->flags & RP_REQUEST_PERSISTENT)
            rp_state.persistent--;
        rp_standin_forget(entry);
        rc = call->next->Request_free(request);
        entry->flags = 0;
    }
    end();
    return rc;
}

static int replay_comm_free(const struct rp_call *call, MPI_Comm *comm)
{
    rp_comms_forget(*comm);
    rp_threads_leave();
    int rc = call->next->Comm_free(comm);
    rp_threads_enter();
    return rc;
}

static int replay_comm_disconnect(const struct rp_call *call, MPI_Comm *comm)
{
    rp_comms_forget(*comm);
    rp_threads_leave();
    int rc = call->next->Comm_disconnect(comm);
    rp_threads_enter();
    return rc;
}

/* Threads */

static int replay_leads(void)
{
    return !rp_follow_is_free();
}

static void replay_threads_begin(void)
{
    rp_comms_stop_numbering();
}

static int replay_value(const struct rp_call *call, int32_t *a, uint64_t *c)
{
    const struct rp_event *event = rp_follow_expect(call, 0, RP_KIND(RP_VALUE));

    if (event) {
        *a = event->a;
        *c = event->c;
    }
    return event != NULL;
}

static void replay_finalize(void)
{
    rp_follow_finish(true);
    rp_standin_close();
}

static void replay_end(int code)
{
    (void)code;
    rp_follow_finish(false);
}

/* Another thread ends the process: the rank's own thread cannot be asked how far it is. */
static void replay_end_elsewhere(void)
{
}

static const struct rp_engine engine = {
    .name = "replay",
    .receive = replay_receive,
    .receive_begin = replay_receive_begin,
    .receive_end = replay_receive_end,
    .post_begin = replay_post_begin,
    .post_end = replay_post_end,
    .persistent_begin = replay_persistent_begin,
    .persistent_end = replay_persistent_end,
    .sent = rp_doorbell_ring,
    .Start = replay_start,
    .Startall = replay_startall,
    .Probe = replay_probe,
    .Mprobe = replay_mprobe,
    .Iprobe = replay_iprobe,
    .Improbe = replay_improbe,
    .Wait = replay_wait,
    .Waitall = replay_waitall,
    .Waitany = replay_waitany,
    .Waitsome = replay_waitsome,
    .Test = replay_test,
    .Testall = replay_testall,
    .Testany = replay_testany,
    .Testsome = replay_testsome,
    .Request_get_status = replay_request_get_status,
    .Parrived = replay_parrived,
    .Cancel = replay_cancel,
    .Request_free = replay_request_free,
    .Comm_free = replay_comm_free,
    .Comm_disconnect = replay_comm_disconnect,
    .leads = replay_leads,
    .threads_begin = replay_threads_begin,
    .turn_begin = rp_follow_await_turn,
    .turn_end = rp_follow_take_turn,
    .value = replay_value,
    .value_taken = rp_follow_take,
    .finalize = replay_finalize,
    .abort = replay_end,
    .exit = replay_end,
    .end_elsewhere = replay_end_elsewhere,
};

/* The start */

/* What was let through in the record is let through again. */
static void list_allowed(const struct rp_manifest *m, char allowed[PATH_MAX])
{
    const char *more = rp_setting("REPRISE_ALLOW");
    size_t used = (size_t)snprintf(allowed, PATH_MAX, "%s", more ? more : "");

    for (char **name = m->allowed; *name && used < PATH_MAX; name++)
        used += (size_t)snprintf(allowed + used, PATH_MAX - used, ",%s", *name);
}

/* Rank 0: finds the record and looks whether this is its program. */
static enum rp_status find_record(char allowed[PATH_MAX], struct rp_problem *why)
{
    struct rp_manifest manifest;
    enum rp_status status = rp_session_find_record(&replay.session, &manifest, why);

    if (status != RP_OK)
        return status;
    list_allowed(&manifest, allowed);
    rp_manifest_free(&manifest);
    return RP_OK;
}

static enum rp_status read_options(struct rp_follow_options *options, struct rp_problem *why)
{
    const char *at_end = rp_setting("REPRISE_AT_END");

    options->check_places = rp_setting("REPRISE_FORCE") == NULL;
    if (!at_end || strcmp(at_end, "stop") == 0)
        options->at_end = RP_AT_END_STOP;
    else if (strcmp(at_end, "gdb") == 0)
        options->at_end = RP_AT_END_GDB;
    else if (strcmp(at_end, "continue") == 0)
        options->at_end = RP_AT_END_CONTINUE;
    else
        return rp_fail(why, RP_USAGE, "REPRISE_AT_END=%s: stop, gdb or continue is expected", at_end);
    return rp_setting_number("REPRISE_STALL", 0, 30, &options->stall, why);
}

/* The state file: the command's, or one of our own beside the record, or in TMPDIR if that cannot be written. */
static enum rp_status make_state(char path[PATH_MAX], struct rp_problem *why)
{
    const char *temporary = getenv("TMPDIR");

    if (rp_setting("REPRISE_STATE")) {
        snprintf(path, PATH_MAX, "%s", rp_setting("REPRISE_STATE"));
        return RP_OK;
    }
    if (snprintf(path, PATH_MAX, "%s/replay-%d.state", replay.session.directory, (int)getpid()) < PATH_MAX &&
        rp_state_create(path, (uint32_t)replay.session.ranks, why) == RP_OK)
        return RP_OK;
    snprintf(path, PATH_MAX, "%s/reprise-%d.state", temporary ? temporary : "/tmp", (int)getpid());
    return rp_state_create(path, (uint32_t)replay.session.ranks, why);
}

static void find_largest_tag(void)
{
    int *largest = NULL, found = 0;

    rp_pmpi.Comm_get_attr(rp_constant.world, MPI_TAG_UB, &largest, &found);
    replay.largest_tag = found ? *largest : 32767;
}

void rp_replay_start(void)
{
    struct rp_problem why;
    struct rp_follow_options options = {0};
    char state[PATH_MAX] = "", allowed[PATH_MAX] = "";
    enum rp_status status = RP_OK;

    rp_session_open(&replay.session);
    rp_debugger_open(replay.session.rank);
    if (replay.session.rank == 0)
        status = find_record(allowed, &why);
    if (status == RP_OK && replay.session.rank == 0)
        status = make_state(state, &why);
    if (status == RP_OK)
        status = read_options(&options, &why);
    if (status != RP_OK)
        rp_error("cannot replay: %s", why.text);
    rp_session_agree(status, NULL);
    rp_session_share(&replay.session, RP_OK);
    rp_session_share_text(state);
    rp_session_share_text(allowed);
    setenv("REPRISE_ALLOW", allowed, 1);
    rp_standin_open();
    status = rp_follow_open(&replay.session, &options, state, rp_standin_release, rp_standin_sink, &why);
    if (status != RP_OK)
        rp_error("cannot replay: %s", why.text);
    rp_session_agree(status, NULL);
    rp_comms_init();
    find_largest_tag();
    reserve(16);
    rp_always_set(RP_ALWAYS_ENGINE);
    rp_state.watched = 1; /* always look */
    rp_engine = &engine;
    rp_sends_seen = 1;
}
