/* SPDX-License-Identifier: MIT */
/*
 * Completion in a replay: a call waits for exactly the requests that it found before, and a
 * recorded 'no' is answered at once. Placeholders take the place of requests whose match is not
 * what the program asked for (engine/placeholder_requests.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "engine/return_codes.h"
#include "engine/replay_calls.h"
#include "engine/replay_cursor.h"
#include "engine/replay_end.h"
#include "engine/replay_follow.h"
#include "engine/replay_patience.h"
#include "engine/replay_turns.h"
#include "engine/placeholder_requests.h"
#include "engine/replay_wait.h"
#include "preload/constants.h"
#include "entry/request_notes.h"
#include "entry/thread_state.h"
#include "entry/threads.h"

/* Room for one call's requests. */
static __thread struct {
    MPI_Request *before; /* handles as the program passed them */
    MPI_Request *real;   /* with placeholders */
    MPI_Request *subset;
    MPI_Status *statuses;
    int *indices; /* of the real call */
    int *chosen;  /* of the program's, where it has no array for them */
    size_t room;
} room;
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
    if (!room.chosen || !room.before || !room.real || !room.subset || !room.statuses ||
        !room.indices)
        rp_bug(__FILE__, __LINE__, "out of memory for a request array");
    room.room = wanted;
}

void rp_replay_complete_start(void)
{
    reserve(16);
}

/* The program learns that this request is complete: the same events as in the record. */
static void complete(const struct rp_call *call, MPI_Request request, const MPI_Status *status)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);

    if (!entry || !(entry->flags & (RP_REQUEST_RECEIVE | RP_REQUEST_OTHER)))
        return;
    uint64_t flags = entry->flags, post = entry->post,
             lasting = RP_REQUEST_PERSISTENT | RP_REQUEST_WILD;
    bool cancelled = rp_return_code_cancelled(entry, status);
    if (flags & RP_REQUEST_PERSISTENT) {
        entry->flags = flags & lasting;
    } else {
        rp_placeholder_forget(entry);
        entry->flags = 0;
    }
    if (cancelled)
        rp_follow_observe(call, flags & RP_REQUEST_OTHER ? RP_UNSENT : RP_CANCELLED, 0, 0, 0, post);
    else if (flags & RP_REQUEST_WILD)
        rp_follow_observe(call, RP_MATCH, 0, status->MPI_SOURCE, status->MPI_TAG, post);
}

/* Ready for the real call on `count` requests: returns them with placeholders, and keeps the
 * program's. */
static MPI_Request *enter(int count, MPI_Request *requests)
{
    reserve(count);
    if (count > 0 && requests)
        memcpy(room.before, requests, (size_t)count * sizeof *requests);
    return requests ? rp_placeholder_enter(count, requests, room.real) : NULL;
}

static void leave(int count, MPI_Request *requests, const MPI_Request *real)
{
    if (requests)
        rp_placeholder_leave(count, requests, real, room.before);
}

/* The call's arguments with other requests, and statuses of ours where the program wants none. */
static struct rp_completion with_requests(const struct rp_completion *c, int count,
                                          MPI_Request *requests)
{
    struct rp_completion other = *c;

    other.count = count;
    other.requests = requests;
    if (rp_completion_ignores(c))
        other.statuses = room.statuses;
    return other;
}

/*
 * Makes the real call. One that waits, as all do that completed something in the record, can return
 * at once, as a rule. With threads it is made of polls all the same, since the lock is held.
 */
static int real_call(const struct rp_call *call, const struct rp_completion *c, bool waits)
{
    const char *what = c->form == RP_COMPLETE_ONE ? "a request of its own" : "requests of its own";
    struct rp_patience patience = {0};
    int flag = 0, rc;
    struct rp_completion test = rp_completion_as_test(c, &flag);

    if (!waits || (!c->tests && !rp_threads_on))
        return rp_completion_call(call->next, c);
    while ((rc = rp_completion_call(call->next, &test)) == MPI_SUCCESS &&
           !rp_completion_said_yes(&test))
        rp_patience_poll(&patience, call, what);
    rp_patience_end(&patience);
    return rc;
}

