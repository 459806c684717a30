/* SPDX-License-Identifier: MIT */
/*
 * Recording. Each operation calls the real function and pushes what MPI left open as events: which message a wildcard took, which requests a
 * completion call found, whether a poll said no. Nothing is sent, delayed or copied. docs/design.md tells why this is enough.
 *
 * While a wildcard receive is under way, its handle is in rp_state.requests, and rp_state.watched keeps the completion calls from passing us by. The usual cases
 * of the most frequent calls are written out, as functions that call nothing; everything else takes the long way round.
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
#include "engine/record_clocks.h"
#include "engine/record_events.h"
#include "engine/record_requests.h"
#include "engine/record_alone.h"
#include "engine/record_data.h"
#include "engine/record_start.h"
#include "engine/session.h"
#include "log/dataformat.h"
#include "log/logwriter.h"
#include "log/manifest.h"
#include "mpi/capture.h"
#include "mpi/comms.h"
#include "mpi/constants.h"
#include "mpi/engine.h"
#include "mpi/imports.h"
#include "mpi/life.h"
#include "mpi/notes.h"
#include "mpi/self.h"
#include "mpi/threads.h"

static struct {
    uint64_t cancels; /* of requests that are no receives */
    struct rp_log_writer *writer;
    struct rp_session session;
    MPI_Request *handles; /* room for one call's requests */
    MPI_Status *statuses;
    size_t room;
} record;

static void reserve(size_t count)
{
    record.handles = realloc(record.handles, count * sizeof *record.handles);
    record.statuses = realloc(record.statuses, count * sizeof *record.statuses);
    if (!record.handles || !record.statuses)
        rp_bug(__FILE__, __LINE__, "out of memory for a request array");
    record.room = count;
}

static inline struct rp_request *counted(MPI_Request request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);

    return entry && entry->flags & RP_REQUEST_COUNTED ? entry : NULL;
}

/* Arrays are short: what memcpy does to find out is more than it saves. */
static inline void copy_handles(MPI_Request *to, const MPI_Request *from, size_t count)
{
    enum { BLOCK = 4 };

    for (size_t blocks = count / BLOCK; blocks > 0; blocks--, to += BLOCK, from += BLOCK)
        memcpy(to, from, BLOCK * sizeof *to);
    for (size_t rest = count % BLOCK; rest > 0; rest--)
        *to++ = *from++;
}

/* Handles as they are before the call sets them to null; statuses of ours where the program wants none. */
static inline MPI_Status *prepare(int count, const MPI_Request *requests, MPI_Status *statuses)
{
    if (!rp_state.watched || count <= 0 || !requests)
        return statuses;
    if (__builtin_expect((size_t)count > record.room, 0))
        reserve((size_t)count);
    copy_handles(record.handles, requests, (size_t)count);
    return statuses == MPI_STATUSES_IGNORE ? record.statuses : statuses;
}

static inline void begin(const struct rp_call *call)
{
    rp_self.depth++;
    if (__builtin_expect(rp_self.always & RP_ALWAYS_FREED, 0))
        rp_record_poll_freed(rp_record_site(call));
}

static inline void end(void)
{
    rp_self.depth--;
}

/*
 * Usual calls (rp_usual_*): nothing stands against them, their site is known, and the ring has room. They need no depth, since nobody makes calls out
 * of theirs. What turns out to be unusual after the real call is told in the same way as by the other operations.
 */

/* Whether such a call can tell up to `events` events at once. */
static inline bool is_usual(const struct rp_origin *origin, uintptr_t return_address, uintptr_t stack, uint64_t events, uint32_t *site)
{
    return __builtin_expect(rp_record_is_ready(events), 1) &&
           __builtin_expect(rp_site_known(&rp_recorder.sites, origin->function, return_address, stack, site), 1);
}

/*
 * Blocking calls. Where several threads call, they are made of polls, and the lock is free between them: what is completed is told under the same lock, before
 * another thread can get the handle for a receive of its own.
 */

static int real_wait(const struct rp_call *call, MPI_Request *request, MPI_Status *status)
{
    unsigned tries = 0;
    int flag = 0, rc;

    if (!rp_threads_on)
        return call->next->Wait(request, status);
    while ((rc = call->next->Test(request, &flag, status)) == MPI_SUCCESS && !flag)
        rp_threads_give_way(&tries);
    return rc;
}

static int real_waitall(const struct rp_call *call, int count, MPI_Request *requests, MPI_Status *statuses, MPI_Status **seen)
{
    unsigned tries = 0;
    int flag = 0, rc;

    *seen = prepare(count, requests, statuses);
    if (!rp_threads_on)
        return call->next->Waitall(count, requests, *seen);
    while ((rc = call->next->Testall(count, requests, &flag, *seen)) == MPI_SUCCESS && !flag) {
        rp_threads_give_way(&tries);
        *seen = prepare(count, requests, statuses); /* the room is everybody's */
    }
    return rc;
}

static inline int real_waitany(const struct rp_call *call, int count, MPI_Request *requests, int *index, MPI_Status *seen)
{
    unsigned tries = 0;
    int flag = 0, rc;

    prepare(count, requests, NULL);
    if (!rp_threads_on)
        return call->next->Waitany(count, requests, index, seen);
    while ((rc = call->next->Testany(count, requests, index, &flag, seen)) == MPI_SUCCESS && !flag) {
        rp_threads_give_way(&tries);
        prepare(count, requests, NULL);
    }
    return rc;
}

