/* SPDX-License-Identifier: MIT */
/*
 * MPI_Wait, MPI_Test and their families. The entry of such a call holds what the call returned: the
 * flag, the index or the number of completed requests, and the statuses. Then, for each request
 * that it completed, there are its index + 1, whether the handle became null and whether content
 * follows, and that content; then a 0.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "partial/partial_completion.h"
#include "partial/partial_entries.h"
#include "partial/partial_requests.h"
#include "partial/partial_window_memory.h"
#include "reprise.h"
#include "hand.h"

enum { NULLED = 1, FULL = 2 }; /* what is said of a completed request */
enum { FEW = 16 };

/* Recording: a call with the handles from before it, and with statuses even if the program wants
 * none. Who stands in front of us may want them where the program does not. */
struct call {
    struct rp_completion made;
    MPI_Request *before, few[FEW];
    MPI_Status *own, few_statuses[FEW]; /* own: NULL, or what is to be freed */
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory");
    return memory;
}

static size_t count_of(const struct rp_completion *c)
{
    return c->count > 0 ? (size_t)c->count : 0;
}

static MPI_Status *statuses_for(struct call *call)
{
    int count = rp_completion_statuses(&call->made);

    if (!rp_completion_ignores(&call->made))
        return call->made.statuses;
    if (count <= FEW)
        return call->few_statuses;
    return call->own = allocate((size_t)count, sizeof *call->own);
}

static void prepare(struct call *call, const struct rp_completion *c)
{
    size_t count = count_of(c);

    call->made = *c;
    call->own = NULL;
    call->before = count <= FEW ? call->few : allocate(count, sizeof *call->before);
    memcpy(call->before, c->requests, count * sizeof *call->before);
    call->made.statuses = statuses_for(call);
}

static void leave(struct call *call)
{
    if (call->before != call->few)
        free(call->before);
    free(call->own);
}

/* A negative count is an error of the program, which MPI_Waitall and MPI_Testall have in their
 * check as it is. */
static uint32_t check_of(const struct rp_completion *c)
{
    return rp_check(0, c->form == RP_COMPLETE_ALL ? c->count : (int64_t)count_of(c));
}

/* Returns how many statuses a call set; 0: it completed nothing. */
static int given_statuses(const struct rp_completion *c, int rc)
{
    if (c->form == RP_COMPLETE_SOME)
        return *c->outcount != MPI_UNDEFINED && *c->outcount > 0 && *c->outcount <= c->count
                   ? *c->outcount
                   : 0;
    if (c->flag && !*c->flag && rc == MPI_SUCCESS)
        return 0;
    return c->form == RP_COMPLETE_ALL ? (int)count_of(c) : 1;
}

/* Whether a call completed requests, or failed. */
static bool is_complete(const struct rp_completion *c, int rc)
{
    return c->form == RP_COMPLETE_SOME ? given_statuses(c, rc) > 0
                                       : !c->flag || *c->flag || rc != MPI_SUCCESS;
}

/* The request that the status of this number is of. */
static int request_of(const struct rp_completion *c, int status)
{
    return c->form == RP_COMPLETE_SOME  ? c->indices[status]
           : c->form == RP_COMPLETE_ANY ? *c->index
                                        : status;
}

/* Recording */

static void put_completed(struct call *call, int index, const MPI_Status *status, bool failed)
{
    if (index < 0 || index >= call->made.count || call->before[index] == rp_constant.request_null)
        return;
    struct rp_request *r = rp_request_find(call->before[index]);
    bool nulled = call->made.requests[index] == rp_constant.request_null;
    bool done = nulled || (r && r->active && (!failed || status->MPI_ERROR != MPI_ERR_PENDING));
    bool full = done && r && r->active && r->areas.count > 0;
    if (!nulled && !full)
        return;
    rp_partial_record_number((uint64_t)index + 1);
    rp_partial_record_number((nulled ? NULLED : 0) | (full ? FULL : 0));
    if (full)
        rp_areas_put(&r->areas, r->areas.sized && !failed ? rp_data_received(status) : -1);
    if (r && nulled)
        rp_request_forget(call->before[index]);
    else if (r)
        rp_request_deactivate(r);
}

static void put_outcome(const struct rp_completion *c)
{
    if (c->flag)
        rp_partial_record_number((uint64_t)*c->flag);
    if (c->index)
        rp_data_put_signed(rp_partial.writer, *c->index);
    if (c->outcount)
        rp_data_put_signed(rp_partial.writer, *c->outcount);
}

static void put_requests(struct call *call, int rc)
{
    const struct rp_completion *c = &call->made;
    int count = given_statuses(c, rc);

    if (c->form == RP_COMPLETE_SOME && count > 0)
        rp_partial_record_bytes(c->indices, (size_t)count * sizeof *c->indices);
    if (count > 0)
        rp_partial_record_bytes(c->statuses, (size_t)count * sizeof *c->statuses);
    for (int i = 0; i < count; i++)
        put_completed(call, request_of(c, i), &c->statuses[i], rc != MPI_SUCCESS);
}

/* `c`: the call as it is recorded. */
static void put_call(struct call *call, const struct rp_function *function,
                     const struct rp_completion *c, int rc)
{
    bool complete = is_complete(c, rc);

    if (complete)
        rp_windows_meet();
    rp_partial_record_begin(function, c->form != RP_COMPLETE_ONE, check_of(c), rc);
    put_outcome(c);
    if (complete)
        put_requests(call, rc);
    if (complete || c->form == RP_COMPLETE_SOME)
        rp_partial_record_number(0);
    rp_partial_record_end();
}

