/* SPDX-License-Identifier: MIT */
/*
 * Completion: which requests a call found complete, or that it found none. Handles are noted before
 * the call, which sets them to null.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "engine/return_codes.h"
#include "engine/record_calls.h"
#include "engine/record_data.h"
#include "preload/constants.h"
#include "entry/refuse.h"
#include "entry/request_notes.h"
#include "entry/threads.h"

/* For one call's requests. */
static struct {
    MPI_Request *handles;
    MPI_Status *statuses;
    size_t count;
} room;

static uint64_t cancels; /* of requests that are no receives */

static void reserve(size_t count)
{
    room.handles = realloc(room.handles, count * sizeof *room.handles);
    room.statuses = realloc(room.statuses, count * sizeof *room.statuses);
    if (!room.handles || !room.statuses)
        rp_bug(__FILE__, __LINE__, "out of memory for a request array");
    room.count = count;
}

void rp_record_complete_start(void)
{
    enum { USUAL = 16 };

    reserve(USUAL);
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

/* Handles as they are before the call sets them to null; statuses of ours where the program wants
 * none. */
static inline MPI_Status *prepare(int count, const MPI_Request *requests, MPI_Status *statuses)
{
    if (!rp_state.watched || count <= 0 || !requests)
        return statuses;
    if (__builtin_expect((size_t)count > room.count, 0))
        reserve((size_t)count);
    copy_handles(room.handles, requests, (size_t)count);
    return statuses == MPI_STATUSES_IGNORE ? room.statuses : statuses;
}

/* What a call completed */

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
        rp_record_complete_last(entry, status, site);
}

/* Completes several at once: first all of them, since their handles are gone, then what they say
 * about others. */
static void complete_all(int count, const int *indices, const MPI_Status *seen, uint32_t site)
{
    bool receives = false;

    for (int i = 0; i < count; i++) {
        struct rp_request *entry =
            rp_requests_find(&rp_state.requests, room.handles[indices ? indices[i] : i]);
        receives |= entry && rp_record_complete_request(entry, &seen[i], site);
    }
    for (int i = 0; receives && rp_state.watched && i < count; i++) {
        struct rp_request *entry =
            rp_requests_find(&rp_state.requests, room.handles[indices ? indices[i] : i]);
        if (entry)
            rp_record_push_older(entry->post, &seen[i], site);
    }
}

/* MPI_Wait of this request returned. */
static void push_waited(const struct rp_call *call, struct rp_request *entry,
                        const MPI_Status *seen, int rc)
{
    if (!rp_return_code_matched(rc)) {
        rp_record_unwatch(entry); /* it failed, and is gone */
        return;
    }
    rp_record_complete_last(entry, seen, rp_record_site(call));
    rp_record_publish();
}

/* Of a Waitall that failed: whether it completed this request. What was null or inactive before is
 * not pending either. */
static bool was_completed(int index, const MPI_Status *seen)
{
    MPI_Request handle = room.handles[index];
    const struct rp_request *entry = rp_requests_find(&rp_state.requests, handle);
    bool is_inactive =
        entry && entry->flags & RP_REQUEST_PERSISTENT && !(entry->flags & RP_REQUEST_RECEIVE);

    return handle != rp_constant.request_null && !is_inactive &&
           rp_return_code_class(seen[index].MPI_ERROR) != MPI_ERR_PENDING;
}

static bool is_any_pending(int count, const MPI_Status *seen)
{
    for (int i = 0; i < count; i++)
        if (rp_return_code_class(seen[i].MPI_ERROR) == MPI_ERR_PENDING)
            return true;
    return false;
}

/* A failed request can make Waitall return before the others are complete; which ones, MPI leaves
 * open. */
static void push_partial(uint32_t site, int count, const MPI_Status *seen)
{
    int completed = 0, first = RP_NO_INDEX;

    if (!is_any_pending(count, seen))
        return;
    for (int i = count - 1; i >= 0; i--)
        if (was_completed(i, seen))
            completed++, first = i;
    rp_record_push(RP_YES, site, (uint32_t)count, first, completed, rp_thread_state.waitalls);
    for (int i = first + 1; i > 0 && i < count; i++)
        if (was_completed(i, seen))
            rp_record_push(RP_NEXT, site, 0, i, 0, 0);
}

