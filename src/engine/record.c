/* SPDX-License-Identifier: MIT */
/*
 * Recording. Each operation calls the real function and pushes what MPI left open as events: which message a wildcard took, which requests a
 * completion call found, whether a poll said no. Nothing is sent, delayed or copied. docs/design.md tells why this is enough.
 *
 * A wildcard receive gets the next post number when it is posted; its match is pushed when the program learns of its completion. Between, its handle is in
 * rp_self.requests, and rp_self.watched keeps the completion calls from passing us by.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "base/settings.h"
#include "codec/codec.h"
#include "engine/outcome.h"
#include "engine/record_start.h"
#include "engine/session.h"
#include "event/ring.h"
#include "event/site.h"
#include "log/logwriter.h"
#include "log/manifest.h"
#include "mpi/comms.h"
#include "mpi/constants.h"
#include "mpi/engine.h"
#include "mpi/self.h"

/* A wildcard receive under way. */
struct pending {
    MPI_Request request;
    uint64_t post;
    int source, tag;
    bool told; /* its match was told before its completion */
};

struct freed {
    MPI_Request request;
    uint64_t post;
};

static struct {
    struct rp_ring *ring;
    struct rp_site_table sites;
    uint64_t last_posts; /* at the last event */
    uint64_t cancels;    /* of requests that are no receives */
    struct rp_log_writer *writer;
    struct rp_session session;
    MPI_Request *handles; /* room for one call's requests */
    MPI_Status *statuses;
    size_t room;
    struct pending *pending; /* rp_self.pending of them */
    size_t pending_room;
    struct freed *freed; /* wildcard receives that the program freed while active */
    size_t freed_count, freed_room;
} record;

/* Events */

static void push_open_run(void)
{
    struct rp_event run = record.ring->shared->open_run;

    if (run.c == 0)
        return;
    *rp_ring_slot(record.ring) = run;
    rp_ring_publish(record.ring);
    record.ring->shared->open_run.c = 0; /* the ring may have moved: look it up again */
}

static inline void push(uint32_t kind, uint32_t site, uint32_t scope, int32_t a, int32_t b, uint64_t c)
{
    if (__builtin_expect(record.ring->shared->open_run.c != 0, 0))
        push_open_run();
    struct rp_event *event = rp_ring_slot(record.ring);
    *event = (struct rp_event){kind, site, (uint32_t)(rp_self.posts - record.last_posts), scope, a, b, c};
    record.last_posts = rp_self.posts;
}

static inline void publish(void)
{
    rp_ring_publish(record.ring);
}

/* The only event of its call, or the last: push and publish in one go. */
static inline void push_last(uint32_t kind, uint32_t site, uint32_t scope, int32_t a, int32_t b, uint64_t c)
{
    struct rp_ring *ring = record.ring;
    uint64_t posts = rp_self.posts;

    if (__builtin_expect(ring->shared->open_run.c != 0, 0))
        push_open_run();
    struct rp_event *event = rp_ring_slot(ring);
    event->kind = kind;
    event->site = site;
    event->posts = (uint32_t)(posts - record.last_posts);
    event->scope = scope;
    event->a = a;
    event->b = b;
    event->c = c;
    record.last_posts = posts;
    rp_ring_publish(ring);
}

/* A poll said no: one more of the run that is open, or the first of a new one. */
static inline void push_no(uint32_t site, uint32_t scope)
{
    struct rp_event *run = &record.ring->shared->open_run;

    if (run->c != 0 && run->site == site && run->scope == scope && record.last_posts == rp_self.posts) {
        run->c++;
        return;
    }
    push_open_run();
    run = &record.ring->shared->open_run;
    *run = (struct rp_event){RP_NO, site, (uint32_t)(rp_self.posts - record.last_posts), scope, 0, 0, 0};
    record.last_posts = rp_self.posts;
    record.ring->shared->open_at = record.ring->head;
    atomic_signal_fence(memory_order_seq_cst); /* a run that counts is whole */
    run->c = 1;
}

static inline uint32_t site_of(const struct rp_call *call)
{
    return rp_site_find(&record.sites, call->function, call->return_address, call->stack);
}

static void push_error(uint32_t site, uint32_t scope, int rc)
{
    push(RP_ERROR, site, scope, rp_outcome_class(rc), 0, 0);
    publish();
}

/* Requests */