static inline int real_waitsome(const struct rp_call *call, int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses,
                         MPI_Status **seen)
{
    unsigned tries = 0;
    int rc;

    *seen = prepare(count, requests, statuses);
    if (!rp_threads_on)
        return call->next->Waitsome(count, requests, outcount, indices, *seen);
    while ((rc = call->next->Testsome(count, requests, outcount, indices, *seen)) == MPI_SUCCESS && *outcount == 0) {
        rp_threads_give_way(&tries);
        *seen = prepare(count, requests, statuses);
    }
    return rc;
}

static int real_probe(const struct rp_call *call, int source, int tag, MPI_Comm comm, MPI_Status *seen)
{
    unsigned tries = 0;
    int flag = 0, rc;

    if (!rp_threads_on)
        return call->next->Probe(source, tag, comm, seen);
    while ((rc = call->next->Iprobe(source, tag, comm, &flag, seen)) == MPI_SUCCESS && !flag)
        rp_threads_give_way(&tries);
    return rc;
}

static int real_mprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *seen)
{
    unsigned tries = 0;
    int flag = 0, rc;

    if (!rp_threads_on)
        return call->next->Mprobe(source, tag, comm, message, seen);
    while ((rc = call->next->Improbe(source, tag, comm, &flag, message, seen)) == MPI_SUCCESS && !flag)
        rp_threads_give_way(&tries);
    return rc;
}

/* With threads, a probe that names its message tells whose turn it was to see it. */
static bool is_told(int source, int tag)
{
    return RP_IS_WILD(source, tag) || rp_threads_on;
}

/* Receives and probes */

static __attribute__((noinline)) void push_error(const struct rp_call *call, uint32_t scope, int rc)
{
    rp_record_event(RP_ERROR, rp_record_site(call), scope, rp_outcome_class(rc), 0, 0);
}

static inline void push_envelope(uint32_t kind, const struct rp_call *call, MPI_Comm comm, const MPI_Status *status, int rc)
{
    if (__builtin_expect(rp_outcome_matched(rc), 1))
        rp_record_event(kind, rp_record_site(call), rp_comms_number(comm), status->MPI_SOURCE, status->MPI_TAG, 0);
    else
        push_error(call, 0, rc);
}

/* A blocking receive is younger than all that are under way. */
static __attribute__((noinline)) void tell_older_than_now(const struct rp_call *call, const MPI_Status *status)
{
    rp_record_tell_older(UINT64_MAX, status, rp_record_site(call));
    rp_record_publish();
}

static void record_received_other(const struct rp_call *call, int source, int tag, MPI_Comm comm, const MPI_Status *status, int rc)
{
    if (rp_self.always & RP_ALWAYS_FREED)
        rp_record_poll_freed(rp_record_site(call));
    bool kept = source == MPI_ANY_SOURCE && !rp_state.watched && rp_outcome_matched(rc) && rp_record_region_put(rp_record_site(call), rp_comms_number(comm), status->MPI_SOURCE, status->MPI_TAG);
    if (!kept && RP_IS_WILD(source, tag))
        push_envelope(RP_RECV, call, comm, status, rc);
    if (rp_state.watched && rp_outcome_matched(rc) && source != MPI_PROC_NULL)
        tell_older_than_now(call, status);
}

static __attribute__((noinline)) void received_unusually(const char *function, uintptr_t return_address, uintptr_t stack, MPI_Comm comm,
                                                         const MPI_Status *status, int rc)
{
    struct rp_call call = {function, NULL, return_address, stack};

    record_received_other(&call, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, status, rc);
}

static void record_received(const char *function, uintptr_t return_address, uintptr_t stack, MPI_Comm comm, const MPI_Status *status, int rc)
{
    uint32_t site;

    if (__builtin_expect(rc != MPI_SUCCESS || rp_state.watched || comm != rp_comms.last || !rp_record_is_ready(1) ||
                             !rp_site_known(&rp_recorder.sites, function, return_address, stack, &site), 0)) {
        received_unusually(function, return_address, stack, comm, status, rc);
        return;
    }
    rp_record_put(RP_RECV, site, rp_comms.last_number, status->MPI_SOURCE, status->MPI_TAG, 0);
    rp_record_publish();
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
    bool wild = RP_IS_WILD(e->source, e->tag);
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, *request);
    rp_requests_forget(entry);
    entry->flags = RP_REQUEST_PERSISTENT | (wild ? RP_REQUEST_WILD : 0);
    rp_state.persistent++;
}