static __attribute__((noinline)) void waitall_failed(const struct rp_call *call, int count,
                                                     const MPI_Status *seen)
{
    uint32_t site = rp_record_site(call);

    push_partial(site, count, seen);
    for (int i = 0; i < count; i++)
        if (was_completed(i, seen))
            complete_one(room.handles[i], &seen[i], site);
    rp_record_publish();
}

/* Handles were kept only if a request is watched. */
static void push_waited_all(const struct rp_call *call, const struct rp_completion *c, int rc)
{
    if (!rp_state.watched)
        return;
    if (rc == MPI_SUCCESS) {
        complete_all(c->count, NULL, c->statuses, rp_record_site(call));
        rp_record_publish();
    } else if (rp_return_code_class(rc) == MPI_ERR_IN_STATUS) {
        waitall_failed(call, c->count, c->statuses);
    }
}

/* MPI_Test, MPI_Testall, and answers about a request that stays as it is: yes without an index.
 * Returns the site. */
static inline uint32_t push_yes(const struct rp_call *call, int count)
{
    uint32_t site = rp_record_site(call);

    rp_record_push(RP_YES, site, (uint32_t)count, RP_NO_INDEX, 0, 0);
    return site;
}

/* The call failed, or answered no. */
static inline void push_refusal(const struct rp_call *call, int count, int rc)
{
    if (rc != MPI_SUCCESS)
        rp_record_error(call, (uint32_t)count, rc);
    else
        rp_record_no(call, (uint32_t)count);
}

/* MPI_Wait, MPI_Test. `before`: the request's handle before the call. */
static void push_one(const struct rp_call *call, const struct rp_completion *c, MPI_Request before,
                     int rc)
{
    if (!c->tests) {
        struct rp_request *entry = rp_state.watched ? counted(before) : NULL;
        if (entry)
            push_waited(call, entry, c->statuses, rc);
        return;
    }
    if (!c->flag || !*c->flag) {
        push_refusal(call, 1, rc);
        return;
    }
    uint32_t site = push_yes(call, 1);
    if (rp_state.watched)
        complete_one(before, c->statuses, site);
    rp_record_publish();
}

static void push_all(const struct rp_call *call, const struct rp_completion *c, int rc)
{
    if (!c->tests) {
        push_waited_all(call, c, rc);
        return;
    }
    if (!rp_return_code_some(rc) || !*c->flag) {
        push_refusal(call, c->count, rc);
        return;
    }
    uint32_t site = push_yes(call, c->count);
    if (rp_state.watched)
        complete_all(c->count, NULL, c->statuses, site);
    rp_record_publish();
}

static void push_any(const struct rp_call *call, const struct rp_completion *c, int rc)
{
    bool failed = c->tests ? !c->flag || !*c->flag
                           : rc != MPI_SUCCESS && (!c->index || *c->index == MPI_UNDEFINED);

    if (failed) {
        push_refusal(call, c->count, rc);
        return;
    }
    uint32_t site = rp_record_site(call);
    bool some = *c->index != MPI_UNDEFINED;
    rp_record_push(RP_YES, site, (uint32_t)c->count, some ? *c->index : RP_NO_INDEX, some, 0);
    if (some && rp_state.watched)
        complete_one(room.handles[*c->index], c->statuses, site);
    rp_record_publish();
}

static void push_some(const struct rp_call *call, const struct rp_completion *c, int rc)
{
    if (!rp_return_code_some(rc) || *c->outcount == 0) {
        push_refusal(call, c->count, rp_return_code_some(rc) ? MPI_SUCCESS : rc);
        return;
    }
    uint32_t site = rp_record_site(call);
    int outcount = *c->outcount;
    if (outcount == MPI_UNDEFINED)
        rp_record_push(RP_YES, site, (uint32_t)c->count, RP_NO_INDEX, RP_UNDEFINED_COUNT, 0);
    else
        rp_record_push(RP_YES, site, (uint32_t)c->count, c->indices[0], outcount, 0);
    for (int i = 1; i < outcount; i++)
        rp_record_push(RP_NEXT, site, 0, c->indices[i], 0, 0);
    if (rp_state.watched && outcount == 1)
        complete_one(room.handles[c->indices[0]], c->statuses, site);
    else if (rp_state.watched && outcount > 1)
        complete_all(outcount, c->indices, c->statuses, site);
    rp_record_publish();
}

static void push_outcome(const struct rp_call *call, const struct rp_completion *c,
                         MPI_Request before, int rc)
{
    if (c->form == RP_COMPLETE_ONE)
        push_one(call, c, before, rc);
    else if (c->form == RP_COMPLETE_ALL)
        push_all(call, c, rc);
    else if (c->form == RP_COMPLETE_ANY)
        push_any(call, c, rc);
    else
        push_some(call, c, rc);
}