/* Wildcard receives under way. The entry's note is the index, so that one can be taken out at once. */

static inline void add_pending(struct rp_request *entry, MPI_Request request, int source, int tag)
{
    if (rp_self.pending == record.pending_room) {
        record.pending_room = record.pending_room ? record.pending_room * 2 : 64;
        record.pending = realloc(record.pending, record.pending_room * sizeof *record.pending);
        if (!record.pending)
            rp_bug(__FILE__, __LINE__, "out of memory for pending receives");
    }
    if (rp_self.pending == 0) {
        rp_self.pending_tag = tag;
        rp_self.pending_mixed = tag == MPI_ANY_TAG;
    }
    rp_self.pending_mixed |= tag != rp_self.pending_tag;
    entry->note = (void *)(uintptr_t)rp_self.pending;
    record.pending[rp_self.pending++] = (struct pending){request, entry->post, source, tag, false};
}

static inline void remove_pending(struct rp_request *entry)
{
    size_t index = (size_t)(uintptr_t)entry->note;

    if (index >= rp_self.pending || record.pending[index].post != entry->post)
        return;
    record.pending[index] = record.pending[--rp_self.pending];
    if (index < rp_self.pending) {
        struct rp_request *moved = rp_requests_find(&rp_self.requests, record.pending[index].request);
        if (moved)
            moved->note = entry->note;
    }
}

static void watch(struct rp_request *entry, uint64_t flags, uint64_t post)
{
    if (!(entry->flags & RP_REQUEST_COUNTED))
        rp_self.watched++;
    entry->flags = flags | RP_REQUEST_COUNTED;
    entry->post = post;
}

static void unwatch(struct rp_request *entry)
{
    uint64_t lasting = RP_REQUEST_PERSISTENT | RP_REQUEST_WILD;

    if (entry->flags & RP_REQUEST_COUNTED)
        rp_self.watched--;
    if (entry->flags & RP_REQUEST_WILD && entry->flags & RP_REQUEST_RECEIVE)
        remove_pending(entry);
    entry->flags = entry->flags & RP_REQUEST_PERSISTENT ? entry->flags & lasting : 0;
}

static inline struct rp_request *watched(MPI_Request request)
{
    struct rp_request *entry = rp_requests_find(&rp_self.requests, request);

    return entry && entry->flags & RP_REQUEST_COUNTED ? entry : NULL;
}

static bool told_now(struct pending *p, uint32_t site)
{
    MPI_Status status;
    int flag = 0;

    if (rp_pmpi.Request_get_status(p->request, &flag, &status) == MPI_SUCCESS && flag)
        push(RP_FREED, site, 0, status.MPI_SOURCE, status.MPI_TAG, p->post);
    return flag;
}

/*
 * A message was received while older wildcard receives that could have taken it are under way: they were matched before, whether the program ever asks or not. If it
 * dies first, nobody else will tell what they took.
 */
static void tell_older(uint64_t post, const MPI_Status *status, uint32_t site)
{
    enum { ENOUGH = 256 };

    for (uint32_t i = 0; i < rp_self.pending && rp_self.pending <= ENOUGH; i++) {
        struct pending *p = &record.pending[i];
        bool overlaps = (p->source == MPI_ANY_SOURCE || p->source == status->MPI_SOURCE) &&
                        (p->tag == MPI_ANY_TAG || p->tag == status->MPI_TAG);
        if (overlaps && p->post < post && !p->told)
            p->told = told_now(p, site);
    }
}

/* At the end: what the program left under way. */
static void tell_pending(uint32_t site)
{
    for (uint32_t i = 0; i < rp_self.pending; i++)
        if (!record.pending[i].told)
            record.pending[i].told = told_now(&record.pending[i], site);
}

/* The program learnt that this request is complete. Returns its post number, or 0 if older receives are of no interest. */
static inline uint64_t complete_entry(struct rp_request *entry, const MPI_Status *status, uint32_t site)
{
    if (!entry || !(entry->flags & (RP_REQUEST_RECEIVE | RP_REQUEST_OTHER)))
        return 0;
    uint64_t post = entry->post;
    bool cancelled = rp_outcome_cancelled(entry, status);
    if (cancelled)
        push(entry->flags & RP_REQUEST_OTHER ? RP_UNSENT : RP_CANCELLED, site, 0, 0, 0, post);
    else if (entry->flags & RP_REQUEST_WILD)
        push(RP_MATCH, site, 0, status->MPI_SOURCE, status->MPI_TAG, post);
    if (entry->flags & (RP_REQUEST_COUNTED | RP_REQUEST_PERSISTENT))
        unwatch(entry);
    else
        entry->flags = 0;
    return cancelled ? 0 : post;
}