static void started(MPI_Request request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);

    if (!entry || !(entry->flags & RP_REQUEST_PERSISTENT))
        return;
    if (entry->flags & RP_REQUEST_COUNTED)
        rp_record_unwatch(entry); /* its last completion was not seen */
    uint64_t lasting = entry->flags & (RP_REQUEST_PERSISTENT | RP_REQUEST_WILD);
    if (lasting & RP_REQUEST_WILD) {
        entry->post = rp_state.posts++;
        entry->flags = lasting | RP_REQUEST_USUAL;
        rp_requests_list(entry, MPI_ANY_SOURCE, MPI_ANY_TAG);
    } else if (rp_state.watched) {
        rp_record_watch(entry, lasting | RP_REQUEST_RECEIVE, rp_state.posts++);
    } else {
        entry->post = rp_state.posts++;
        entry->flags = lasting | RP_REQUEST_RECEIVE;
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

/* A message was seen: older receives that could have taken it were matched before. */
static inline void probed(const struct rp_call *call, bool wild, MPI_Comm comm, const MPI_Status *status, int rc)
{
    if (wild)
        push_envelope(RP_PROBE, call, comm, status, rc);
    if (rp_state.watched && rc == MPI_SUCCESS && status->MPI_SOURCE != MPI_PROC_NULL)
        tell_older_than_now(call, status);
}

static int record_probe(const struct rp_call *call, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    begin(call);
    int rc = real_probe(call, source, tag, comm, seen);

    probed(call, is_told(source, tag), comm, seen, rc);
    end();
    return rc;
}

static int record_mprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, MPI_Message *message,
                         MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    begin(call);
    int rc = real_mprobe(call, source, tag, comm, message, seen);

    probed(call, is_told(source, tag), comm, seen, rc);
    end();
    return rc;
}

static inline void push_probed(const struct rp_call *call, MPI_Comm comm, int found, const MPI_Status *status, int rc)
{
    if (rc != MPI_SUCCESS || found)
        probed(call, true, comm, status, rc);
    else
        rp_record_no(call, rp_comms_number(comm));
}

static int record_iprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                         MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    begin(call);
    int rc = call->next->Iprobe(source, tag, comm, flag, seen);

    push_probed(call, comm, rc == MPI_SUCCESS && *flag, seen, rc);
    end();
    return rc;
}

static __attribute__((noinline)) int iprobe_unusually(const struct rp_origin *origin, uintptr_t return_address, uintptr_t stack, MPI_Comm comm,
                                                      const int *flag, const MPI_Status *seen, int rc)
{
    struct rp_call call = {origin->function, origin->next, return_address, stack};

    push_probed(&call, comm, rc == MPI_SUCCESS && *flag, seen, rc);
    return rc;
}

int rp_usual_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status, const struct rp_origin *origin)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = origin->next->Iprobe(source, tag, comm, flag, seen);
    uint32_t site;

    if (rc == MPI_SUCCESS && comm == rp_comms.last) {
        if (!*flag && rp_record_no_again(origin->function, rp_comms.last_number))
            return rc;
        if (*flag && !rp_state.watched && is_usual(origin, RP_PLACE, 1, &site)) {
            rp_record_put(RP_PROBE, site, rp_comms.last_number, seen->MPI_SOURCE, seen->MPI_TAG, 0);
            rp_record_publish();
            return rc;
        }
    }
    return iprobe_unusually(origin, RP_PLACE, comm, flag, seen, rc);
}

static int record_improbe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag,
                          MPI_Message *message, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    begin(call);
    int rc = call->next->Improbe(source, tag, comm, flag, message, seen);

    push_probed(call, comm, rc == MPI_SUCCESS && *flag, seen, rc);
    end();
    return rc;
}

/* Completion. Where a call can fail without an outcome, the outcome is set beforehand so that the two can be told apart. */

static void waited(const struct rp_call *call, struct rp_request *entry, const MPI_Status *seen, int rc)
{
    if (!rp_outcome_matched(rc)) {
        rp_record_unwatch(entry); /* it failed, and is gone */
        return;
    }
    rp_record_complete_one(entry, seen, rp_record_site(call));
    rp_record_publish();
}

static int record_wait(const struct rp_call *call, MPI_Request *request, MPI_Status *status)
{
    MPI_Request before = request ? *request : rp_constant.request_null;
    bool looked_at = request && (counted(before) || rp_threads_on); /* another thread may cancel it meanwhile */
    MPI_Status own, *seen = looked_at && status == MPI_STATUS_IGNORE ? &own : status;

    begin(call);
    int rc = real_wait(call, request, seen);
    struct rp_request *entry = looked_at ? counted(before) : NULL; /* the table may have moved */
    if (entry)
        waited(call, entry, seen, rc);
    end();
    return rc;
}

static __attribute__((noinline)) int waited_unusually(int rc, const struct rp_origin *origin, uintptr_t return_address, uintptr_t stack,
                                                      struct rp_request *entry, const MPI_Status *seen)
{
    struct rp_call call = {origin->function, origin->next, return_address, stack};

    waited(&call, entry, seen, rc);
    return rc;
}

int rp_usual_Wait(MPI_Request *request, MPI_Status *status, struct rp_request *entry, const struct rp_origin *origin)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = origin->next->Wait(request, seen);
    uint32_t site;

    if (rc != MPI_SUCCESS || !rp_record_is_oldest(entry) || !is_usual(origin, RP_PLACE, 1, &site))
        return waited_unusually(rc, origin, RP_PLACE, entry, seen);
    rp_record_match(entry, seen, site, rp_record_take_posts());
    rp_record_publish();
    return MPI_SUCCESS;
}

static bool any_counted(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (counted(requests[i]))
            return true;
    return false;
}

static void complete_one(MPI_Request request, const MPI_Status *status, uint32_t site)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);

    if (entry)
        rp_record_complete_one(entry, status, site);
}

