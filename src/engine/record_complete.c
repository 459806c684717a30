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
#include "preload/constants.h"
#include "entry/life.h"
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

/*
 * Blocking calls. Where several threads call, they are made of polls, and the lock is free between
 * them: what is completed is told under the same lock, before another thread can get the handle for
 * a receive of its own.
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

static int real_waitall(const struct rp_call *call, int count, MPI_Request *requests,
                        MPI_Status *statuses, MPI_Status **seen)
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

static inline int real_waitany(const struct rp_call *call, int count, MPI_Request *requests,
                               int *index, MPI_Status *seen)
{
    unsigned tries = 0;
    int flag = 0, rc;

    prepare(count, requests, NULL);
    if (!rp_threads_on)
        return call->next->Waitany(count, requests, index, seen);
    while ((rc = call->next->Testany(count, requests, index, &flag, seen)) == MPI_SUCCESS &&
           !flag) {
        rp_threads_give_way(&tries);
        prepare(count, requests, NULL);
    }
    return rc;
}

static inline int real_waitsome(const struct rp_call *call, int count, MPI_Request *requests,
                                int *outcount, int *indices, MPI_Status *statuses,
                                MPI_Status **seen)
{
    unsigned tries = 0;
    int rc;

    *seen = prepare(count, requests, statuses);
    if (!rp_threads_on)
        return call->next->Waitsome(count, requests, outcount, indices, *seen);
    while ((rc = call->next->Testsome(count, requests, outcount, indices, *seen)) == MPI_SUCCESS &&
           *outcount == 0) {
        rp_threads_give_way(&tries);
        *seen = prepare(count, requests, statuses);
    }
    return rc;
}

/* Completion. Where a call can fail without an outcome, the outcome is set beforehand so that the
 * two can be told apart. */

static void waited(const struct rp_call *call, struct rp_request *entry, const MPI_Status *seen,
                   int rc)
{
    if (!rp_return_code_matched(rc)) {
        rp_record_unwatch(entry); /* it failed, and is gone */
        return;
    }
    rp_record_complete_one(entry, seen, rp_record_site(call));
    rp_record_publish();
}

int rp_record_Wait(const struct rp_call *call, MPI_Request *request, MPI_Status *status)
{
    MPI_Request before = request ? *request : rp_constant.request_null;
    bool looked_at =
        request && (counted(before) || rp_threads_on); /* another thread may cancel it meanwhile */
    MPI_Status own, *seen = looked_at && status == MPI_STATUS_IGNORE ? &own : status;

    rp_record_begin(call);
    int rc = real_wait(call, request, seen);
    struct rp_request *entry = looked_at ? counted(before) : NULL; /* the table may have moved */
    if (entry)
        waited(call, entry, seen, rc);
    rp_record_end();
    return rc;
}

static __attribute__((noinline)) int waited_slow(int rc, const struct rp_origin *origin,
                                                 uintptr_t return_address, uintptr_t stack,
                                                 struct rp_request *entry, const MPI_Status *seen)
{
    struct rp_call call = {origin->function, origin->next, return_address, stack};