/* Several threads. A wait is made of polls here or in libreprise.so, so that a request is known no
 * longer when MPI may give its handle to another thread. Its entry is that of a wait in both cases.
 */

static const struct rp_function *wait_of(enum rp_completion_form form)
{
    static const struct rp_function *const waits[] = {[RP_COMPLETE_ONE] = &rp_f_Wait,
                                                      [RP_COMPLETE_ALL] = &rp_f_Waitall,
                                                      [RP_COMPLETE_ANY] = &rp_f_Waitany,
                                                      [RP_COMPLETE_SOME] = &rp_f_Waitsome};

    return waits[form];
}

static struct rp_completion as_wait(const struct rp_completion *c)
{
    struct rp_completion wait = *c;

    wait.tests = false;
    wait.flag = NULL;
    return wait;
}

static int record_among_threads(const struct rp_next *next, const struct rp_function *function,
                                const struct rp_completion *c)
{
    bool polls_for_wait = c->tests && rp_threads_wait();
    unsigned tries = 0;
    int flag = 0, rc;
    struct rp_completion test = rp_completion_as_test(c, &flag);
    struct call call;

    for (;;) {
        prepare(&call, &test);
        rp_data_off++;
        rc = rp_completion_call(next, &call.made);
        rp_data_off--;
        bool said_no = rc == MPI_SUCCESS && !rp_completion_said_yes(&test);
        if (!said_no || (c->tests && !rp_threads_skip_no()))
            break;
        leave(&call);
        if (c->tests)
            return rc;
        rp_threads_pause(&tries);
    }
    if (polls_for_wait || !c->tests)
        call.made = as_wait(&call.made);
    put_call(&call, call.made.tests ? function : wait_of(c->form), &call.made, rc);
    leave(&call);
    return rc;
}

int rp_partial_record_complete(const struct rp_next *next, const struct rp_function *function,
                               const struct rp_completion *c)
{
    struct call call;

    if (rp_partial.has_threads)
        return record_among_threads(next, function, c);
    prepare(&call, c);
    rp_data_off++;
    int rc = rp_completion_call(next, &call.made);
    rp_data_off--;
    put_call(&call, function, c, rc);
    leave(&call);
    return rc;
}

/* Feeding */

static void take_completed(const struct rp_completion *c)
{
    static const struct rp_areas none;

    for (uint64_t index; (index = rp_partial_feed_number()) != 0;) {
        uint64_t what = rp_partial_feed_number();
        if (index > count_of(c) || c->requests[index - 1] == rp_constant.request_null) {
            rp_error("the program waits for other requests than were recorded");
            rp_data_end_job(REPRISE_EXIT_DIVERGED);
        }
        struct rp_request *r = rp_request_find(c->requests[index - 1]);
        if (what & FULL)
            rp_areas_fill(r ? &r->areas : &none);
        if (what & NULLED)
            rp_request_end(&c->requests[index - 1]);
        else if (r)
            rp_request_deactivate(r);
    }
}

/* Returns which of these statuses is the first that failed, or -1; its error. */
static int take_statuses(const struct rp_completion *c, int count, int *error)
{
    int failed = -1;

    for (int i = 0; i < count; i++) {
        MPI_Status status;
        rp_partial_feed_bytes(&status, sizeof status);
        if (!rp_completion_ignores(c))
            c->statuses[i] = status;
        if (failed < 0 && status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING) {
            failed = i;
            *error = status.MPI_ERROR;
        }
    }
    return failed;
}

static void take_outcome(const struct rp_completion *c)
{
    if (c->flag)
        *c->flag = (int)rp_partial_feed_number();
    if (c->index)
        *c->index = (int)rp_data_get_signed(rp_partial.reader);
    if (c->outcount)
        *c->outcount = (int)rp_data_get_signed(rp_partial.reader);
}

/* Returns the index of the request that failed; -1: the call does not show it. A call for one
 * request fails by that request, whatever its status says. */
static int failed_request(const struct rp_completion *c, int failed_status)
{
    if (c->form == RP_COMPLETE_ONE || c->form == RP_COMPLETE_ANY)
        return request_of(c, 0);
    return failed_status >= 0 ? request_of(c, failed_status) : -1;
}

/* `error`: that of the request that failed. */
static struct rp_raiser take_requests(const struct rp_completion *c, int rc, int *error)
{
    int count = given_statuses(c, rc);

    if (c->form == RP_COMPLETE_SOME && count > 0)
        rp_partial_feed_bytes(c->indices, (size_t)count * sizeof *c->indices);
    int failed = take_statuses(c, count, error);
    return rp_request_raiser(c->count, c->requests, failed_request(c, failed));
}

int rp_partial_feed_complete(const struct rp_function *function, const struct rp_completion *c)
{
    if (rp_partial.has_threads && c->tests && rp_threads_wait()) {
        struct rp_completion wait = as_wait(c);
        if (c->flag)
            *c->flag = 1;
        return rp_partial_feed_complete(wait_of(c->form), &wait);
    }
    struct rp_raiser raiser = {.kind = RP_OF_WORLD};
    int error = MPI_SUCCESS,
        rc = rp_partial_feed_begin(function, c->form != RP_COMPLETE_ONE, check_of(c));

    take_outcome(c);
    bool complete = is_complete(c, rc);
    if (complete)
        raiser = take_requests(c, rc, &error);
    if (complete || c->form == RP_COMPLETE_SOME)
        take_completed(c);
    /* Open MPI passes the request's own error to the request's error handler. */
    bool of_request = raiser.kind != RP_OF_WORLD && rc == MPI_ERR_IN_STATUS;
    rp_request_finish(of_request ? error : rc, raiser);
    return rc;
}