static uint64_t complete(MPI_Request request, const MPI_Status *status, uint32_t site)
{
    return complete_entry(rp_requests_find(&rp_self.requests, request), status, site);
}

static inline void complete_one_entry(struct rp_request *entry, const MPI_Status *status, uint32_t site)
{
    uint64_t post = complete_entry(entry, status, site);

    if (post > 0 && rp_self.pending)
        tell_older(post, status, site);
}

static void complete_one(MPI_Request request, const MPI_Status *status, uint32_t site)
{
    complete_one_entry(rp_requests_find(&rp_self.requests, request), status, site);
}

static void reserve(size_t count)
{
    if (count <= record.room)
        return;
    record.handles = realloc(record.handles, count * sizeof *record.handles);
    record.statuses = realloc(record.statuses, count * sizeof *record.statuses);
    if (!record.handles || !record.statuses)
        rp_bug(__FILE__, __LINE__, "out of memory for a request array");
    record.room = count;
}

/* Handles as they are before the call sets them to null; statuses of ours where the program wants none. */
static MPI_Status *prepare(int count, const MPI_Request *requests, MPI_Status *statuses)
{
    if (!rp_self.watched || count <= 0 || !requests)
        return statuses;
    reserve((size_t)count);
    memcpy(record.handles, requests, (size_t)count * sizeof *requests);
    return statuses == MPI_STATUSES_IGNORE ? record.statuses : statuses;
}

/* Freed while active: their matches are told as soon as they are found. */

static void poll_freed(uint32_t site)
{
    for (size_t i = 0; i < record.freed_count;) {
        MPI_Status status;
        int flag = 0;
        rp_pmpi.Test(&record.freed[i].request, &flag, &status);
        if (!flag) {
            i++;
            continue;
        }
        if (record.freed[i].request != rp_constant.request_null)
            rp_pmpi.Request_free(&record.freed[i].request);
        push(RP_FREED, site, 0, status.MPI_SOURCE, status.MPI_TAG, record.freed[i].post);
        publish();
        record.freed[i] = record.freed[--record.freed_count];
        rp_self.watched--;
    }
}

static inline uint32_t begin(const struct rp_call *call)
{
    uint32_t site = site_of(call);

    rp_self.depth++;
    if (__builtin_expect(record.freed_count != 0, 0))
        poll_freed(site);
    return site;
}

static inline void end(void)
{
    rp_self.depth--;
}

/* Receives and probes */

static void record_receive_begin(const struct rp_call *call, struct rp_envelope *e)
{
    (void)call;
    rp_self.depth++;
    if (e->status == MPI_STATUS_IGNORE)
        e->status = &e->own_status;
}

static void push_envelope(uint32_t kind, uint32_t site, MPI_Comm comm, const MPI_Status *status, int rc)
{
    if (rp_outcome_matched(rc))
        push(kind, site, rp_comms_number(comm), status->MPI_SOURCE, status->MPI_TAG, 0);
    else
        push(RP_ERROR, site, 0, rp_outcome_class(rc), 0, 0);
    publish();
}

/* A blocking receive is younger than all that are under way. */
static __attribute__((noinline)) void tell_older_than_now(const struct rp_envelope *e, int rc, uint32_t site)
{
    if (!rp_outcome_matched(rc) || e->source == MPI_PROC_NULL)
        return;
    tell_older(UINT64_MAX, e->status, site);
    publish();
}

static void record_receive_end(const struct rp_call *call, struct rp_envelope *e, int rc)
{
    uint32_t site = site_of(call);
    bool wild = e->source == MPI_ANY_SOURCE || e->tag == MPI_ANY_TAG;

    if (__builtin_expect(record.freed_count != 0, 0))
        poll_freed(site);
    if (__builtin_expect(wild && rc == MPI_SUCCESS, 1))
        push_last(RP_RECV, site, rp_comms_number(e->comm), e->status->MPI_SOURCE, e->status->MPI_TAG, 0);
    else if (wild)
        push_envelope(RP_RECV, site, e->comm, e->status, rc);
    if (__builtin_expect(rp_self.pending != 0, 0))
        tell_older_than_now(e, rc, site);
    end();
}