/* Completes several at once: first all of them, since their handles are gone, then what they say about others. */
static void complete_all(int count, const int *indices, const MPI_Status *seen, uint32_t site)
{
    bool receives = false;

    for (int i = 0; i < count; i++) {
        struct rp_request *entry = rp_requests_find(&rp_state.requests, record.handles[indices ? indices[i] : i]);
        receives |= entry && rp_record_complete(entry, &seen[i], site);
    }
    for (int i = 0; receives && rp_state.watched && i < count; i++) {
        struct rp_request *entry = rp_requests_find(&rp_state.requests, record.handles[indices ? indices[i] : i]);
        if (entry)
            rp_record_tell_older(entry->post, &seen[i], site);
    }
}

/* The same behind another event of the call, and where a second one was found ready. */
static inline void complete_usually(MPI_Request request, const MPI_Status *seen, uint32_t site)
{
    struct rp_request *first = rp_requests_first(&rp_state.requests, request);

    if (!rp_request_has(first, request, RP_REQUEST_USUAL)) {
        complete_one(request, seen, site);
        return;
    }
    rp_record_match(first, seen, site, 0);
    rp_record_tell_older(first->post, seen, site);
}

/* A usual call answered that a request completed, whose handle was `*before` if any are watched. False: nothing was told. */
static inline __attribute__((always_inline)) bool tell_one(const struct rp_origin *origin, uintptr_t return_address, uintptr_t stack, int count, int index, int outcount,
                            const MPI_Request *before, const MPI_Status *seen)
{
    uint32_t site;

    if (!is_usual(origin, return_address, stack, 2, &site))
        return false;
    rp_record_put(RP_YES, site, (uint32_t)count, index, outcount, 0);
    if (rp_state.watched)
        complete_usually(*before, seen, site);
    rp_record_publish();
    return true;
}

/* Of a Waitall that failed: whether it completed this request. What was null or inactive before is not pending either. */
static bool was_completed(int index, const MPI_Status *seen)
{
    MPI_Request handle = record.handles[index];
    const struct rp_request *entry = rp_requests_find(&rp_state.requests, handle);
    bool is_inactive = entry && entry->flags & RP_REQUEST_PERSISTENT && !(entry->flags & RP_REQUEST_RECEIVE);

    return handle != rp_constant.request_null && !is_inactive && rp_outcome_class(seen[index].MPI_ERROR) != MPI_ERR_PENDING;
}

static bool is_any_pending(int count, const MPI_Status *seen)
{
    for (int i = 0; i < count; i++)
        if (rp_outcome_class(seen[i].MPI_ERROR) == MPI_ERR_PENDING)
            return true;
    return false;
}

/* A failed request can make Waitall return before the others are complete; which ones, MPI leaves open. */
static void push_partial(uint32_t site, int count, const MPI_Status *seen)
{
    int completed = 0, first = RP_NO_INDEX;

    if (!is_any_pending(count, seen))
        return;
    for (int i = count - 1; i >= 0; i--)
        if (was_completed(i, seen))
            completed++, first = i;
    rp_record_push(RP_YES, site, (uint32_t)count, first, completed, rp_self.waitalls);
    for (int i = first + 1; i > 0 && i < count; i++)
        if (was_completed(i, seen))
            rp_record_push(RP_NEXT, site, 0, i, 0, 0);
}

static __attribute__((noinline)) void waitall_failed(const struct rp_call *call, int count, const MPI_Status *seen)
{
    uint32_t site = rp_record_site(call);

    push_partial(site, count, seen);
    for (int i = 0; i < count; i++)
        if (was_completed(i, seen))
            complete_one(record.handles[i], &seen[i], site);
    rp_record_publish();
}

/* None of them matters to us. */
static int waitall_unseen(const struct rp_call *call, int count, MPI_Request *requests, MPI_Status *statuses)
{
    rp_threads_leave();
    int rc = call->next->Waitall(count, requests, statuses);
    rp_threads_enter();
    return rc;
}

static int record_waitall(const struct rp_call *call, int count, MPI_Request *requests, MPI_Status *statuses)
{
    bool looked_at = requests && (any_counted(count, requests) || (rp_threads_on && rp_state.notes_named));
    MPI_Status *seen = statuses;

    begin(call);
    int rc = looked_at ? real_waitall(call, count, requests, statuses, &seen) : waitall_unseen(call, count, requests, statuses);
    if (looked_at && rc == MPI_SUCCESS) {
        complete_all(count, NULL, seen, rp_record_site(call));
        rp_record_publish();
    } else if (looked_at && rp_outcome_class(rc) == MPI_ERR_IN_STATUS) {
        waitall_failed(call, count, seen);
    }
    end();
    return rc;
}

/* Waitany, or Testany that answered yes. */
static inline void push_index(const struct rp_call *call, int count, int index, const MPI_Status *seen)
{
    uint32_t site = rp_record_site(call);
    bool some = index != MPI_UNDEFINED;

    rp_record_push(RP_YES, site, (uint32_t)count, some ? index : RP_NO_INDEX, some, 0);
    if (some && rp_state.watched)
        complete_one(record.handles[index], seen, site);
    rp_record_publish();
}