/* The call */

static int poll(const struct rp_call *call, const struct rp_completion *test)
{
    rp_record_data_waits(true);
    int rc = rp_completion_call(call->next, test);
    rp_record_data_waits(false);
    return rc;
}

/*
 * Makes it, with statuses of ours where the program wants none. Where several threads call, a wait
 * is made of polls, and the lock is free between them: what is completed is recorded under the same
 * lock, before another thread can get the handle for a receive of its own.
 */
static int real_call(const struct rp_call *call, struct rp_completion *c, MPI_Status *statuses)
{
    struct rp_completion test;
    unsigned tries = 0;
    int flag = 0, rc;

    c->statuses = prepare(c->count, c->requests, statuses);
    if (c->tests || !rp_threads_on)
        return rp_completion_call(call->next, c);
    test = rp_completion_as_test(c, &flag);
    while ((rc = poll(call, &test)) == MPI_SUCCESS && !rp_completion_said_yes(&test)) {
        rp_threads_give_way(&tries);
        test.statuses = c->statuses =
            prepare(c->count, c->requests, statuses); /* the room is everybody's */
    }
    return rc;
}

/* Whether MPI_Wait or MPI_Waitall may complete what is watched; another thread may cancel a request
 * meanwhile. */
static bool is_seen(const struct rp_completion *c)
{
    return c->requests && (any_counted(c->count, c->requests) ||
                           (rp_threads_on && (c->form == RP_COMPLETE_ONE || rp_state.notes_named)));
}

/* Makes a call that has no outcome to record. */
static int call_unseen(const struct rp_call *call, const struct rp_completion *c)
{
    rp_threads_leave();
    int rc = rp_completion_call(call->next, c);
    rp_threads_enter();
    return rc;
}

/* Nothing can complete: what the call answers is no event, unless it fails. */
static int call_decided(const struct rp_call *call, const struct rp_completion *c)
{
    int rc = rp_completion_call(call->next, c);

    if (rc != MPI_SUCCESS)
        rp_record_error(call, (uint32_t)c->count, rc);
    return rc;
}

/* If a call can fail without an outcome, sets the outcome beforehand, so that a missing outcome
 * shows. */
static int call_seen(const struct rp_call *call, const struct rp_completion *asked)
{
    struct rp_completion c = *asked;

    if (c.flag)
        *c.flag = 0;
    if (c.index && !c.tests)
        *c.index = MPI_UNDEFINED;
    int rc = real_call(call, &c, asked->statuses);
    push_outcome(call, &c, rp_state.watched ? room.handles[0] : rp_constant.request_null, rc);
    return rc;
}

int rp_record_complete(const struct rp_call *call, const struct rp_completion *asked)
{
    int rc;

    rp_record_begin(call);
    if (rp_completion_waits_for_all(asked))
        rc = is_seen(asked) ? call_seen(call, asked) : call_unseen(call, asked);
    else if (rp_return_code_all_null(asked->count, asked->requests))
        rc = call_decided(call, asked);
    else
        rc = call_seen(call, asked);
    rp_record_end();
    return rc;
}

/* Usual calls. What turns out to be unusual is recorded in the same way as by rp_record_complete.
 */

/* The call found nothing that it could complete: no event. */
static bool found_nothing(const struct rp_completion *c, MPI_Request before)
{
    if (c->form == RP_COMPLETE_ONE)
        return before == rp_constant.request_null;
    return (c->form == RP_COMPLETE_ANY ? *c->index : *c->outcount) == MPI_UNDEFINED &&
           rp_return_code_all_null(c->count, c->requests);
}

static __attribute__((noinline)) int push_slow(const struct rp_origin *origin,
                                               uintptr_t return_address, uintptr_t stack,
                                               const struct rp_completion *c, MPI_Request before,
                                               int rc)
{
    struct rp_call call = {origin->function, origin->next, return_address, stack};

    if (rc != MPI_SUCCESS || !found_nothing(c, before))
        push_outcome(&call, c, before, rc);
    return rc;
}

static __attribute__((noinline)) int waited_slow(int rc, const struct rp_origin *origin,
                                                 uintptr_t return_address, uintptr_t stack,
                                                 struct rp_request *entry, const MPI_Status *seen)
{
    struct rp_call call = {origin->function, origin->next, return_address, stack};