static void record_posted(MPI_Request request, int source, int tag)
{
    struct rp_request *entry = rp_requests_entry(&rp_self.requests, request);

    watch(entry, RP_REQUEST_RECEIVE | RP_REQUEST_WILD, rp_self.posts++);
    add_pending(entry, request, source, tag);
}

static void record_persistent_begin(const struct rp_call *call, struct rp_envelope *e, const struct rp_buffer_args *b)
{
    (void)call;
    (void)e;
    (void)b;
    rp_self.depth++;
}

static void record_persistent_end(const struct rp_call *call, struct rp_envelope *e, int rc, MPI_Request *request)
{
    (void)call;
    end();
    if (rc != MPI_SUCCESS)
        return;
    bool wild = e->source == MPI_ANY_SOURCE || e->tag == MPI_ANY_TAG;
    struct rp_request *entry = rp_requests_entry(&rp_self.requests, *request);
    entry->flags = RP_REQUEST_PERSISTENT | (wild ? RP_REQUEST_WILD : 0);
    rp_self.persistent++;
}

static void started(MPI_Request request)
{
    struct rp_request *entry = rp_requests_find(&rp_self.requests, request);

    if (!entry || !(entry->flags & RP_REQUEST_PERSISTENT))
        return;
    uint64_t post = rp_self.posts++;
    if (entry->flags & RP_REQUEST_WILD) {
        watch(entry, entry->flags | RP_REQUEST_RECEIVE, post);
        add_pending(entry, request, MPI_ANY_SOURCE, MPI_ANY_TAG);
    } else {
        entry->post = post;
        entry->flags |= RP_REQUEST_RECEIVE;
    }
}

static int record_start(const struct rp_call *call, MPI_Request *request)
{
    rp_self.depth++;
    int rc = call->next->Start(request);
    end();
    if (rc == MPI_SUCCESS)
        started(*request);
    return rc;
}

static int record_startall(const struct rp_call *call, int count, MPI_Request *requests)
{
    rp_self.depth++;
    int rc = call->next->Startall(count, requests);
    end();
    for (int i = 0; rc == MPI_SUCCESS && i < count; i++)
        started(requests[i]);
    return rc;
}

static int record_probe(const struct rp_call *call, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    uint32_t site = begin(call);
    int rc = call->next->Probe(source, tag, comm, seen);

    push_envelope(RP_PROBE, site, comm, seen, rc);
    end();
    return rc;
}

static int record_mprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, MPI_Message *message,
                         MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    uint32_t site = begin(call);
    int rc = call->next->Mprobe(source, tag, comm, message, seen);

    push_envelope(RP_PROBE, site, comm, seen, rc);
    end();
    return rc;
}

static void push_probed(uint32_t site, MPI_Comm comm, int found, const MPI_Status *status, int rc)
{
    if (rc != MPI_SUCCESS || found)
        push_envelope(RP_PROBE, site, comm, status, rc);
    else
        push_no(site, rp_comms_number(comm));
}

static int record_iprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                         MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    uint32_t site = begin(call);
    int rc = call->next->Iprobe(source, tag, comm, flag, seen);

    push_probed(site, comm, rc == MPI_SUCCESS && *flag, seen, rc);
    end();
    return rc;
}

static int record_improbe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                          MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    uint32_t site = begin(call);
    int rc = call->next->Improbe(source, tag, comm, flag, message, seen);

    push_probed(site, comm, rc == MPI_SUCCESS && *flag, seen, rc);
    end();
    return rc;
}

/* Completion. Where a call can fail without an outcome, the outcome is set beforehand so that the two can be told apart. */

static int record_wait(const struct rp_call *call, MPI_Request *request, MPI_Status *status)
{
    MPI_Request before = *request;
    struct rp_request *entry = rp_requests_find(&rp_self.requests, before);

    if (entry && !(entry->flags & RP_REQUEST_COUNTED) && !(entry->flags & RP_REQUEST_RECEIVE && rp_self.pending))
        entry = NULL;
    if (!entry && record.freed_count == 0) {
        rp_self.depth++;
        int passed = call->next->Wait(request, status);
        end();
        return passed;
    }
    MPI_Status own, *seen = entry && status == MPI_STATUS_IGNORE ? &own : status;
    uint32_t site = begin(call);
    int rc = call->next->Wait(request, seen);
    if (entry && rp_outcome_matched(rc)) {
        complete_one_entry(entry, seen, site);
        publish();
    }
    end();
    return rc;
}