/* The real call on all requests of the program's call completed those that it says. */
static void complete_found(const struct rp_call *call, const struct rp_completion *c, int rc)
{
    bool has_some = c->form == RP_COMPLETE_ONE || c->form == RP_COMPLETE_ANY
                        ? rp_return_code_matched(rc)
                        : rp_return_code_some(rc);

    if (!has_some || (c->flag && !*c->flag))
        return;
    if (c->form == RP_COMPLETE_ANY && *c->index != MPI_UNDEFINED)
        complete(call, room.before[*c->index], c->statuses);
    for (int i = 0; c->form == RP_COMPLETE_SOME && i < *c->outcount; i++)
        complete(call, room.before[c->indices[i]], &c->statuses[i]);
    if (c->form == RP_COMPLETE_ANY || c->form == RP_COMPLETE_SOME)
        return;
    for (int i = 0; i < c->count; i++)
        if (rc == MPI_SUCCESS || c->form == RP_COMPLETE_ONE ||
            rp_return_code_class(c->statuses[i].MPI_ERROR) != MPI_ERR_PENDING)
            complete(call, room.before[i], &c->statuses[i]);
}

/* All requests take part in the real call. `event`: that the record has for it, which the call
 * makes true; NULL: none. */
static int complete_freely(const struct rp_call *call, const struct rp_completion *c,
                           const struct rp_event *event)
{
    bool is_about_all = rp_completion_is_about_all(c);
    bool waits = !c->tests || (is_about_all && event && event->kind == RP_YES);
    MPI_Request *real = enter(c->count, c->requests);
    struct rp_completion with = with_requests(c, c->count, real);
    int rc = real_call(call, &with, waits);

    leave(c->count, c->requests, real);
    if (event)
        rp_follow_take();
    if (is_about_all || !event)
        complete_found(call, &with, rc);
    return rc;
}

/* A recorded index must be that of a request that can complete. */
static void check_index(const struct rp_call *call, int index, int count,
                        const MPI_Request *requests)
{
    if (index >= count)
        rp_follow_diverge(call, "the completed request is not in the array");
    if (requests[index] == rp_constant.request_null)
        rp_follow_diverge(call, "the completed request is null here");
}

/* MPI_Waitany, MPI_Testany: only the recorded request takes part in the real call. */
static int complete_any(const struct rp_call *call, const struct rp_completion *c, int index)
{
    int only = 0;

    check_index(call, index, c->count, c->requests);
    rp_await_request(call, c->requests[index]);
    MPI_Request before = c->requests[index], *real = enter(1, &c->requests[index]);
    struct rp_completion with = with_requests(c, 1, real);
    with.index = &only;
    int rc = real_call(call, &with, true);
    leave(1, &c->requests[index], real);
    rp_follow_take();
    complete(call, before, with.statuses);
    *c->index = index;
    return rc;
}

/* MPI_Waitsome, MPI_Testsome: exactly the recorded requests take part, in the recorded order. */
static int complete_some(const struct rp_call *call, const struct rp_completion *c)
{
    int wanted = rp_cursor_ahead(0)->yes.count, found = 0;

    reserve(c->count);
    for (int i = 0; i < wanted; i++) {
        c->indices[i] = rp_cursor_ahead((size_t)i)->next.index;
        check_index(call, c->indices[i], c->count, c->requests);
        MPI_Request *request = &c->requests[c->indices[i]];
        rp_await_request(call, *request);
        room.before[i] = *request;
        room.subset[i] = rp_placeholder_real(*request);
    }
    struct rp_completion with = with_requests(c, wanted, room.subset);
    with.outcount = &found;
    with.indices = room.indices;
    int rc = real_call(call, &with, true);
    if (!rp_return_code_some(rc) || found != wanted)
        rp_follow_diverge(call, "a completed request is inactive here");
    for (int i = 0; i < wanted; i++)
        rp_follow_take();
    for (int i = 0; i < wanted; i++) {
        rp_placeholder_leave(1, &c->requests[c->indices[i]], &room.subset[i], &room.before[i]);
        complete(call, room.before[i], &with.statuses[i]);
    }
    *c->outcount = wanted;
    return rc;
}

/* The status, in a Waitall that failed, of a request that it did not complete: pending, or empty in
 * this MPI's manner where there was nothing to wait for. */
