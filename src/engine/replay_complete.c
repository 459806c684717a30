/* SPDX-License-Identifier: MIT */
/*
 * Completion in a replay: a call waits for exactly the requests that it found before, and a
 * recorded 'no' is answered at once. Stand-ins take the place of requests whose match is not what
 * the program asked for (engine/placeholder_requests.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "engine/return_codes.h"
#include "engine/replay_calls.h"
#include "engine/replay_follow.h"
#include "engine/placeholder_requests.h"
#include "engine/replay_wait.h"
#include "preload/constants.h"
#include "entry/life.h"
#include "entry/request_notes.h"
#include "entry/thread_state.h"
#include "entry/threads.h"

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

typedef int some_function(int, MPI_Request *, int *, int *, MPI_Status *);

/* After a call that had nothing to complete: no event, unless it failed. */
static int decided(const struct rp_call *call, int count, int rc)
{
    if (rc != MPI_SUCCESS)
        rp_follow_observe(call, RP_ERROR, (uint32_t)count, rp_return_code_class(rc), 0, 0);
    rp_replay_end();
    return rc;
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

/* Ready for the real call on `count` requests: returns them with stand-ins, and keeps the
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

/* The real calls that wait: they can return at once, as a rule. With threads they are polls all the
 * same, since the lock is held. */

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

static int real_waitall(const struct rp_call *call, int count, MPI_Request *requests,
                        MPI_Status *seen)
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

static int real_waitany(const struct rp_call *call, int count, MPI_Request *requests, int *index,
                        MPI_Status *seen)
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
static int real_some(const struct rp_call *call, some_function *real_call, int count,
                     MPI_Request *requests, int *outcount, int *indices, MPI_Status *seen)
{
    struct rp_patience patience = {0};
    int rc;

    if (!rp_threads_on || real_call == call->next->Testsome)
        return real_call(count, requests, outcount, indices, seen);
    while ((rc = call->next->Testsome(count, requests, outcount, indices, seen)) == MPI_SUCCESS &&
           *outcount == 0)
        rp_patience_poll(&patience, call, "requests of its own");
    rp_patience_end(&patience);
    return rc;
}

int rp_replay_Wait(const struct rp_call *call, MPI_Request *request, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    rp_replay_begin();
    rp_stop_at_ghost(call, *request);
    rp_await_request(call, *request);
    MPI_Request before = *request, *real = enter(1, request);
    int rc = real_wait(call, real, seen);
    leave(1, request, real);
    if (rp_return_code_matched(rc))
        complete(call, before, seen);
    rp_replay_end();
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

/* The one request of Waitany and Testany: only it takes part in the real call. */
static int complete_one(const struct rp_call *call, MPI_Request *requests, int index, int *flag,
                        MPI_Status *seen)
{
    int only = 0, rc;

    rp_await_request(call, requests[index]);
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

int rp_replay_Waitany(const struct rp_call *call, int count, MPI_Request *requests, int *index,
                      MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc;

    rp_replay_begin();
    if (rp_return_code_all_null(count, requests))
        return decided(call, count, call->next->Waitany(count, requests, index, seen));
    const struct rp_event *event =
        rp_follow_expect(call, (uint32_t)count, RP_KIND(RP_YES) | RP_KIND(RP_ERROR));
    if (event && event->kind == RP_YES && event->yes.index >= 0) {
        int chosen = event->yes.index;
        check_index(call, chosen, count, requests);
        rc = complete_one(call, requests, chosen, NULL, seen);
        *index = chosen;
    } else {
        MPI_Request *real = enter(count, requests);
        rc = real_waitany(call, count, real, index, seen);
        leave(count, requests, real);
        if (event)
            rp_follow_take();
        else if (rp_return_code_matched(rc) && *index != MPI_UNDEFINED)
            complete(call, room.before[*index], seen);
    }
    rp_replay_end();
    return rc;
}

int rp_replay_Testany(const struct rp_call *call, int count, MPI_Request *requests, int *index,
                      int *flag, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = MPI_SUCCESS;

    rp_replay_begin();
    if (rp_return_code_all_null(count, requests))
        return decided(call, count, call->next->Testany(count, requests, index, flag, seen));
    const struct rp_event *event =
        rp_follow_expect(call, (uint32_t)count,
                         RP_KIND(RP_NO) | RP_KIND(RP_YES) | RP_KIND(RP_ERROR));
    if (event && event->kind == RP_NO) {
        *flag = 0;
        *index = MPI_UNDEFINED;
        rp_answer_no();
    } else if (event && event->kind == RP_YES && event->yes.index >= 0) {
        int chosen = event->yes.index;
        check_index(call, chosen, count, requests);
        rc = complete_one(call, requests, chosen, flag, seen);
        *index = chosen;
    } else {
        MPI_Request *real = enter(count, requests);
        rc = call->next->Testany(count, real, index, flag, seen);
        leave(count, requests, real);
        if (event)
            rp_follow_take();
        else if (rp_return_code_matched(rc) && *flag && *index != MPI_UNDEFINED)
            complete(call, room.before[*index], seen);
    }
    rp_replay_end();
    return rc;
}

/* Waitsome and Testsome of exactly the recorded requests, in the recorded order. */
static int complete_some(const struct rp_call *call, some_function *real_call, int count,
                         MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    int wanted = rp_follow_ahead(0)->yes.count, found = 0;

    reserve(count);
    for (int i = 0; i < wanted; i++) {
        indices[i] = rp_follow_ahead((size_t)i)->next.index;
        check_index(call, indices[i], count, requests);
        rp_await_request(call, requests[indices[i]]);
        room.before[i] = requests[indices[i]];
        room.subset[i] = rp_placeholder_real(requests[indices[i]]);
    }
    MPI_Status *seen = statuses == MPI_STATUSES_IGNORE ? room.statuses : statuses;
    int rc = real_some(call, real_call, wanted, room.subset, &found, room.indices, seen);
    if (!rp_return_code_some(rc) || found != wanted)
        rp_follow_diverge(call, "a completed request is inactive here");
    for (int i = 0; i < wanted; i++)
        rp_follow_take();
    for (int i = 0; i < wanted; i++) {
        rp_placeholder_leave(1, &requests[indices[i]], &room.subset[i], &room.before[i]);
        complete(call, room.before[i], &seen[i]);
    }
    *outcount = wanted;
    return rc;
}

static int freely_some(const struct rp_call *call, some_function *real_call, int count,
                       MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    MPI_Request *real = enter(count, requests);
    MPI_Status *seen = statuses == MPI_STATUSES_IGNORE ? room.statuses : statuses;
    int rc = real_some(call, real_call, count, real, outcount, indices, seen);

    leave(count, requests, real);
    for (int i = 0; rp_return_code_some(rc) && rp_follow_is_free() && i < *outcount; i++)
        complete(call, room.before[indices[i]], &seen[i]);
    return rc;
}

static int replay_some(const struct rp_call *call, some_function *real_call, uint32_t kinds,
                       int count, MPI_Request *requests, int *outcount, int *indices,
                       MPI_Status *statuses)
{
    int rc = MPI_SUCCESS;

    rp_replay_begin();
    if (rp_return_code_all_null(count, requests))
        return decided(call, count, real_call(count, requests, outcount, indices, statuses));
    const struct rp_event *event = rp_follow_expect(call, (uint32_t)count, kinds);
    if (event && event->kind == RP_NO) {
        *outcount = 0;
        rp_answer_no();
    } else if (event && event->kind == RP_YES && event->yes.count > 0) {
        rc = complete_some(call, real_call, count, requests, outcount, indices, statuses);
    } else {
        rc = freely_some(call, real_call, count, requests, outcount, indices, statuses);
        if (event)
            rp_follow_take();
    }
    rp_replay_end();
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
static int waitall_partly(const struct rp_call *call, int count, MPI_Request *requests,
                          MPI_Status *statuses)
{
    const struct rp_event *event = rp_follow_expect(call, (uint32_t)count, RP_KIND(RP_YES));

    if (!event)
        return call->next->Waitall(count, requests, statuses);
    int completed = event->yes.count, found = 0;
    reserve(count);
    MPI_Status *own = room.statuses;
    for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; i++)
        tell_incomplete(requests[i], &statuses[i]);
    int rc = complete_some(call, call->next->Waitsome, count, requests, &found, room.chosen,
                           MPI_STATUSES_IGNORE);
    for (int i = 0; i < completed && statuses != MPI_STATUSES_IGNORE; i++)
        statuses[room.chosen[i]] = own[i];
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

int rp_replay_Waitall(const struct rp_call *call, int count, MPI_Request *requests,
                      MPI_Status *statuses)
{
    rp_replay_begin();
    if (await_all(call, count, requests)) {
        int partly = waitall_partly(call, count, requests, statuses);
        rp_replay_end();
        return partly;
    }
    MPI_Request *real = enter(count, requests);
    MPI_Status *seen = statuses == MPI_STATUSES_IGNORE ? room.statuses : statuses;
    int rc = real_waitall(call, count, real, seen);
    leave(count, requests, real);
    bool in_status = rc != MPI_SUCCESS && rp_return_code_class(rc) == MPI_ERR_IN_STATUS;
    for (int i = 0; (rc == MPI_SUCCESS || in_status) && i < count; i++)
        if (!in_status || rp_return_code_class(seen[i].MPI_ERROR) != MPI_ERR_PENDING)
            complete(call, room.before[i], &seen[i]);
    rp_replay_end();
    return rc;
}

int rp_replay_Waitsome(const struct rp_call *call, int count, MPI_Request *requests, int *outcount,
                       int *indices, MPI_Status *statuses)
{
    return replay_some(call, call->next->Waitsome, RP_KIND(RP_YES) | RP_KIND(RP_ERROR), count,
                       requests, outcount, indices, statuses);
}

int rp_replay_Testsome(const struct rp_call *call, int count, MPI_Request *requests, int *outcount,
                       int *indices, MPI_Status *statuses)
{
    return replay_some(call, call->next->Testsome,
                       RP_KIND(RP_NO) | RP_KIND(RP_YES) | RP_KIND(RP_ERROR), count, requests,
                       outcount, indices, statuses);
}

int rp_replay_Test(const struct rp_call *call, MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = MPI_SUCCESS;

    rp_replay_begin();
    if (request && *request == rp_constant.request_null)
        return decided(call, 1, call->next->Test(request, flag, seen));
    const struct rp_event *event =
        rp_follow_expect(call, 1, RP_KIND(RP_NO) | RP_KIND(RP_YES) | RP_KIND(RP_ERROR));
    if (event && event->kind == RP_NO) {
        *flag = 0;
        rp_answer_no();
    } else {
        if (event && event->kind == RP_YES)
            rp_await_request(call, *request);
        MPI_Request before = request ? *request : rp_constant.request_null,
                    *real = enter(1, request);
        struct rp_patience patience = {0};
        while ((rc = call->next->Test(real, flag, seen)) == MPI_SUCCESS && !*flag && event &&
               event->kind == RP_YES)
            rp_patience_poll(&patience, call, "a request of its own");
        rp_patience_end(&patience);
        leave(1, request, real);
        if (event)
            rp_follow_take();
        if (rp_return_code_matched(rc) && *flag)
            complete(call, before, seen);
    }
    rp_replay_end();
    return rc;
}

int rp_replay_Testall(const struct rp_call *call, int count, MPI_Request *requests, int *flag,
                      MPI_Status *statuses)
{
    int rc = MPI_SUCCESS;

    rp_replay_begin();
    if (rp_return_code_all_null(count, requests))
        return decided(call, count, call->next->Testall(count, requests, flag, statuses));
    const struct rp_event *event =
        rp_follow_expect(call, (uint32_t)count,
                         RP_KIND(RP_NO) | RP_KIND(RP_YES) | RP_KIND(RP_ERROR));
    if (event && event->kind == RP_NO) {
        *flag = 0;
        rp_answer_no();
        rp_replay_end();
        return rc;
    }
    for (int i = 0; event && event->kind == RP_YES && i < count; i++)
        rp_await_request(call, requests[i]);
    MPI_Request *real = enter(count, requests);
    MPI_Status *seen = statuses == MPI_STATUSES_IGNORE ? room.statuses : statuses;
    rc = call->next->Testall(count, real, flag, seen);
    leave(count, requests, real);
    if (event)
        rp_follow_take();
    for (int i = 0; rp_return_code_some(rc) && *flag && i < count; i++)
        complete(call, room.before[i], &seen[i]);
    rp_replay_end();
    return rc;
}

int rp_replay_Request_get_status(const struct rp_call *call, MPI_Request request, int *flag,
                                 MPI_Status *status)
{
    int rc = MPI_SUCCESS;

    rp_replay_begin();
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
    rp_replay_end();
    return rc;
}

int rp_replay_Parrived(const struct rp_call *call, MPI_Request request, int partition, int *flag)
{
#if MPI_VERSION >= 4
    struct rp_patience patience = {0};
    int rc = MPI_SUCCESS;

    rp_replay_begin();
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
    rp_replay_end();
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

    rp_replay_begin();
    if (entry->flags & RP_REQUEST_RECEIVE) {
        /* A cancel that lost in the record must not win now. */
        if (entry->flags & RP_REQUEST_GHOST || rp_follow_is_free())
            rc = call->next->Cancel(&real);
        entry->flags |= RP_REQUEST_CANCELLING;
    } else {
        rc = call->next->Cancel(&real);
        if (rc == MPI_SUCCESS && !(entry->flags & RP_REQUEST_OTHER)) {
            entry->flags |= RP_REQUEST_OTHER;
            entry->post = cancels++;
        }
    }
    rp_replay_end();
    return rc;
}

int rp_replay_Request_free(const struct rp_call *call, MPI_Request *request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, *request);
    MPI_Status status;

    if (!entry || !entry->flags)
        return call->next->Request_free(request);
    rp_replay_begin();
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
    rp_replay_end();
    return rc;
}