    push_waited(&call, entry, seen, rc);
    return rc;
}

int rp_fast_Wait(MPI_Request *request, MPI_Status *status, struct rp_request *entry,
                 const struct rp_origin *origin)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = origin->next->Wait(request, seen);
    uint32_t site;

    if (rc != MPI_SUCCESS || !rp_record_is_oldest(entry) ||
        !rp_record_is_usual(origin, RP_PLACE, 1, &site))
        return waited_slow(rc, origin, RP_PLACE, entry, seen);
    rp_record_match(entry, seen, site, rp_record_take_posts());
    rp_record_publish();
    return MPI_SUCCESS;
}

/* Completes a request behind another event of the call, where a second one was found ready. */
static inline void complete_fast(MPI_Request request, const MPI_Status *seen, uint32_t site)
{
    struct rp_request *first = rp_requests_first(&rp_state.requests, request);

    if (!rp_request_has(first, request, RP_REQUEST_USUAL)) {
        complete_one(request, seen, site);
        return;
    }
    rp_record_match(first, seen, site, 0);
    rp_record_push_older(first->post, seen, site);
}

/* A usual call answered that a request completed, whose handle was `*before` if any are watched.
 * False: nothing was recorded. */
static inline __attribute__((always_inline)) bool
push_fast(const struct rp_origin *origin, uintptr_t return_address, uintptr_t stack, int count,
          int index, int outcount, const MPI_Request *before, const MPI_Status *seen)
{
    uint32_t site;

    if (!rp_record_is_usual(origin, return_address, stack, 2, &site))
        return false;
    rp_record_put(RP_YES, site, (uint32_t)count, index, outcount, 0);
    if (rp_state.watched)
        complete_fast(*before, seen, site);
    rp_record_publish();
    return true;
}

int rp_fast_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status,
                    const struct rp_origin *origin)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    prepare(count, requests, NULL);
    if (index)
        *index = MPI_UNDEFINED;
    int rc = origin->next->Waitany(count, requests, index, seen);
    if (rc == MPI_SUCCESS && *index != MPI_UNDEFINED &&
        push_fast(origin, RP_PLACE, count, *index, 1, &room.handles[*index], seen))
        return rc;
    return push_slow(origin, RP_PLACE,
                     &(const struct rp_completion){.form = RP_COMPLETE_ANY,
                                                   .count = count,
                                                   .requests = requests,
                                                   .index = index,
                                                   .statuses = seen},
                     rp_constant.request_null, rc);
}

int rp_fast_Waitsome(int count, MPI_Request *requests, int *outcount, int *indices,
                     MPI_Status *statuses, const struct rp_origin *origin)
{
    MPI_Status *seen = prepare(count, requests, statuses);
    int rc = origin->next->Waitsome(count, requests, outcount, indices, seen);

    if (rc == MPI_SUCCESS && *outcount == 1 &&
        push_fast(origin, RP_PLACE, count, *indices, 1, &room.handles[*indices], seen))
        return rc;
    return push_slow(origin, RP_PLACE,
                     &(const struct rp_completion){.form = RP_COMPLETE_SOME,
                                                   .count = count,
                                                   .requests = requests,
                                                   .outcount = outcount,
                                                   .indices = indices,
                                                   .statuses = seen},
                     rp_constant.request_null, rc);
}

int rp_fast_Testsome(int count, MPI_Request *requests, int *outcount, int *indices,
                     MPI_Status *statuses, const struct rp_origin *origin)
{
    MPI_Status *seen = prepare(count, requests, statuses);
    int rc = origin->next->Testsome(count, requests, outcount, indices, seen);

    if (rc == MPI_SUCCESS && *outcount == 0 &&
        rp_record_no_again(origin->function, (uint32_t)count))
        return rc;
    if (rc == MPI_SUCCESS && *outcount == 1 &&
        push_fast(origin, RP_PLACE, count, *indices, 1, &room.handles[*indices], seen))
        return rc;
    return push_slow(origin, RP_PLACE,
                     &(const struct rp_completion){.form = RP_COMPLETE_SOME,
                                                   .tests = true,
                                                   .count = count,
                                                   .requests = requests,
                                                   .outcount = outcount,
                                                   .indices = indices,
                                                   .statuses = seen},
                     rp_constant.request_null, rc);
}