    waited(&call, entry, seen, rc);
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

/* Completes several at once: first all of them, since their handles are gone, then what they say
 * about others. */
static void complete_all(int count, const int *indices, const MPI_Status *seen, uint32_t site)
{
    bool receives = false;

    for (int i = 0; i < count; i++) {
        struct rp_request *entry =
            rp_requests_find(&rp_state.requests, room.handles[indices ? indices[i] : i]);
        receives |= entry && rp_record_complete(entry, &seen[i], site);
    }
    for (int i = 0; receives && rp_state.watched && i < count; i++) {
        struct rp_request *entry =
            rp_requests_find(&rp_state.requests, room.handles[indices ? indices[i] : i]);
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

/* A usual call answered that a request completed, whose handle was `*before` if any are watched.
 * False: nothing was told. */
static inline __attribute__((always_inline)) bool
tell_one(const struct rp_origin *origin, uintptr_t return_address, uintptr_t stack, int count,
         int index, int outcount, const MPI_Request *before, const MPI_Status *seen)
{
    uint32_t site;

    if (!rp_record_is_usual(origin, return_address, stack, 2, &site))
        return false;
    rp_record_put(RP_YES, site, (uint32_t)count, index, outcount, 0);
    if (rp_state.watched)
        complete_usually(*before, seen, site);
    rp_record_publish();
    return true;
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

/* None of them matters to us. */
static int waitall_unseen(const struct rp_call *call, int count, MPI_Request *requests,
                          MPI_Status *statuses)
{
    rp_threads_leave();
    int rc = call->next->Waitall(count, requests, statuses);
    rp_threads_enter();
    return rc;
}

int rp_record_Waitall(const struct rp_call *call, int count, MPI_Request *requests,
                      MPI_Status *statuses)
{
    bool looked_at =
        requests && (any_counted(count, requests) || (rp_threads_on && rp_state.notes_named));
    MPI_Status *seen = statuses;

    rp_record_begin(call);
    int rc = looked_at ? real_waitall(call, count, requests, statuses, &seen)
                       : waitall_unseen(call, count, requests, statuses);
    if (looked_at && rc == MPI_SUCCESS) {
        complete_all(count, NULL, seen, rp_record_site(call));
        rp_record_publish();
    } else if (looked_at && rp_return_code_class(rc) == MPI_ERR_IN_STATUS) {
        waitall_failed(call, count, seen);
    }
    rp_record_end();
    return rc;
}

/* Waitany, or Testany that answered yes. */
static inline void push_index(const struct rp_call *call, int count, int index,
                              const MPI_Status *seen)
{
    uint32_t site = rp_record_site(call);
    bool some = index != MPI_UNDEFINED;

    rp_record_push(RP_YES, site, (uint32_t)count, some ? index : RP_NO_INDEX, some, 0);
    if (some && rp_state.watched)
        complete_one(room.handles[index], seen, site);
    rp_record_publish();
}

/* MPI_UNDEFINED because there was nothing to complete: no event. */
static inline bool is_decided(int index, int count, const MPI_Request *requests)
{
    return index == MPI_UNDEFINED && rp_return_code_all_null(count, requests);
}

static void told_waitany(const struct rp_call *call, int count, const MPI_Request *requests,
                         const int *index, const MPI_Status *seen, int rc)
{
    if (rc != MPI_SUCCESS && (!index || *index == MPI_UNDEFINED))
        rp_record_error(call, (uint32_t)count, rc);
    else if (!is_decided(*index, count, requests))
        push_index(call, count, *index, seen);
}

int rp_record_Waitany(const struct rp_call *call, int count, MPI_Request *requests, int *index,
                      MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    rp_record_begin(call);
    if (index)
        *index = MPI_UNDEFINED;
    int rc = real_waitany(call, count, requests, index, seen);
    told_waitany(call, count, requests, index, seen, rc);
    rp_record_end();
    return rc;
}

static __attribute__((noinline)) int waitany_slow(const struct rp_origin *origin,
                                                  uintptr_t return_address, uintptr_t stack,
                                                  int count, const MPI_Request *requests,
                                                  const int *index, const MPI_Status *seen, int rc)
{
    struct rp_call call = {origin->function, origin->next, return_address, stack};

    told_waitany(&call, count, requests, index, seen, rc);
    return rc;
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
        tell_one(origin, RP_PLACE, count, *index, 1, &room.handles[*index], seen))
        return rc;
    return waitany_slow(origin, RP_PLACE, count, requests, index, seen, rc);
}

static inline void push_some(const struct rp_call *call, int count, int outcount,
                             const int *indices, const MPI_Status *seen)
{
    uint32_t site = rp_record_site(call);

    if (outcount == MPI_UNDEFINED)
        rp_record_push(RP_YES, site, (uint32_t)count, RP_NO_INDEX, RP_UNDEFINED_COUNT, 0);
    else
        rp_record_push(RP_YES, site, (uint32_t)count, indices[0], outcount, 0);
    for (int i = 1; i < outcount; i++)
        rp_record_push(RP_NEXT, site, 0, indices[i], 0, 0);
    if (rp_state.watched && outcount == 1)
        complete_one(room.handles[indices[0]], seen, site);
    else if (rp_state.watched && outcount > 1)
        complete_all(outcount, indices, seen, site);
    rp_record_publish();
}

static void told_some(const struct rp_call *call, int count, const MPI_Request *requests,
                      const int *outcount, const int *indices, const MPI_Status *seen, int rc)
{
    if (!rp_return_code_some(rc))
        rp_record_error(call, (uint32_t)count, rc);
    else if (*outcount == 0)
        rp_record_no(call, (uint32_t)count);
    else if (!is_decided(*outcount, count, requests))
        push_some(call, count, *outcount, indices, seen);
}

int rp_record_Waitsome(const struct rp_call *call, int count, MPI_Request *requests, int *outcount,
                       int *indices, MPI_Status *statuses)
{
    rp_record_begin(call);
    MPI_Status *seen;
    int rc = real_waitsome(call, count, requests, outcount, indices, statuses, &seen);

    told_some(call, count, requests, outcount, indices, seen, rc);
    rp_record_end();
    return rc;
}

int rp_record_Testsome(const struct rp_call *call, int count, MPI_Request *requests, int *outcount,
                       int *indices, MPI_Status *statuses)
{
    rp_record_begin(call);
    MPI_Status *seen = prepare(count, requests, statuses);
    int rc = call->next->Testsome(count, requests, outcount, indices, seen);

    told_some(call, count, requests, outcount, indices, seen, rc);
    rp_record_end();
    return rc;
}

static __attribute__((noinline)) int some_slow(const struct rp_origin *origin,
                                               uintptr_t return_address, uintptr_t stack, int count,
                                               const MPI_Request *requests, const int *outcount,
                                               const int *indices, const MPI_Status *seen, int rc)
{
    struct rp_call call = {origin->function, origin->next, return_address, stack};

    told_some(&call, count, requests, outcount, indices, seen, rc);
    return rc;
}

int rp_fast_Waitsome(int count, MPI_Request *requests, int *outcount, int *indices,
                     MPI_Status *statuses, const struct rp_origin *origin)
{
    MPI_Status *seen = prepare(count, requests, statuses);
    int rc = origin->next->Waitsome(count, requests, outcount, indices, seen);

    if (rc == MPI_SUCCESS && *outcount == 1 &&
        tell_one(origin, RP_PLACE, count, *indices, 1, &room.handles[*indices], seen))
        return rc;
    return some_slow(origin, RP_PLACE, count, requests, outcount, indices, seen, rc);
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
        tell_one(origin, RP_PLACE, count, *indices, 1, &room.handles[*indices], seen))
        return rc;
    return some_slow(origin, RP_PLACE, count, requests, outcount, indices, seen, rc);
}

/* Test, Testall and answers about a request that stays as it is: yes without an index. Returns the
 * site. */
static inline uint32_t push_yes(const struct rp_call *call, int count)
{
    uint32_t site = rp_record_site(call);

    rp_record_push(RP_YES, site, (uint32_t)count, RP_NO_INDEX, 0, 0);
    return site;
}

static inline void push_refusal(const struct rp_call *call, int count, int rc)
{
    if (rc != MPI_SUCCESS)
        rp_record_error(call, (uint32_t)count, rc);
    else
        rp_record_no(call, (uint32_t)count);
}

static void told_test(const struct rp_call *call, MPI_Request before, const int *flag,
                      const MPI_Status *seen, int rc)
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

int rp_record_Test(const struct rp_call *call, MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    MPI_Request before = request ? *request : rp_constant.request_null;

    rp_record_begin(call);
    if (flag)
        *flag = 0;
    int rc = call->next->Test(request, flag, seen);
    told_test(call, before, flag, seen, rc);
    rp_record_end();
    return rc;
}

static __attribute__((noinline)) int test_slow(const struct rp_origin *origin,
                                               uintptr_t return_address, uintptr_t stack,
                                               MPI_Request before, const int *flag,
                                               const MPI_Status *seen, int rc)
{
    struct rp_call call = {origin->function, origin->next, return_address, stack};

    told_test(&call, before, flag, seen, rc);
    return rc;
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
        if (*flag && tell_one(origin, RP_PLACE, 1, RP_NO_INDEX, 0, &before, seen))
            return rc;
    }
    return test_slow(origin, RP_PLACE, before, flag, seen, rc);
}

int rp_record_Testall(const struct rp_call *call, int count, MPI_Request *requests, int *flag,
                      MPI_Status *statuses)
{
    bool decided = rp_return_code_all_null(count, requests);

    rp_record_begin(call);
    MPI_Status *seen = prepare(count, requests, statuses);
    if (flag)
        *flag = 0;
    int rc = call->next->Testall(count, requests, flag, seen);
    if (rc == MPI_SUCCESS && decided) {
        /* decided */
    } else if (rp_return_code_some(rc) && *flag) {
        uint32_t site = push_yes(call, count);
        if (rp_state.watched)
            complete_all(count, NULL, seen, site);
        rp_record_publish();
    } else {
        push_refusal(call, count, rc);
    }
    rp_record_end();
    return rc;
}

static void told_testany(const struct rp_call *call, int count, const MPI_Request *requests,
                         const int *index, const int *flag, const MPI_Status *seen, int rc)
{
    if (!flag || !*flag)
        push_refusal(call, count, rc);
    else if (!is_decided(*index, count, requests))
        push_index(call, count, *index, seen);
}

int rp_record_Testany(const struct rp_call *call, int count, MPI_Request *requests, int *index,
                      int *flag, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    rp_record_begin(call);
    prepare(count, requests, NULL);
    if (flag)
        *flag = 0;
    int rc = call->next->Testany(count, requests, index, flag, seen);
    told_testany(call, count, requests, index, flag, seen, rc);
    rp_record_end();
    return rc;
}

static __attribute__((noinline)) int testany_slow(const struct rp_origin *origin,
                                                  uintptr_t return_address, uintptr_t stack,
                                                  int count, const MPI_Request *requests,
                                                  const int *index, const int *flag,
                                                  const MPI_Status *seen, int rc)
{
    struct rp_call call = {origin->function, origin->next, return_address, stack};

    told_testany(&call, count, requests, index, flag, seen, rc);
    return rc;
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
        tell_one(origin, RP_PLACE, count, *index, 1, &room.handles[*index], seen))
        return rc;
    return testany_slow(origin, RP_PLACE, count, requests, index, flag, seen, rc);
}

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
#if MPI_VERSION >= 4
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
     * and a rank alone must make the same calls. */
    if (entry && entry->flags == RP_REQUEST_RECEIVE)
        entry->flags = 0;
    if (!entry || !entry->flags)
        return call->next->Request_free(request);
    rp_record_begin(call);
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
    rp_record_end();
    return rc;
}