static bool any_watched(int count, const MPI_Request *requests)
{
    uint64_t wanted = RP_REQUEST_COUNTED | (rp_self.pending ? RP_REQUEST_RECEIVE : 0);

    for (int i = 0; i < count; i++) {
        struct rp_request *entry = rp_requests_find(&rp_self.requests, requests[i]);
        if (entry && entry->flags & wanted)
            return true;
    }
    return false;
}

/* Completes several at once: first all of them, since their handles are gone, then what they say about others. */
static void complete_all(int count, const int *indices, const MPI_Status *seen, uint32_t site)
{
    uint64_t last = 0;
    const MPI_Status *of_last = NULL;

    for (int i = 0; i < count; i++) {
        uint64_t post = complete(record.handles[indices ? indices[i] : i], &seen[i], site);
        if (post > last)
            last = post, of_last = &seen[i];
    }
    if (of_last && rp_self.pending)
        tell_older(last, of_last, site);
}

/* A failed request can make Waitall return before the others are complete; which ones, MPI leaves open. */
static void push_partial(uint32_t site, int count, const MPI_Status *seen)
{
    int completed = 0, first = RP_NO_INDEX;

    for (int i = count - 1; i >= 0; i--)
        if (rp_outcome_class(seen[i].MPI_ERROR) != MPI_ERR_PENDING)
            completed++, first = i;
    if (completed == count)
        return;
    push(RP_YES, site, (uint32_t)count, first, completed, rp_self.waits);
    for (int i = first + 1; i > 0 && i < count; i++)
        if (rp_outcome_class(seen[i].MPI_ERROR) != MPI_ERR_PENDING)
            push(RP_NEXT, site, 0, i, 0, 0);
}

static int record_waitall(const struct rp_call *call, int count, MPI_Request *requests, MPI_Status *statuses)
{
    if (record.freed_count == 0 && (!requests || !any_watched(count, requests))) {
        rp_self.depth++;
        int passed = call->next->Waitall(count, requests, statuses);
        end();
        return passed;
    }
    MPI_Status *seen = prepare(count, requests, statuses);
    uint32_t site = begin(call);
    int rc = call->next->Waitall(count, requests, seen);
    bool in_status = rc != MPI_SUCCESS && rp_outcome_class(rc) == MPI_ERR_IN_STATUS;
    if (in_status)
        push_partial(site, count, seen);
    if (rc == MPI_SUCCESS)
        complete_all(count, NULL, seen, site);
    for (int i = 0; in_status && i < count; i++)
        if (rp_outcome_class(seen[i].MPI_ERROR) != MPI_ERR_PENDING)
            complete_one(record.handles[i], &seen[i], site);
    publish();
    end();
    return rc;
}

static int record_waitany(const struct rp_call *call, int count, MPI_Request *requests, int *index,
                          MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    uint32_t site = begin(call);

    prepare(count, requests, NULL);
    if (index)
        *index = MPI_UNDEFINED;
    int rc = call->next->Waitany(count, requests, index, seen);
    if (rc != MPI_SUCCESS && (!index || *index == MPI_UNDEFINED)) {
        push_error(site, (uint32_t)count, rc);
    } else {
        bool some = *index != MPI_UNDEFINED;
        push(RP_YES, site, (uint32_t)count, some ? *index : RP_NO_INDEX, some, 0);
        if (some && rp_self.watched)
            complete_one(record.handles[*index], seen, site);
        publish();
    }
    end();
    return rc;
}

static void push_some(uint32_t site, int count, int outcount, const int *indices, const MPI_Status *seen)
{
    if (outcount == MPI_UNDEFINED)
        push(RP_YES, site, (uint32_t)count, RP_NO_INDEX, RP_UNDEFINED_COUNT, 0);
    else
        push(RP_YES, site, (uint32_t)count, indices[0], outcount, 0);
    for (int i = 1; i < outcount; i++)
        push(RP_NEXT, site, 0, indices[i], 0, 0);
    if (rp_self.watched && outcount > 0)
        complete_all(outcount, indices, seen, site);
    publish();
}