static void tell_incomplete(MPI_Request handle, MPI_Status *status)
{
    const struct rp_request *entry = rp_requests_find(&rp_state.requests, handle);
    bool is_inactive =
        entry && entry->flags & RP_REQUEST_PERSISTENT && !(entry->flags & RP_REQUEST_RECEIVE);
    MPI_Request nothing = rp_constant.request_null;
    int flag;

    if (handle == rp_constant.request_null || is_inactive)
        rp_pmpi.Test(&nothing, &flag, status);
    else
        status->MPI_ERROR = MPI_ERR_PENDING;
}

/* A Waitall that failed before all were complete: exactly those that were complete are, the others
 * stay pending. */
static int waitall_partly(const struct rp_call *call, const struct rp_completion *c)
{
    const struct rp_event *event = rp_follow_expect(call, (uint32_t)c->count, RP_KIND(RP_YES));
    bool has_statuses = !rp_completion_ignores(c);
    int found = 0;

    if (!event)
        return rp_completion_call(call->next, c);
    int completed = event->yes.count;
    reserve(c->count);
    for (int i = 0; i < c->count && has_statuses; i++)
        tell_incomplete(c->requests[i], &c->statuses[i]);
    struct rp_completion some = {.form = RP_COMPLETE_SOME,
                                 .count = c->count,
                                 .requests = c->requests,
                                 .outcount = &found,
                                 .indices = room.chosen,
                                 .statuses = MPI_STATUSES_IGNORE};
    int rc = complete_some(call, &some);
    for (int i = 0; i < completed && has_statuses; i++)
        c->statuses[room.chosen[i]] = room.statuses[i];
    return rc;
}