/* MPI_UNDEFINED because there was nothing to complete: no event. */
static inline bool is_decided(int index, int count, const MPI_Request *requests)
{
    return index == MPI_UNDEFINED && rp_outcome_all_null(count, requests);
}

static void told_waitany(const struct rp_call *call, int count, const MPI_Request *requests, const int *index, const MPI_Status *seen, int rc)
{
    if (rc != MPI_SUCCESS && (!index || *index == MPI_UNDEFINED))
        push_error(call, (uint32_t)count, rc);
    else if (!is_decided(*index, count, requests))
        push_index(call, count, *index, seen);
}

static int record_waitany(const struct rp_call *call, int count, MPI_Request *requests, int *index,
                          MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    begin(call);
    if (index)
        *index = MPI_UNDEFINED;
    int rc = real_waitany(call, count, requests, index, seen);
    told_waitany(call, count, requests, index, seen, rc);
    end();
    return rc;
}

static __attribute__((noinline)) int waitany_unusually(const struct rp_origin *origin, uintptr_t return_address, uintptr_t stack, int count,
                                                       const MPI_Request *requests, const int *index, const MPI_Status *seen, int rc)
{
    struct rp_call call = {origin->function, origin->next, return_address, stack};

    told_waitany(&call, count, requests, index, seen, rc);
    return rc;
}

int rp_usual_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status, const struct rp_origin *origin)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    prepare(count, requests, NULL);
    if (index)
        *index = MPI_UNDEFINED;
    int rc = origin->next->Waitany(count, requests, index, seen);
    if (rc == MPI_SUCCESS && *index != MPI_UNDEFINED && tell_one(origin, RP_PLACE, count, *index, 1, &record.handles[*index], seen))
        return rc;
    return waitany_unusually(origin, RP_PLACE, count, requests, index, seen, rc);
}

static inline void push_some(const struct rp_call *call, int count, int outcount, const int *indices, const MPI_Status *seen)
{
    uint32_t site = rp_record_site(call);

    if (outcount == MPI_UNDEFINED)
        rp_record_push(RP_YES, site, (uint32_t)count, RP_NO_INDEX, RP_UNDEFINED_COUNT, 0);
    else
        rp_record_push(RP_YES, site, (uint32_t)count, indices[0], outcount, 0);
    for (int i = 1; i < outcount; i++)
        rp_record_push(RP_NEXT, site, 0, indices[i], 0, 0);
    if (rp_state.watched && outcount == 1)
        complete_one(record.handles[indices[0]], seen, site);
    else if (rp_state.watched && outcount > 1)
        complete_all(outcount, indices, seen, site);
    rp_record_publish();
}

static void told_some(const struct rp_call *call, int count, const MPI_Request *requests, const int *outcount, const int *indices,
                      const MPI_Status *seen, int rc)
{
    if (!rp_outcome_some(rc))
        push_error(call, (uint32_t)count, rc);
    else if (*outcount == 0)
        rp_record_no(call, (uint32_t)count);
    else if (!is_decided(*outcount, count, requests))
        push_some(call, count, *outcount, indices, seen);
}

static int record_waitsome(const struct rp_call *call, int count, MPI_Request *requests, int *outcount,
                           int *indices, MPI_Status *statuses)
{
    begin(call);
    MPI_Status *seen;
    int rc = real_waitsome(call, count, requests, outcount, indices, statuses, &seen);

    told_some(call, count, requests, outcount, indices, seen, rc);
    end();
    return rc;
}

static int record_testsome(const struct rp_call *call, int count, MPI_Request *requests, int *outcount,
                           int *indices, MPI_Status *statuses)
{
    begin(call);
    MPI_Status *seen = prepare(count, requests, statuses);
    int rc = call->next->Testsome(count, requests, outcount, indices, seen);

    told_some(call, count, requests, outcount, indices, seen, rc);
    end();
    return rc;
}

static __attribute__((noinline)) int some_unusually(const struct rp_origin *origin, uintptr_t return_address, uintptr_t stack, int count,
                                                    const MPI_Request *requests, const int *outcount, const int *indices, const MPI_Status *seen, int rc)
{
    struct rp_call call = {origin->function, origin->next, return_address, stack};

    told_some(&call, count, requests, outcount, indices, seen, rc);
    return rc;
}

int rp_usual_Waitsome(int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses, const struct rp_origin *origin)
{
    MPI_Status *seen = prepare(count, requests, statuses);
    int rc = origin->next->Waitsome(count, requests, outcount, indices, seen);

    if (rc == MPI_SUCCESS && *outcount == 1 && tell_one(origin, RP_PLACE, count, *indices, 1, &record.handles[*indices], seen))
        return rc;
    return some_unusually(origin, RP_PLACE, count, requests, outcount, indices, seen, rc);
}

int rp_usual_Testsome(int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses, const struct rp_origin *origin)
{
    MPI_Status *seen = prepare(count, requests, statuses);
    int rc = origin->next->Testsome(count, requests, outcount, indices, seen);

    if (rc == MPI_SUCCESS && *outcount == 0 && rp_record_no_again(origin->function, (uint32_t)count))
        return rc;
    if (rc == MPI_SUCCESS && *outcount == 1 && tell_one(origin, RP_PLACE, count, *indices, 1, &record.handles[*indices], seen))
        return rc;
    return some_unusually(origin, RP_PLACE, count, requests, outcount, indices, seen, rc);
}