static int record_waitsome(const struct rp_call *call, int count, MPI_Request *requests, int *outcount,
                           int *indices, MPI_Status *statuses)
{
    uint32_t site = begin(call);
    MPI_Status *seen = prepare(count, requests, statuses);
    int rc = call->next->Waitsome(count, requests, outcount, indices, seen);

    if (rp_outcome_some(rc))
        push_some(site, count, *outcount, indices, seen);
    else
        push_error(site, (uint32_t)count, rc);
    end();
    return rc;
}

static int record_testsome(const struct rp_call *call, int count, MPI_Request *requests, int *outcount,
                           int *indices, MPI_Status *statuses)
{
    uint32_t site = begin(call);
    MPI_Status *seen = prepare(count, requests, statuses);
    int rc = call->next->Testsome(count, requests, outcount, indices, seen);

    if (!rp_outcome_some(rc))
        push_error(site, (uint32_t)count, rc);
    else if (*outcount == 0)
        push_no(site, (uint32_t)count);
    else
        push_some(site, count, *outcount, indices, seen);
    end();
    return rc;
}

static int record_test(const struct rp_call *call, MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    uint32_t site = begin(call);
    MPI_Request before = request ? *request : rp_constant.request_null;

    if (flag)
        *flag = 0;
    int rc = call->next->Test(request, flag, seen);
    if (flag && *flag) {
        push(RP_YES, site, 1, RP_NO_INDEX, 0, 0);
        if (rp_self.watched)
            complete_one(before, seen, site);
        publish();
    } else if (rc != MPI_SUCCESS) {
        push_error(site, 1, rc);
    } else {
        push_no(site, 1);
    }
    end();
    return rc;
}

static int record_testall(const struct rp_call *call, int count, MPI_Request *requests, int *flag,
                          MPI_Status *statuses)
{
    uint32_t site = begin(call);
    MPI_Status *seen = prepare(count, requests, statuses);

    if (flag)
        *flag = 0;
    int rc = call->next->Testall(count, requests, flag, seen);
    if (rp_outcome_some(rc) && *flag) {
        push(RP_YES, site, (uint32_t)count, RP_NO_INDEX, 0, 0);
        if (rp_self.watched)
            complete_all(count, NULL, seen, site);
        publish();
    } else if (rc != MPI_SUCCESS) {
        push_error(site, (uint32_t)count, rc);
    } else {
        push_no(site, (uint32_t)count);
    }
    end();
    return rc;
}

static int record_testany(const struct rp_call *call, int count, MPI_Request *requests, int *index, int *flag,
                          MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    uint32_t site = begin(call);

    prepare(count, requests, NULL);
    if (flag)
        *flag = 0;
    int rc = call->next->Testany(count, requests, index, flag, seen);
    if (flag && *flag) {
        bool some = *index != MPI_UNDEFINED;
        push(RP_YES, site, (uint32_t)count, some ? *index : RP_NO_INDEX, some, 0);
        if (some && rp_self.watched)
            complete_one(record.handles[*index], seen, site);
        publish();
    } else if (rc != MPI_SUCCESS) {
        push_error(site, (uint32_t)count, rc);
    } else {
        push_no(site, (uint32_t)count);
    }
    end();
    return rc;
}

/* Answers about a request that stays as it is. */
static void push_answer(uint32_t site, const int *flag, int rc)
{
    if (rc != MPI_SUCCESS) {
        push_error(site, 1, rc);
    } else if (*flag) {
        push(RP_YES, site, 1, RP_NO_INDEX, 0, 0);
        publish();
    } else {
        push_no(site, 1);
    }
}

static int record_request_get_status(const struct rp_call *call, MPI_Request request, int *flag,
                                     MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    uint32_t site = begin(call);
    int rc = call->next->Request_get_status(request, flag, seen);
    struct rp_request *entry = rp_self.pending ? watched(request) : NULL;

    push_answer(site, flag, rc);
    if (rc == MPI_SUCCESS && *flag && entry && entry->flags & RP_REQUEST_WILD && entry->flags & RP_REQUEST_RECEIVE) {
        push(RP_FREED, site, 0, seen->MPI_SOURCE, seen->MPI_TAG, entry->post);
        publish();
    }
    end();
    return rc;
}

