/* SPDX-License-Identifier: MIT */
/*
 * A test at time t answers what was complete at t - latency, the first of several by their index. A
 * wait that finds nothing goes on to the time at which the first of its requests completes. Both
 * wait until that is certain. What is completed then is completed by MPI_Wait, one after another.
 *
 * The paper's DTP (DMP 3.3): there is no such point here.
 */
#include "det/det_completion.h"

#include "det/det_wait.h"
#include "match/send_bounds.h"
#include "preload/completion_call.h"
#include "preload/constants.h"

static bool is_active(MPI_Request handle)
{
    struct rp_det_request *own = rp_det_request_find(handle);

    if (handle == rp_constant.request_null)
        return false;
    return !own || own->is_active;
}

/* What is asked of one request, and what is known. */
struct lookup {
    MPI_Request handle;
    uint64_t limit, when;
    enum rp_det_known answer;
};

static bool is_answered(void *data, bool only_whether)
{
    struct lookup *q = data;

    (void)only_whether;
    q->answer = rp_det_request_look(q->handle, q->limit, &q->when);
    return q->answer != RP_DET_OPEN;
}

bool rp_det_test_at(MPI_Request handle, uint64_t now)
{
    struct lookup q = {.handle = handle, .limit = now};
    struct rp_det_wait wait = {.runs = true};
    struct rp_det_request *own = rp_det_request_find(handle);

    if (!own || !own->is_active)
        return true;
    rp_det_forget_bounds();
    if (!is_answered(&q, false))
        rp_det_wait(is_answered, &q, &wait);
    return q.answer == RP_DET_KNOWN && q.when <= now;
}

/* Returns whether it is certain when the request completes, and this rank's clock has reached that
 * time. */
static bool is_known(void *data, bool only_whether)
{
    struct lookup *q = data;

    (void)only_whether;
    return rp_det_request_look(q->handle, RP_SEND_NEVER, &q->when) == RP_DET_KNOWN;
}

static bool describe(const struct rp_det_request *own, struct rp_det_wait *wait)
{
    *wait = (struct rp_det_wait){.candidate = RP_SEND_NEVER, .what = rp_det.function};
    if (own->kind == RP_DET_SEND && own->is_persistent)
        own = rp_det_request_find(own->receive.real);
    if (!own || own->kind == RP_DET_FOREIGN)
        return false;
    if (own->kind == RP_DET_COLLECTIVE) {
        wait->kind = RP_WAIT_COLLECTIVE;
        wait->object = own->collective ? rp_shared_offset(own->collective) : 0;
        return own->collective != NULL;
    }
    if (own->kind == RP_DET_SEND) {
        wait->kind = RP_WAIT_RECEIVER;
        wait->target = own->dest;
        wait->object = rp_shared_offset(own->message);
        return true;
    }
    wait->receive = &own->receive;
    wait->kind = own->receive.source == MPI_ANY_SOURCE || own->receive.is_delayed ? RP_WAIT_ANY
                                                                                  : RP_WAIT_MESSAGE;
    wait->target = own->receive.world;
    return true;
}

/* For the first of `count` that are all waited for. */
static void wait_for_request(const MPI_Request *requests, int count)
{
    struct rp_det_request *own = rp_det_request_find(*requests);
    struct lookup q = {.handle = *requests};
    struct rp_det_wait wait;

    if (!own || !own->is_active || own->is_cancelled || !describe(own, &wait))
        return;
    wait.requests = requests;
    wait.count = count;
    rp_det_wait(is_known, &q, &wait);
    rp_shared_raise(q.when);
}

int rp_det_wait_one(MPI_Request *request, MPI_Status *status)
{
    wait_for_request(request, 1);
    return rp_det_complete(request, status);
}

/* The first of several */

struct first {
    int count;
    const MPI_Request *requests;
    uint64_t time; /* at which the first is complete */
    struct rp_det_wait wait;
};