/* Test, Testall and answers about a request that stays as it is: yes without an index. Returns the site. */
static inline uint32_t push_yes(const struct rp_call *call, int count)
{
    uint32_t site = rp_record_site(call);

    rp_record_push(RP_YES, site, (uint32_t)count, RP_NO_INDEX, 0, 0);
    return site;
}

static inline void push_refusal(const struct rp_call *call, int count, int rc)
{
    if (rc != MPI_SUCCESS)
        push_error(call, (uint32_t)count, rc);
    else
        rp_record_no(call, (uint32_t)count);
}

static void told_test(const struct rp_call *call, MPI_Request before, const int *flag, const MPI_Status *seen, int rc)
{
    if (rc == MPI_SUCCESS && before == rp_constant.request_null)
        return; /* decided */
    if (!flag || !*flag) {
        push_refusal(call, 1, rc);
        return;
    }
    uint32_t site = push_yes(call, 1);
    if (rp_state.watched)
        complete_one(before, seen, site);
    rp_record_publish();
}

static int record_test(const struct rp_call *call, MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    MPI_Request before = request ? *request : rp_constant.request_null;

    begin(call);
    if (flag)
        *flag = 0;
    int rc = call->next->Test(request, flag, seen);
    told_test(call, before, flag, seen, rc);
    end();
    return rc;
}

static __attribute__((noinline)) int test_unusually(const struct rp_origin *origin, uintptr_t return_address, uintptr_t stack, MPI_Request before,
                                                    const int *flag, const MPI_Status *seen, int rc)
{
    struct rp_call call = {origin->function, origin->next, return_address, stack};

    told_test(&call, before, flag, seen, rc);
    return rc;
}

int rp_usual_Test(MPI_Request *request, int *flag, MPI_Status *status, const struct rp_origin *origin)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    MPI_Request before = request ? *request : rp_constant.request_null;

    if (flag)
        *flag = 0;
    int rc = origin->next->Test(request, flag, seen);
    if (rc == MPI_SUCCESS && before != rp_constant.request_null) {
        if (!*flag && rp_record_no_again(origin->function, 1))
            return rc;
        if (*flag && tell_one(origin, RP_PLACE, 1, RP_NO_INDEX, 0, &before, seen))
            return rc;
    }
    return test_unusually(origin, RP_PLACE, before, flag, seen, rc);
}

static int record_testall(const struct rp_call *call, int count, MPI_Request *requests, int *flag,
                          MPI_Status *statuses)
{
    bool decided = rp_outcome_all_null(count, requests);

    begin(call);
    MPI_Status *seen = prepare(count, requests, statuses);
    if (flag)
        *flag = 0;
    int rc = call->next->Testall(count, requests, flag, seen);
    if (rc == MPI_SUCCESS && decided) {
        /* decided */
    } else if (rp_outcome_some(rc) && *flag) {
        uint32_t site = push_yes(call, count);
        if (rp_state.watched)
            complete_all(count, NULL, seen, site);
        rp_record_publish();
    } else {
        push_refusal(call, count, rc);
    }
    end();
    return rc;
}

static void told_testany(const struct rp_call *call, int count, const MPI_Request *requests, const int *index, const int *flag,
                         const MPI_Status *seen, int rc)
{
    if (!flag || !*flag)
        push_refusal(call, count, rc);
    else if (!is_decided(*index, count, requests))
        push_index(call, count, *index, seen);
}

static int record_testany(const struct rp_call *call, int count, MPI_Request *requests, int *index, int *flag,
                          MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    begin(call);
    prepare(count, requests, NULL);
    if (flag)
        *flag = 0;
    int rc = call->next->Testany(count, requests, index, flag, seen);
    told_testany(call, count, requests, index, flag, seen, rc);
    end();
    return rc;
}

static __attribute__((noinline)) int testany_unusually(const struct rp_origin *origin, uintptr_t return_address, uintptr_t stack, int count,
                                                       const MPI_Request *requests, const int *index, const int *flag, const MPI_Status *seen, int rc)
{
    struct rp_call call = {origin->function, origin->next, return_address, stack};

    told_testany(&call, count, requests, index, flag, seen, rc);
    return rc;
}

int rp_usual_Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status, const struct rp_origin *origin)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    prepare(count, requests, NULL);
    if (flag)
        *flag = 0;
    int rc = origin->next->Testany(count, requests, index, flag, seen);
    if (rc == MPI_SUCCESS && !*flag && rp_record_no_again(origin->function, (uint32_t)count))
        return rc;
    if (rc == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED && tell_one(origin, RP_PLACE, count, *index, 1, &record.handles[*index], seen))
        return rc;
    return testany_unusually(origin, RP_PLACE, count, requests, index, flag, seen, rc);
}

static int record_request_get_status(const struct rp_call *call, MPI_Request request, int *flag,
                                     MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    begin(call);
    int rc = call->next->Request_get_status(request, flag, seen);
    struct rp_request *entry = rp_state.watched ? counted(request) : NULL;
    if (rc == MPI_SUCCESS && *flag) {
        uint32_t site = push_yes(call, 1);
        if (entry && entry->flags & RP_REQUEST_WILD && entry->flags & RP_REQUEST_RECEIVE && !rp_outcome_cancelled(entry, seen))
            rp_record_push(RP_FREED, site, 0, seen->MPI_SOURCE, seen->MPI_TAG, entry->post);
        rp_record_publish();
    } else {
        push_refusal(call, 1, rc);
    }
    end();
    return rc;
}