static int record_parrived(const struct rp_call *call, MPI_Request request, int partition, int *flag)
{
#if MPI_VERSION >= 4
    uint32_t site = begin(call);
    int rc = call->next->Parrived(request, partition, flag);

    push_answer(site, flag, rc);
    end();
    return rc;
#else
    (void)call, (void)request, (void)partition, (void)flag;
    return MPI_ERR_OTHER;
#endif
}

/* Cancelling and freeing */

static int record_cancel(const struct rp_call *call, MPI_Request *request)
{
    rp_self.depth++;
    int rc = call->next->Cancel(request);
    end();
    if (rc != MPI_SUCCESS)
        return rc;
    struct rp_request *entry = rp_requests_entry(&rp_self.requests, *request);
    if (entry->flags & RP_REQUEST_RECEIVE)
        watch(entry, entry->flags | RP_REQUEST_CANCELLING, entry->post);
    else if (!(entry->flags & RP_REQUEST_OTHER))
        watch(entry, RP_REQUEST_OTHER, record.cancels++);
    return rc;
}

static void keep_freed(MPI_Request *request, struct rp_request *entry)
{
    if (record.freed_count == record.freed_room) {
        record.freed_room = record.freed_room ? record.freed_room * 2 : 16;
        record.freed = realloc(record.freed, record.freed_room * sizeof *record.freed);
        if (!record.freed)
            rp_bug(__FILE__, __LINE__, "out of memory for freed requests");
    }
    record.freed[record.freed_count++] = (struct freed){*request, entry->post};
    remove_pending(entry);
    if (entry->flags & RP_REQUEST_PERSISTENT)
        rp_self.persistent--;
    entry->flags = 0; /* still counted in rp_self.watched, by record.freed */
    *request = rp_constant.request_null;
}

static int record_request_free(const struct rp_call *call, MPI_Request *request)
{
    struct rp_request *entry = rp_requests_find(&rp_self.requests, *request);
    MPI_Status status;

    if (!entry || !entry->flags)
        return call->next->Request_free(request);
    uint32_t site = begin(call);
    if (entry->flags & RP_REQUEST_RECEIVE && entry->flags & RP_REQUEST_CANCELLING) {
        MPI_Request before = *request;
        rp_pmpi.Wait(request, &status); /* local after a cancel */
        complete_one(before, &status, site);
        publish();
    } else if (entry->flags & RP_REQUEST_RECEIVE && entry->flags & RP_REQUEST_WILD) {
        keep_freed(request, entry);
    }
    int rc = MPI_SUCCESS;
    if (*request != rp_constant.request_null) {
        if (entry->flags & RP_REQUEST_PERSISTENT)
            rp_self.persistent--;
        rc = call->next->Request_free(request);
        entry->flags &= ~(uint64_t)RP_REQUEST_PERSISTENT;
        unwatch(entry);
    }
    end();
    return rc;
}

static int record_comm_free(const struct rp_call *call, MPI_Comm *comm)
{
    rp_comms_forget(*comm);
    return call->next->Comm_free(comm);
}

static int record_comm_disconnect(const struct rp_call *call, MPI_Comm *comm)
{
    rp_comms_forget(*comm);
    return call->next->Comm_disconnect(comm);
}

/* The end */

static void settle_freed(void)
{
    enum { TRIES = 1000 };

    for (int i = 0; record.freed_count > 0 && i < TRIES; i++)
        poll_freed(0);
    for (size_t i = 0; i < record.freed_count; i++)
        rp_pmpi.Request_free(&record.freed[i].request);
    record.freed_count = 0;
}

static enum rp_status close_log(enum rp_end_reason reason, int code, struct rp_log_totals *totals)
{
    struct rp_problem why;

    tell_pending(0);
    push_open_run();
    publish();
    rp_log_drain(record.writer);
    *totals = rp_log_totals(record.writer);
    return rp_log_close(record.writer, reason, code, &why); /* an error was said when it happened */
}

static void say_summary(const uint64_t sum[4])
{
    rp_message_rank(-1);
    rp_note("recorded %llu events on %d ranks: %llu bytes, %.3f bytes a receive, in %s", (unsigned long long)sum[0],
            record.session.ranks, (unsigned long long)sum[2], sum[1] ? (double)sum[2] / (double)sum[1] : 0.0,
            record.session.directory);
}