static bool are_complete(int count, const MPI_Request *requests)
{
    int flag = 1;

    rp_quiet_begin();
    for (int i = 0; i < count && flag; i++) {
        MPI_Request real = rp_placeholder_real(requests[i]);
        if (real != rp_constant.request_null && !rp_makes_its_own_progress(requests[i]) &&
            rp_pmpi.Request_get_status(real, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            flag = 1; /* the real call finds it out */
    }
    rp_quiet_end();
    return flag;
}

static bool has_ghost(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (rp_is_ghost(requests[i]))
            return true;
    return false;
}

/* Waits for all of them, or, with true, until the record says that the call failed before. With
 * threads, that may become the next event only later. */
static bool await_all(const struct rp_call *call, int count, MPI_Request *requests)
{
    struct rp_patience patience = {0};
    bool failed = rp_follow_is_next(call, RP_YES);

    if (!rp_threads_on) {
        for (int i = 0; i < count && requests && !failed; i++) {
            rp_stop_at_ghost(call, requests[i]);
            rp_await_request(call, requests[i]);
        }
        return failed;
    }
    while (requests && !failed && !rp_replay_is_free() && !are_complete(count, requests)) {
        if (has_ghost(count, requests) && rp_turns_are_over()) {
            rp_replay_end_of_record(call);
            break;
        }
        rp_patience_poll(&patience, call, "requests of its own");
        failed = rp_follow_is_next(call, RP_YES);
    }
    rp_patience_end(&patience);
    return failed;
}

/* MPI_Wait, MPI_Waitall: no event of their own. */
static int wait_for_all(const struct rp_call *call, const struct rp_completion *c)
{
    if (c->form == RP_COMPLETE_ONE) {
        rp_stop_at_ghost(call, *c->requests);
        rp_await_request(call, *c->requests);
    } else if (await_all(call, c->count, c->requests)) {
        return waitall_partly(call, c);
    }
    return complete_freely(call, c, NULL);
}

/* A test, or a wait for one or some: the next event is its answer. */
static int answer(const struct rp_call *call, const struct rp_completion *c)
{
    uint32_t no = c->tests ? RP_KIND(RP_NO) : 0;
    const struct rp_event *event =
        rp_follow_expect(call, (uint32_t)c->count, no | RP_KIND(RP_YES) | RP_KIND(RP_ERROR));
    bool is_yes = event && event->kind == RP_YES;

    if (event && event->kind == RP_NO) {
        rp_completion_put_no(c);
        rp_answer_no();
        return MPI_SUCCESS;
    }
    if (is_yes && c->form == RP_COMPLETE_ANY && event->yes.index >= 0)
        return complete_any(call, c, event->yes.index);
    if (is_yes && c->form == RP_COMPLETE_SOME && event->yes.count > 0)
        return complete_some(call, c);
    bool is_about_all = rp_completion_is_about_all(c);
    for (int i = 0; is_yes && is_about_all && i < c->count; i++)
        rp_await_request(call, c->requests[i]);
    return complete_freely(call, c, event);
}

/* Nothing can complete: what the call answers is no event, unless it fails. */
static int call_decided(const struct rp_call *call, const struct rp_completion *c)
{
    int rc = rp_completion_call(call->next, c);

    if (rc != MPI_SUCCESS)
        rp_follow_observe(call, RP_ERROR, (uint32_t)c->count, rp_return_code_class(rc), 0, 0);
    return rc;
}

int rp_replay_complete(const struct rp_call *call, const struct rp_completion *c)
{
    int rc;

    rp_replay_call_begins();
    if (rp_completion_waits_for_all(c))
        rc = wait_for_all(call, c);
    else if (rp_return_code_all_null(c->count, c->requests))
        rc = call_decided(call, c);
    else
        rc = answer(call, c);
    rp_replay_call_ends();
    return rc;
}

int rp_replay_Request_get_status(const struct rp_call *call, MPI_Request request, int *flag,
                                 MPI_Status *status)
{
    int rc = MPI_SUCCESS;

    rp_replay_call_begins();
    const struct rp_event *event =
        rp_follow_expect(call, 1, RP_KIND(RP_NO) | RP_KIND(RP_YES) | RP_KIND(RP_ERROR));
    if (event && event->kind == RP_NO) {
        *flag = 0;
        rp_answer_no();
    } else {
        if (event && event->kind == RP_YES)
            rp_await_request(call, request);
        rc = call->next->Request_get_status(rp_placeholder_real(request), flag, status);
        if (event)
            rp_follow_take();
    }
    rp_replay_call_ends();
    return rc;
}

int rp_replay_Parrived(const struct rp_call *call, MPI_Request request, int partition, int *flag)
{
#if RP_HAS_PARTITIONED
    struct rp_patience patience = {0};
    int rc = MPI_SUCCESS;

    rp_replay_call_begins();
    const struct rp_event *event =
        rp_follow_expect(call, 1, RP_KIND(RP_NO) | RP_KIND(RP_YES) | RP_KIND(RP_ERROR));
    if (event && event->kind == RP_NO) {
        *flag = 0;
        rp_answer_no();
    } else {
        while ((rc = call->next->Parrived(request, partition, flag)) == MPI_SUCCESS && !*flag &&
               event && event->kind == RP_YES)
            rp_patience_poll(&patience, call, "a partition");
        rp_patience_end(&patience);
        if (event)
            rp_follow_take();
    }
    rp_replay_call_ends();
    return rc;
#else
    (void)call, (void)request, (void)partition, (void)flag;
    return MPI_ERR_OTHER;
#endif
}

/* Cancelling and freeing */

static uint64_t cancels;

int rp_replay_Cancel(const struct rp_call *call, MPI_Request *request)
{
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, *request);
    MPI_Request real = rp_placeholder_real(*request);
    int rc = MPI_SUCCESS;

    rp_replay_call_begins();
    if (entry->flags & RP_REQUEST_RECEIVE) {
        /* A cancel that lost in the record must not win now. */
        if (entry->flags & RP_REQUEST_GHOST || rp_replay_is_free())
            rc = call->next->Cancel(&real);
        entry->flags |= RP_REQUEST_CANCELLING;
    } else {
        rc = call->next->Cancel(&real);
        if (rc == MPI_SUCCESS && !(entry->flags & RP_REQUEST_OTHER)) {
            entry->flags |= RP_REQUEST_OTHER;
            entry->post = cancels++;
        }
    }
    rp_replay_call_ends();
    return rc;
}

int rp_replay_Request_free(const struct rp_call *call, MPI_Request *request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, *request);
    MPI_Status status;

    if (!entry || !entry->flags)
        return call->next->Request_free(request);
    rp_replay_call_begins();
    if (entry->flags & RP_REQUEST_RECEIVE && entry->flags & RP_REQUEST_CANCELLING) {
        MPI_Request before = *request;
        rp_await_request(call, *request);
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
        rp_placeholder_forget(entry);
        rc = call->next->Request_free(request);
        entry->flags = 0;
    }
    rp_replay_call_ends();
    return rc;
}
