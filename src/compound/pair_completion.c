/* SPDX-License-Identifier: MIT */
/*
 * MPI_Wait, MPI_Test and their families. A call that completes one or some requests sees of each
 * pair the part that comes next: the send, and the receive when the send is complete. If nothing
 * but sends ended, it is made again. A call for all requests sees both parts: the program's
 * requests, and the sends behind these.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "compound/pairs.h"
#include "preload/completion_call.h"
#include "preload/constants.h"

static void *allocate(size_t count, size_t size)
{
    void *memory = malloc((count ? count : 1) * size);

    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory for requests");
    return memory;
}

bool rp_pair_is_among(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count && requests; i++)
        if (rp_pair_find(requests[i]))
            return true;
    return false;
}

static bool is_in_status(int rc)
{
    int class = MPI_SUCCESS;

    return rc != MPI_SUCCESS && rp_pmpi.Error_class(rc, &class) == MPI_SUCCESS &&
           class == MPI_ERR_IN_STATUS;
}

/* Of one of several that a call completed. */
static int error_of(int rc, const MPI_Status *status)
{
    return is_in_status(rc) ? status->MPI_ERROR : rc;
}

/* One or some */

static MPI_Request *next_parts(int count, const MPI_Request *requests)
{
    MPI_Request *parts = allocate((size_t)count, sizeof *parts);

    for (int i = 0; i < count; i++) {
        const struct rp_pair *pair = rp_pair_find(requests[i]);
        parts[i] = pair && pair->send != rp_constant.request_null ? pair->send : requests[i];
    }
    return parts;
}

/* Part i was completed: whether it was a send, behind which the receive comes. */
static bool was_send(const MPI_Request *requests, MPI_Request *parts, int i, int error)
{
    struct rp_pair *pair = rp_pair_find(requests[i]);

    if (!pair || pair->send == rp_constant.request_null)
        return false;
    pair->send = rp_constant.request_null;
    pair->send_error = error;
    parts[i] = requests[i];
    return true;
}

/* Request i was completed. Returns its error. */
static int hand_out(MPI_Request *requests, const MPI_Request *parts, int i, MPI_Status *status,
                    int error)
{
    MPI_Request handle = requests[i];

    requests[i] = parts[i];
    if (requests[i] != rp_constant.request_null)
        return error; /* a persistent one, or one that MPI did not free though it failed */
    return rp_pair_completed(handle, status, error);
}

static bool has_index(const struct rp_completion *c)
{
    return (!c->flag || *c->flag) && *c->index != MPI_UNDEFINED;
}

static int complete_any(const struct rp_next *next, const struct rp_completion *c)
{
    struct rp_completion parts = *c;
    int rc;

    parts.requests = next_parts(c->count, c->requests);
    do {
        if (c->flag)
            *c->flag = 0;
        *c->index = MPI_UNDEFINED;
        rc = rp_completion_call(next, &parts);
    } while (has_index(c) && was_send(c->requests, parts.requests, *c->index, rc));
    if (has_index(c))
        rc = hand_out(c->requests, parts.requests, *c->index, c->statuses, rc);
    free(parts.requests);
    return rc;
}

/* Keeps the pairs that are complete as a whole in the call's outputs, of which `parts` has what MPI
 * wrote. Returns what the call is to return: `rc`, as far as that is about these. */