/* The earliest time that is known, and whether all others are known to be later than `limit`. */
static uint64_t earliest_completion(const struct first *f, uint64_t limit, bool *is_certain)
{
    uint64_t best = RP_SEND_NEVER, when;

    *is_certain = true;
    for (int i = 0; i < f->count; i++) {
        enum rp_det_known known = rp_det_request_look(f->requests[i], limit, &when);
        if (known == RP_DET_KNOWN && when < best && (when > 0 || is_active(f->requests[i])))
            best = when;
        *is_certain &= known != RP_DET_OPEN;
    }
    return best;
}

/* Of a persistent send that waits, the one that it stands for. */
static struct rp_det_request *inner(MPI_Request handle)
{
    struct rp_det_request *own = rp_det_request_find(handle);

    return own && own->kind == RP_DET_SEND && own->is_persistent && own->is_active
               ? rp_det_request_find(own->receive.real)
               : own;
}

/* When the first of those was sent of which it is known by this rank alone. */
static uint64_t first_here(const struct first *f)
{
    uint64_t best = RP_SEND_NEVER;

    for (int i = 0; i < f->count; i++) {
        const struct rp_det_request *own = inner(f->requests[i]);
        if (!is_active(f->requests[i]))
            continue;
        if (!own || own->is_cancelled || own->kind == RP_DET_FOREIGN ||
            (own->kind == RP_DET_COLLECTIVE && !own->collective))
            return 0;
        if (own->kind == RP_DET_RECEIVE && own->receive.is_known && own->receive.stamp < best)
            best = own->receive.stamp;
    }
    return best;
}

static bool is_first_known(void *data, bool only_whether)
{
    struct first *f = data;
    bool is_certain;

    (void)only_whether;
    f->wait.candidate = first_here(f);
    uint64_t now = rp_shared_now(), best = earliest_completion(f, now, &is_certain);
    if (best == RP_SEND_NEVER)
        return false;
    if (best > now)
        best = earliest_completion(f, best, &is_certain);
    f->time = best > now ? best : now;
    return is_certain;
}

/* Chains the operations that others complete, for all ranks to see: when one completes, its logical
 * time may have been long ago. */
static uint64_t chain_operations(const struct first *f)
{
    uint64_t first = 0;

    for (int i = 0; i < f->count; i++) {
        const struct rp_det_request *own = is_active(f->requests[i]) ? inner(f->requests[i]) : NULL;
        struct rp_shared_message *message = own ? own->message : NULL;
        if (own && own->kind == RP_DET_COLLECTIVE && own->collective) {
            message = rp_shared_message_new();
            message->source = rp_shared.rank;
            message->collective = rp_shared_offset(own->collective);
        }
        if (!message)
            continue;
        atomic_store(&message->also, first);
        first = rp_shared_offset(message);
    }
    return first;
}

static void drop_chain(uint64_t place)
{
    while (place != 0) {
        struct rp_shared_message *message = rp_shared_message_at(place);
        place = atomic_load(&message->also);
        if (message->collective != 0)
            rp_shared_message_return(message);
    }
}

static void wait_for_first(const struct rp_completion *call)
{
    struct first f = {.count = call->count,
                      .requests = call->requests,
                      .wait = {.kind = RP_WAIT_ANY,
                               .candidate = RP_SEND_NEVER,
                               .what = rp_det.function,
                               .requests = call->requests,
                               .count = call->count}};

    f.wait.object = chain_operations(&f);
    rp_det_wait(is_first_known, &f, &f.wait);
    drop_chain(f.wait.object);
    rp_shared_raise(f.time);
}

/* Calls. In an array, the error of one request is in its status. */

static bool has_active(const struct rp_completion *call)
{
    for (int i = 0; i < call->count; i++)
        if (is_active(call->requests[i]))
            return true;
    return false;
}

