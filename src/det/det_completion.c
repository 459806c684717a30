/* SPDX-License-Identifier: MIT */
/*
 * Completion calls. A test at time t tells what came to pass until t - latency, the first of
 * several by their index; a wait that finds nothing goes on to the time at which the first of its
 * requests completes. Both wait until that is certain.
 */
#include <stdlib.h>

#include "det/det.h"
#include "match/send_bounds.h"
#include "preload/constants.h"

static bool is_active(MPI_Request handle)
{
    struct rp_det_request *own = rp_det_request_find(handle);

    if (handle == rp_constant.request_null)
        return false;
    return !own || own->is_active;
}

struct question {
    MPI_Request handle;
    uint64_t limit, when;
    enum rp_det_known answer;
};

static bool is_answered(void *data, bool only_whether)
{
    struct question *q = data;

    (void)only_whether;
    q->answer = rp_det_request_look(q->handle, q->limit, &q->when);
    return q->answer != RP_DET_OPEN;
}

bool rp_det_test_at(MPI_Request handle, uint64_t now)
{
    struct question q = {.handle = handle, .limit = now};
    struct rp_det_wait wait = {.runs = true};
    struct rp_det_request *own = rp_det_request_find(handle);

    if (!own || !own->is_active)
        return true;
    rp_det_forget_bounds();
    if (!is_answered(&q, false))
        rp_det_wait(is_answered, &q, &wait);
    return q.answer == RP_DET_KNOWN && q.when <= now;
}

/* Until it is certain when the request completes; time has come there. */
static bool is_known(void *data, bool only_whether)
{
    struct question *q = data;

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
    if (own->kind == RP_DET_MEETS) {
        wait->kind = RP_SHARED_MEETING;
        wait->object = own->meeting ? rp_shared_place(own->meeting) : 0;
        return own->meeting != NULL;
    }
    if (own->kind == RP_DET_SEND) {
        wait->kind = RP_SHARED_TAKER;
        wait->target = own->dest;
        wait->object = rp_shared_place(own->note);
        return true;
    }
    wait->receive = &own->receive;
    wait->kind = own->receive.source == MPI_ANY_SOURCE || own->receive.is_delayed
                     ? RP_SHARED_ANY
                     : RP_SHARED_MESSAGE;
    wait->target = own->receive.world;
    return true;
}

/* For the first of `count` that are all waited for. */
static void wait_for(const MPI_Request *requests, int count)
{
    struct rp_det_request *own = rp_det_request_find(*requests);
    struct question q = {.handle = *requests};
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
    wait_for(request, 1);
    return rp_det_complete(request, status);
}

int rp_det_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (!is_active(*request))
        return rp_pmpi.Test(request, flag, status);
    *flag = rp_det_test_at(*request, rp_shared_now());
    rp_det_note(RP_DET_ANSWER, (uint64_t)*flag, 0);
    return *flag ? rp_det_complete(request, status) : MPI_SUCCESS;
}

/* Arrays. An error of one is told in its status. */

static MPI_Status *status_of(MPI_Status *statuses, int index)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[index];
}

static int complete_into(MPI_Request *request, MPI_Status *statuses, int index)
{
    MPI_Status *status = status_of(statuses, index);
    int rc = rp_det_complete(request, status);

    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = rc;
    return rc == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_IN_STATUS;
}

int rp_det_waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < count; i++) {
        wait_for(&requests[i], count - i);
        int one = complete_into(&requests[i], statuses, i);
        rc = one == MPI_SUCCESS ? rc : one;
    }
    return rc;
}

int rp_det_testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    uint64_t now = rp_shared_now();
    int rc = MPI_SUCCESS;

    *flag = 1;
    for (int i = 0; i < count && *flag; i++)
        *flag = !is_active(requests[i]) || rp_det_test_at(requests[i], now);
    rp_det_note(RP_DET_ANSWER, (uint64_t)*flag, 0);
    for (int i = 0; i < count && *flag; i++) {
        int one = complete_into(&requests[i], statuses, i);
        rc = one == MPI_SUCCESS ? rc : one;
    }
    return rc;
}

static bool has_active(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (is_active(requests[i]))
            return true;
    return false;
}

int rp_det_testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    uint64_t now = rp_shared_now();

    if (!has_active(count, requests))
        return rp_pmpi.Testany(count, requests, index, flag, status);
    *index = MPI_UNDEFINED;
    *flag = 0;
    for (int i = 0; i < count && !*flag; i++)
        if (is_active(requests[i]) && rp_det_test_at(requests[i], now)) {
            *index = i;
            *flag = 1;
        }
    rp_det_note(RP_DET_ANSWER, (uint64_t)*flag, (uint64_t)*index);
    return *flag ? rp_det_complete(&requests[*index], status) : MPI_SUCCESS;
}