static int record_parrived(const struct rp_call *call, MPI_Request request, int partition, int *flag)
{
#if MPI_VERSION >= 4
    begin(call);
    int rc = call->next->Parrived(request, partition, flag);

    if (rc == MPI_SUCCESS && *flag) {
        push_yes(call, 1);
        rp_record_publish();
    } else {
        push_refusal(call, 1, rc);
    }
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
    if (!rp_state.notes_named)
        rp_refuse_unforeseen("MPI_Cancel");
    rp_self.depth++;
    int rc = call->next->Cancel(request);
    end();
    if (rc != MPI_SUCCESS)
        return rc;
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, *request);
    if (entry->flags & RP_REQUEST_RECEIVE)
        rp_record_watch(entry, entry->flags | RP_REQUEST_CANCELLING, entry->post);
    else if (!(entry->flags & RP_REQUEST_OTHER))
        rp_record_watch(entry, RP_REQUEST_OTHER, record.cancels++);
    return rc;
}

static int record_request_free(const struct rp_call *call, MPI_Request *request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, *request);
    MPI_Status status;

    if (!entry || !entry->flags)
        return call->next->Request_free(request);
    begin(call);
    if (entry->flags & RP_REQUEST_RECEIVE && entry->flags & RP_REQUEST_CANCELLING) {
        rp_pmpi.Wait(request, &status); /* local after a cancel */
        rp_record_complete_one(entry, &status, rp_record_site(call));
        rp_record_publish();
    } else if (entry->flags & RP_REQUEST_RECEIVE && entry->flags & RP_REQUEST_WILD) {
        rp_record_keep_freed(request, entry);
    }
    int rc = MPI_SUCCESS;
    if (*request != rp_constant.request_null) {
        if (entry->flags & RP_REQUEST_PERSISTENT)
            rp_state.persistent--;
        rc = call->next->Request_free(request);
        entry->flags &= ~(uint64_t)RP_REQUEST_PERSISTENT;
        rp_record_unwatch(entry);
    }
    end();
    return rc;
}

static int record_comm_free(const struct rp_call *call, MPI_Comm *comm)
{
    rp_comms_forget(*comm);
    rp_threads_leave();
    int rc = call->next->Comm_free(comm);
    rp_threads_enter();
    return rc;
}

static int record_comm_disconnect(const struct rp_call *call, MPI_Comm *comm)
{
    rp_comms_forget(*comm);
    rp_threads_leave();
    int rc = call->next->Comm_disconnect(comm);
    rp_threads_enter();
    return rc;
}

/* Threads */

static void record_threads_begin(void)
{
    rp_record_data_threads();
    rp_record_close_runs();
    rp_record_hold(RP_RECORD_THREADS);
    rp_comms_stop_numbering();
}

static void record_turn_begin(const struct rp_call *call, int is_post)
{
    (void)is_post;
    rp_record_choose_thread(call);
}

static void record_turn_end(void)
{
    rp_recorder.turns++;
}

static int record_value(const struct rp_call *call, int32_t *a, uint64_t *c)
{
    rp_record_data_value(a, c);
    rp_record_event(RP_VALUE, rp_record_site(call), 0, *a, 0, *c);
    return 1;
}

/* What was captured before MPI_Init. */
static void push_early(void)
{
    struct rp_early_value value;

    for (size_t i = 0; rp_capture_early(i, &value); i++)
        rp_record_event(RP_VALUE, rp_site_find(&rp_recorder.sites, value.function, value.return_address, 1), 1, value.a, 0, value.c);
}

/* The end */

/* What is found out at the end needs a site, also if the program never made an event. */
static uint32_t end_site(void)
{
    struct rp_call call = {"MPI_Finalize", NULL, (uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0)};

    return rp_state.watched ? rp_record_site(&call) : 0;
}

static enum rp_status close_log(enum rp_end_reason reason, int code, struct rp_log_totals *totals)
{
    struct rp_problem why;

    rp_record_region_end();
    rp_record_tell_pending(end_site());
    rp_record_close_runs();
    rp_log_drain(record.writer);
    *totals = rp_log_totals(record.writer);
    return rp_log_close(record.writer, reason, code, &why); /* an error was said when it happened */
}

static void say_summary(const uint64_t sum[5])
{
    char data[64] = "";

    if (sum[4] > 0)
        snprintf(data, sizeof data, "and %llu bytes of data, ", (unsigned long long)sum[4]);
    rp_message_rank(-1);
    rp_note("recorded %llu events on %d ranks: %llu bytes, %.3f bytes a receive, %sin %s", (unsigned long long)sum[0],
            record.session.ranks, (unsigned long long)sum[2], sum[1] ? (double)sum[2] / (double)sum[1] : 0.0, data,
            record.session.directory);
}