static int complete_into(const struct rp_completion *call, int request, int status)
{
    MPI_Status *into =
        call->statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &call->statuses[status];
    int rc = rp_det_complete(&call->requests[request], into);

    if (into != MPI_STATUS_IGNORE)
        into->MPI_ERROR = rc;
    return rc == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_IN_STATUS;
}

static int wait_for_all(const struct rp_completion *call)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < call->count; i++) {
        wait_for_request(&call->requests[i], call->count - i);
        int one = complete_into(call, i, i);
        rc = one == MPI_SUCCESS ? rc : one;
    }
    return rc;
}

/* MPI_Test and MPI_Testall */
static bool are_complete(const struct rp_completion *call)
{
    uint64_t now = rp_shared_now();

    *call->flag = 1;
    for (int i = 0; i < call->count && *call->flag; i++)
        *call->flag = !is_active(call->requests[i]) || rp_det_test_at(call->requests[i], now);
    rp_det_decided(RP_DET_ANSWER, (uint64_t)*call->flag, 0);
    return *call->flag;
}

static int test_all(const struct rp_completion *call)
{
    int rc = MPI_SUCCESS;

    if (!are_complete(call))
        return MPI_SUCCESS;
    for (int i = 0; i < call->count; i++) {
        int one = complete_into(call, i, i);
        rc = one == MPI_SUCCESS ? rc : one;
    }
    return rc;
}

static int first_complete(const struct rp_completion *call)
{
    uint64_t now = rp_shared_now();

    for (int i = 0; i < call->count; i++)
        if (is_active(call->requests[i]) && rp_det_test_at(call->requests[i], now))
            return i;
    return MPI_UNDEFINED;
}

static int complete_any(const struct rp_completion *call)
{
    if (!call->tests)
        wait_for_first(call);
    *call->index = first_complete(call);
    bool is_found = *call->index != MPI_UNDEFINED;
    if (call->tests)
        *call->flag = is_found;
    rp_det_decided(RP_DET_ANSWER, is_found, (uint64_t)*call->index);
    return is_found ? rp_det_complete(&call->requests[*call->index], call->statuses) : MPI_SUCCESS;
}

/* Which are complete now; the answers are certain. */
static int collect(const struct rp_completion *call)
{
    uint64_t now = rp_shared_now();
    int found = 0;

    for (int i = 0; i < call->count; i++)
        if (is_active(call->requests[i]) && rp_det_test_at(call->requests[i], now))
            call->indices[found++] = i;
    return found;
}

static int complete_some(const struct rp_completion *call)
{
    int rc = MPI_SUCCESS;

    if (!call->tests)
        wait_for_first(call);
    *call->outcount = collect(call);
    if (call->tests)
        rp_det_decided(RP_DET_ANSWER, (uint64_t)*call->outcount, 0);
    for (int i = 0; i < *call->outcount; i++) {
        int one = complete_into(call, call->indices[i], i);
        rc = one == MPI_SUCCESS ? rc : one;
        rp_det_decided(RP_DET_ANSWER, 1, (uint64_t)call->indices[i]);
    }
    return rc;
}

static int complete_one(const struct rp_completion *call)
{
    if (!call->tests)
        return rp_det_wait_one(call->requests, call->statuses);
    return are_complete(call) ? rp_det_complete(call->requests, call->statuses) : MPI_SUCCESS;
}

/* MPI itself answers a test without active requests, or a wait for the first of none. */
static bool is_of_nothing(const struct rp_completion *call)
{
    return call->form != RP_COMPLETE_ALL && !rp_completion_waits_for_all(call) && !has_active(call);
}

int rp_det_complete_call(const struct rp_completion *call)
{
    if (is_of_nothing(call))
        return rp_completion_call(&rp_pmpi, call);
    switch (call->form) {
    case RP_COMPLETE_ONE:
        return complete_one(call);
    case RP_COMPLETE_ALL:
        return call->tests ? test_all(call) : wait_for_all(call);
    case RP_COMPLETE_ANY:
        return complete_any(call);
    default:
        return complete_some(call);
    }
}