static void record_finalize(void)
{
    struct rp_log_totals totals;
    struct rp_problem why;

    settle_freed();
    enum rp_status status = close_log(RP_END_FINALIZE, 0, &totals);
    uint64_t mine[4] = {totals.events, totals.receives, totals.bytes, status != RP_OK}, sum[4] = {0};
    rp_pmpi.Reduce(mine, sum, 4, rp_constant.uint64, rp_constant.sum, 0, rp_constant.world);
    if (record.session.rank != 0)
        return;
    if (sum[3] == 0 && rp_manifest_complete(record.session.directory, &why) != RP_OK)
        rp_error("%s", why.text);
    if (!rp_setting("REPRISE_PARENT"))
        say_summary(sum);
}

static void record_abort(int code)
{
    struct rp_log_totals totals;

    close_log(RP_END_ABORT, code, &totals);
}

static void record_exit(int status)
{
    struct rp_log_totals totals;

    close_log(RP_END_EXIT, status, &totals);
}

static void record_end_elsewhere(void)
{
    rp_log_drain(record.writer);
}

static const struct rp_engine engine = {
    .name = "record",
    .refuses_threads = 1,
    .receive_begin = record_receive_begin,
    .receive_end = record_receive_end,
    .posted = record_posted,
    .persistent_begin = record_persistent_begin,
    .persistent_end = record_persistent_end,
    .Start = record_start,
    .Startall = record_startall,
    .Probe = record_probe,
    .Mprobe = record_mprobe,
    .Iprobe = record_iprobe,
    .Improbe = record_improbe,
    .Wait = record_wait,
    .Waitall = record_waitall,
    .Waitany = record_waitany,
    .Waitsome = record_waitsome,
    .Test = record_test,
    .Testall = record_testall,
    .Testany = record_testany,
    .Testsome = record_testsome,
    .Request_get_status = record_request_get_status,
    .Parrived = record_parrived,
    .Cancel = record_cancel,
    .Request_free = record_request_free,
    .Comm_free = record_comm_free,
    .Comm_disconnect = record_comm_disconnect,
    .finalize = record_finalize,
    .abort = record_abort,
    .exit = record_exit,
    .end_elsewhere = record_end_elsewhere,
};

/* The start */

static void announce_site(void *owner, const struct rp_buffer *records, uint32_t first)
{
    (void)owner;
    rp_log_sites(record.writer, records, first);
}

static enum rp_status open_log(struct rp_problem *why)
{
    enum rp_status status = rp_log_create(record.session.directory, record.session.run, (uint32_t)record.session.rank,
                                          (uint32_t)record.session.ranks, &rp_codec_tables, &record.writer, why);

    if (status == RP_OK)
        status = rp_log_stream(record.writer, 0, &record.ring, why);
    if (status == RP_OK && !rp_site_table_init(&record.sites))
        status = rp_fail(why, RP_MEMORY, "out of memory");
    record.sites.announce = announce_site;
    return status;
}

/* Not every rank could start: nothing is left behind. */
static void undo_start(void)
{
    char *log = rp_log_path(record.session.directory, (uint32_t)record.session.rank);
    char *ring = rp_ring_path(record.session.directory, (uint32_t)record.session.rank, 0);
    char *manifest = rp_path_join(record.session.directory, "incomplete");
    int32_t done = 1, all;

    if (log)
        unlink(log);
    if (ring)
        unlink(ring);
    rp_pmpi.Allreduce(&done, &all, 1, rp_constant.int32, rp_constant.sum, rp_constant.world);
    if (record.session.rank == 0 && manifest) {
        unlink(manifest);
        rmdir(record.session.directory);
    }
    free(log);
    free(ring);
    free(manifest);
}

void rp_record_start(void)
{
    struct rp_problem why;
    enum rp_status status = RP_OK;

    rp_session_open(&record.session);
    if (record.session.rank == 0)
        status = rp_record_found(&record.session, &why);
    if (status != RP_OK)
        rp_error("cannot record: %s", why.text);
    status = rp_session_share(&record.session, status);
    rp_session_agree(status, NULL);
    status = open_log(&why);
    if (status != RP_OK)
        rp_error("cannot record: %s", why.text);
    rp_session_agree(status, undo_start);
    rp_comms_init();
    reserve(16);
    rp_engine = &engine;
}