static void record_finalize(void)
{
    struct rp_log_totals totals;
    struct rp_problem why;

    rp_record_settle_freed(end_site());
    enum rp_status status = close_log(RP_END_FINALIZE, 0, &totals);
    uint64_t mine[5] = {totals.events, totals.receives, totals.bytes, status != RP_OK, rp_record_data_close()}, sum[5] = {0};
    rp_session_sum(mine, sum, 5);
    if (record.session.rank != 0 || rp_session_is_alone())
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
    rp_record_data_close();
}

static void record_exit(int status)
{
    struct rp_log_totals totals;

    close_log(RP_END_EXIT, status, &totals);
    rp_record_data_close();
}

static void record_end_elsewhere(void)
{
    rp_log_drain(record.writer);
}

/* Where data is recorded as well, it is in the order in which it came. */
static void record_region_begin(unsigned long count)
{
    if (!rp_setting("REPRISE_RANKS"))
        rp_record_region_begin(count);
}

static const struct rp_engine engine = {
    .name = "record",
    .refuses_threads = 1,
    .received = record_received,
    .received_other = record_received_other,
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
    .threads_begin = record_threads_begin,
    .turn_begin = record_turn_begin,
    .turn_end = record_turn_end,
    .value = record_value,
    .region_begin = record_region_begin,
    .region_end = rp_record_region_end,
    .finalize = record_finalize,
    .abort = record_abort,
    .exit = record_exit,
    .end_elsewhere = record_end_elsewhere,
};

/* The start */

static void announce_site(void *owner, const struct rp_buffer *records, uint32_t first)
{
    (void)owner;
    rp_log_sites(record.writer, records, first, 1);
}

/* As the settings say; `reprise record` has looked at them. Nobody has asked for `mix` itself: then it may take one hundredth of the program's time. */
static struct rp_log_manner manner(void)
{
    enum { SHARE = 10 };
    const char *codec = rp_setting("REPRISE_CODEC"), *encoder = rp_setting("REPRISE_ENCODER");
    bool is_auto = !codec || strcmp(codec, "auto") == 0;
    const struct rp_codec *found = is_auto ? NULL : rp_codec_by_name(codec);
    const struct rp_row_codec *rows = is_auto ? NULL : rp_row_codec_by_name(codec);

    return (struct rp_log_manner){
        .codec = found ? found : &rp_codec_mix,
        .is_inline = encoder && strcmp(encoder, "off") == 0,
        .rows = rows,
        .cheap = is_auto ? &rp_codec_tables : NULL,
        .share = SHARE,
    };
}

static enum rp_status open_log(struct rp_problem *why)
{
    struct rp_log_manner how = manner();
    how.timed = !how.rows && rp_setting("REPRISE_TIMESTAMPS");
    enum rp_status status = rp_log_create(record.session.directory, record.session.run, (uint32_t)record.session.rank,
                                          (uint32_t)record.session.ranks, &how, &record.writer, why);

    if (status == RP_OK)
        status = rp_log_stream(record.writer, 0, &rp_recorder.ring, why);
    if (status == RP_OK && !rp_site_table_init(&rp_recorder.sites))
        status = rp_fail(why, RP_MEMORY, "out of memory");
    if (status == RP_OK && how.timed)
        rp_record_with_times();
    rp_recorder.sites.announce = announce_site;
    return status;
}

/* Not every rank could start: nothing is left behind. */
static void undo_start(void)
{
    const char *directory = record.session.directory;
    uint32_t rank = (uint32_t)record.session.rank;
    char *made[] = {rp_log_path(directory, rank), rp_ring_path(directory, rank, 0), rp_data_path(directory, rank), rp_data_tail_path(directory, rank), rp_data_loads_path(directory, rank), rp_data_loads_tail_path(directory, rank)};
    char *manifest = rp_path_join(directory, "incomplete");

    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        if (made[i])
            unlink(made[i]);
        free(made[i]);
    }
    rp_session_meet();
    if (rank == 0 && manifest && !rp_session_is_alone()) {
        unlink(manifest);
        rmdir(directory);
    }
    free(manifest);
}

static enum rp_status open_session(struct rp_problem *why)
{
    if (rp_setting("REPRISE_SOLO"))
        return rp_session_open_alone(&record.session, why);
    rp_session_open(&record.session);
    return record.session.rank == 0 ? rp_record_found(&record.session, why) : RP_OK;
}

void rp_record_start(void)
{
    struct rp_problem why;
    enum rp_status status = RP_OK;

    status = open_session(&why);
    if (status != RP_OK)
        rp_error("cannot %s: %s", rp_session_is_alone() ? "replay" : "record", why.text);
    rp_session_leave_unless_ok(rp_session_is_alone() ? status : rp_session_share(&record.session, status));
    status = open_log(&why);
    if (status == RP_OK && rp_record_clocks_wanted())
        status = rp_record_clocks_open(record.session.rank, &why);
    if (status != RP_OK)
        rp_error("cannot record: %s", why.text);
    rp_session_agree(status, undo_start);
    status = rp_record_data_open(&record.session, &why);
    if (status != RP_OK)
        rp_error("%s", why.text);
    rp_session_agree(status, undo_start);
    rp_comms_init();
    reserve(16);
    rp_state.notes_named = rp_imports_cancel();
    push_early();
    rp_engine = rp_record_clocks_wanted() ? rp_record_clocks_over(&engine) : rp_session_is_alone() ? rp_record_alone_over(&engine, &record.session) : &engine;
    rp_record_data_go();
}