static int hand_out_some(const struct rp_completion *parts, MPI_Request *requests, int rc)
{
    int *indices = parts->indices, kept = 0, failed = 0;
    MPI_Status *statuses = parts->statuses;

    for (int i = 0; i < *parts->outcount; i++) {
        int error = error_of(rc, &statuses[i]);
        if (was_send(requests, parts->requests, indices[i], error))
            continue;
        statuses[kept] = statuses[i];
        indices[kept] = indices[i];
        error = hand_out(requests, parts->requests, indices[i], &statuses[kept], error);
        statuses[kept++].MPI_ERROR = error;
        failed |= error != MPI_SUCCESS;
    }
    *parts->outcount = kept;
    return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

static int complete_some(const struct rp_next *next, const struct rp_completion *c)
{
    struct rp_completion parts = *c;
    MPI_Status *own = NULL;
    int rc, reported;

    parts.requests = next_parts(c->count, c->requests);
    if (rp_completion_ignores(c))
        parts.statuses = own = allocate((size_t)c->count, sizeof *own);
    do {
        *c->outcount = 0;
        rc = rp_completion_call(next, &parts);
        reported = *c->outcount;
        if (reported != MPI_UNDEFINED && reported > 0)
            rc = hand_out_some(&parts, c->requests, rc);
    } while (reported != MPI_UNDEFINED && reported > 0 && *c->outcount == 0);
    free(own);
    free(parts.requests);
    return rc;
}

/* All */

struct parts {
    int count; /* of the program's */
    int all;   /* with the sends behind these */
    MPI_Request *requests;
    MPI_Status *statuses;
    struct rp_pair **sends; /* whose sends those are */
};

static void open_parts(struct parts *p, int count, const MPI_Request *requests,
                       const MPI_Status *statuses)
{
    size_t most = 2 * (size_t)count;

    p->count = p->all = count;
    p->requests = allocate(most, sizeof *p->requests);
    p->statuses = allocate(most, sizeof *p->statuses);
    p->sends = allocate((size_t)count, sizeof *p->sends);
    memset(p->statuses, 0, most * sizeof *p->statuses);
    if (statuses != MPI_STATUSES_IGNORE) /* what MPI does not set stays */
        memcpy(p->statuses, statuses, (size_t)count * sizeof *statuses);
    for (int i = 0; i < count; i++) {
        struct rp_pair *pair = rp_pair_find(requests[i]);
        p->requests[i] = requests[i];
        if (!pair || pair->send == rp_constant.request_null)
            continue;
        p->sends[p->all - count] = pair;
        p->requests[p->all++] = pair->send;
    }
}

static void close_parts(struct parts *p)
{
    free(p->requests);
    free(p->statuses);
    free(p->sends);
}

static void note_sends(struct parts *p, int rc)
{
    for (int i = p->count; i < p->all; i++) {
        struct rp_pair *pair = p->sends[i - p->count];
        pair->send = p->requests[i];
        if (pair->send == rp_constant.request_null)
            pair->send_error = error_of(rc, &p->statuses[i]);
    }
}

/* MPI may return when a receive has failed, with sends under way. */
static void await_send(const struct rp_next *next, MPI_Request handle)
{
    struct rp_pair *pair = rp_pair_find(handle);

    if (pair && pair->send != rp_constant.request_null)
        pair->send_error = next->Wait(&pair->send, MPI_STATUS_IGNORE);
}

/* Returns what the call is to return. */
static int hand_out_all(const struct rp_next *next, struct parts *p, int rc, MPI_Request *requests,
                        MPI_Status *statuses)
{
    int failed = 0;

    note_sends(p, rc);
    for (int i = 0; i < p->count; i++) {
        MPI_Status *status = &p->statuses[i];
        int error = error_of(rc, status);
        bool is_complete = p->requests[i] != requests[i];
        if (is_complete)
            await_send(next, requests[i]);
        if (is_complete)
            error = hand_out(requests, p->requests, i, status, error);
        if (statuses != MPI_STATUSES_IGNORE) {
            statuses[i] = *status;
            statuses[i].MPI_ERROR = error;
        }
        failed |= error != MPI_SUCCESS;
    }
    return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

static int complete_all(const struct rp_next *next, const struct rp_completion *c)
{
    struct rp_completion both = *c;
    struct parts parts;

    open_parts(&parts, c->count, c->requests, c->statuses);
    both.count = parts.all;
    both.requests = parts.requests;
    both.statuses = parts.statuses;
    if (c->flag)
        *c->flag = 0;
    int rc = rp_completion_call(next, &both);
    if (c->flag ? *c->flag : rc == MPI_SUCCESS || is_in_status(rc))
        rc = hand_out_all(next, &parts, rc, c->requests, c->statuses);
    close_parts(&parts);
    return rc;
}

/* One */

static int complete_one(const struct rp_next *next, const struct rp_completion *c)
{
    MPI_Request handle = *c->requests;
    struct rp_pair *pair = rp_pair_find(handle);

    if (c->flag) {
        *c->flag = 0;
        if (!rp_pair_test_send(next, pair))
            return MPI_SUCCESS;
    } else {
        await_send(next, handle);
    }
    int rc = rp_completion_call(next, c);
    if (*c->requests != rp_constant.request_null)
        return rc;
    return rp_pair_completed(handle, c->statuses, rc);
}

int rp_pair_complete(const struct rp_next *next, const struct rp_completion *c)
{
    switch (c->form) {
    case RP_COMPLETE_ONE:
        return complete_one(next, c);
    case RP_COMPLETE_ALL:
        return complete_all(next, c);
    case RP_COMPLETE_ANY:
        return complete_any(next, c);
    default:
        return complete_some(next, c);
    }
}