/* Which are complete at `now`; the answers are certain. */
static int collect(int count, MPI_Request *requests, uint64_t now, int *indices)
{
    int found = 0;

    for (int i = 0; i < count; i++)
        if (is_active(requests[i]) && rp_det_test_at(requests[i], now))
            indices[found++] = i;
    return found;
}

static int complete_some(MPI_Request *requests, int found, const int *indices, MPI_Status *statuses)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < found; i++) {
        int one = complete_into(&requests[indices[i]], statuses, i);
        rc = one == MPI_SUCCESS ? rc : one;
        rp_det_note(RP_DET_ANSWER, 1, (uint64_t)indices[i]);
    }
    return rc;
}

int rp_det_testsome(int count, MPI_Request *requests, int *outcount, int *indices,
                    MPI_Status *statuses)
{
    if (!has_active(count, requests))
        return rp_pmpi.Testsome(count, requests, outcount, indices, statuses);
    *outcount = collect(count, requests, rp_shared_now(), indices);
    rp_det_note(RP_DET_ANSWER, (uint64_t)*outcount, 0);
    return complete_some(requests, *outcount, indices, statuses);
}

/* The first of several */

struct first {
    int count;
    const MPI_Request *requests;
    uint64_t time; /* at which the first is complete */
    struct rp_det_wait wait;
};

/* The earliest time that is known, and whether all others are known to be later than `limit`. */
static uint64_t earliest(const struct first *f, uint64_t limit, bool *is_certain)
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
        if (!own || own->is_cancelled || (own->kind == RP_DET_MEETS && !own->meeting))
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
    uint64_t now = rp_shared_now(), best = earliest(f, now, &is_certain);
    if (best == RP_SEND_NEVER)
        return false;
    if (best > now)
        best = earliest(f, best, &is_certain);
    f->time = best > now ? best : now;
    return is_certain;
}

/* The acts of others, for all to see: when one comes to pass, its time may have been long ago. */
static uint64_t chain_acts(const struct first *f)
{
    uint64_t first = 0;

    for (int i = 0; i < f->count; i++) {
        const struct rp_det_request *own = is_active(f->requests[i]) ? inner(f->requests[i]) : NULL;
        struct rp_message_note *note = own ? own->note : NULL;
        if (own && own->kind == RP_DET_MEETS && own->meeting) {
            note = rp_shared_new_note();
            note->source = rp_shared_side.rank;
            note->meeting = rp_shared_place(own->meeting);
        }
        if (!note)
            continue;
        atomic_store(&note->also, first);
        first = rp_shared_place(note);
    }
    return first;
}

static void drop_chain(uint64_t place)
{
    while (place != 0) {
        struct rp_message_note *note = rp_shared_note(place);
        place = atomic_load(&note->also);
        if (note->meeting != 0)
            rp_shared_give_back(note);
    }
}

static void wait_for_first(int count, const MPI_Request *requests)
{
    struct first f = {.count = count,
                      .requests = requests,
                      .wait = {.kind = RP_SHARED_ANY,
                               .candidate = RP_SEND_NEVER,
                               .what = rp_det.function,
                               .requests = requests,
                               .count = count}};

    f.wait.object = chain_acts(&f);
    rp_det_wait(is_first_known, &f, &f.wait);
    drop_chain(f.wait.object);
    rp_shared_raise(f.time);
}

int rp_det_waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    if (!has_active(count, requests))
        return rp_pmpi.Waitany(count, requests, index, status);
    wait_for_first(count, requests);
    uint64_t now = rp_shared_now();
    for (*index = 0; !is_active(requests[*index]) || !rp_det_test_at(requests[*index], now);
         ++*index)
        ;
    rp_det_note(RP_DET_ANSWER, 1, (uint64_t)*index);
    return rp_det_complete(&requests[*index], status);
}

int rp_det_waitsome(int count, MPI_Request *requests, int *outcount, int *indices,
                    MPI_Status *statuses)
{
    if (!has_active(count, requests))
        return rp_pmpi.Waitsome(count, requests, outcount, indices, statuses);
    wait_for_first(count, requests);
    *outcount = collect(count, requests, rp_shared_now(), indices);
    return complete_some(requests, *outcount, indices, statuses);
}