int rp_fast_Test(MPI_Request *request, int *flag, MPI_Status *status,
                 const struct rp_origin *origin)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    MPI_Request before = request ? *request : rp_constant.request_null;

    if (flag)
        *flag = 0;
    int rc = origin->next->Test(request, flag, seen);
    if (rc == MPI_SUCCESS && before != rp_constant.request_null) {
        if (!*flag && rp_record_no_again(origin->function, 1))
            return rc;
        if (*flag && push_fast(origin, RP_PLACE, 1, RP_NO_INDEX, 0, &before, seen))
            return rc;
    }
    return push_slow(origin, RP_PLACE,
                     &(const struct rp_completion){.form = RP_COMPLETE_ONE,
                                                   .tests = true,
                                                   .count = 1,
                                                   .flag = flag,
                                                   .statuses = seen},
                     before, rc);
}

int rp_fast_Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status,
                    const struct rp_origin *origin)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    prepare(count, requests, NULL);
    if (flag)
        *flag = 0;
    int rc = origin->next->Testany(count, requests, index, flag, seen);
    if (rc == MPI_SUCCESS && !*flag && rp_record_no_again(origin->function, (uint32_t)count))
        return rc;
    if (rc == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED &&
        push_fast(origin, RP_PLACE, count, *index, 1, &room.handles[*index], seen))
        return rc;
    return push_slow(origin, RP_PLACE,
                     &(const struct rp_completion){.form = RP_COMPLETE_ANY,
                                                   .tests = true,
                                                   .count = count,
                                                   .requests = requests,
                                                   .index = index,
                                                   .statuses = seen,
                                                   .flag = flag},
                     rp_constant.request_null, rc);
}

/* Questions about one request, which stays as it is */

int rp_record_Request_get_status(const struct rp_call *call, MPI_Request request, int *flag,
                                 MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    rp_record_begin(call);
    int rc = call->next->Request_get_status(request, flag, seen);
    struct rp_request *entry = rp_state.watched ? counted(request) : NULL;
    if (rc == MPI_SUCCESS && *flag) {
        uint32_t site = push_yes(call, 1);
        if (entry && entry->flags & RP_REQUEST_WILD && entry->flags & RP_REQUEST_RECEIVE &&
            !rp_return_code_cancelled(entry, seen))
            rp_record_push(RP_FREED, site, 0, seen->MPI_SOURCE, seen->MPI_TAG, entry->post);
        rp_record_publish();
    } else {
        push_refusal(call, 1, rc);
    }
    rp_record_end();
    return rc;
}

int rp_record_Parrived(const struct rp_call *call, MPI_Request request, int partition, int *flag)
{
#if RP_HAS_PARTITIONED
    rp_record_begin(call);
    int rc = call->next->Parrived(request, partition, flag);

    if (rc == MPI_SUCCESS && *flag) {
        push_yes(call, 1);
        rp_record_publish();
    } else {
        push_refusal(call, 1, rc);
    }
    rp_record_end();
    return rc;
#else
    (void)call, (void)request, (void)partition, (void)flag;
    return MPI_ERR_OTHER;
#endif
}
/* Cancelling and freeing */

int rp_record_Cancel(const struct rp_call *call, MPI_Request *request)
{
    if (!rp_state.notes_named)
        rp_refuse_unforeseen("MPI_Cancel");
    rp_thread_state.depth++;
    int rc = call->next->Cancel(request);
    rp_record_end();
    if (rc != MPI_SUCCESS)
        return rc;
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, *request);
    if (entry->flags & RP_REQUEST_RECEIVE)
        rp_record_watch(entry, entry->flags | RP_REQUEST_CANCELLING, entry->post);
    else if (!(entry->flags & RP_REQUEST_OTHER))
        rp_record_watch(entry, RP_REQUEST_OTHER, cancels++);
    return rc;
}

int rp_record_Request_free(const struct rp_call *call, MPI_Request *request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, *request);
    MPI_Status status;

    /* Only noted, perhaps of an earlier request: which handles come back differs from run to run,
     * and a partial replay must make the same calls. */
    if (entry && entry->flags == RP_REQUEST_RECEIVE)
        entry->flags = 0;
    if (!entry || !entry->flags)
        return call->next->Request_free(request);
    rp_record_begin(call);
    if (entry->flags & RP_REQUEST_RECEIVE && entry->flags & RP_REQUEST_CANCELLING) {
        rp_pmpi.Wait(request, &status); /* local after a cancel */
        rp_record_complete_last(entry, &status, rp_record_site(call));
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
    rp_record_end();
    return rc;
}
