/* SPDX-License-Identifier: MIT */
/*
 * Calls on several requests. A call that completes some of them sees of each pair the part that
 * comes next (`now`): the send, and the receive when that is complete. If nothing but sends ended,
 * it is made again. A call for all of them sees both parts: the program's requests, and the sends
 * behind these.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "isendrecv/isendrecv.h"
#include "preload/constants.h"

static void *allocate(size_t count, size_t size)
{
    void *memory = malloc((count ? count : 1) * size);

    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory for requests");
    return memory;
}

static bool has_pair(int count, const MPI_Request *requests)
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
    MPI_Request *now = allocate((size_t)count, sizeof *now);

    for (int i = 0; i < count; i++) {
        const struct rp_pair *pair = rp_pair_find(requests[i]);
        now[i] = pair && pair->send != rp_constant.request_null ? pair->send : requests[i];
    }
    return now;
}

/* Part i was completed: whether it was a send, behind which the receive comes. */
static bool was_send(const MPI_Request *requests, MPI_Request *now, int i, int error)
{
    struct rp_pair *pair = rp_pair_find(requests[i]);

    if (!pair || pair->send == rp_constant.request_null)
        return false;
    pair->send = rp_constant.request_null;
    pair->send_error = error;
    now[i] = requests[i];
    return true;
}

/* Request i was completed. Returns its error. */
static int hand_out(MPI_Request *requests, const MPI_Request *now, int i, MPI_Status *status,
                    int error)
{
    MPI_Request handle = requests[i];

    requests[i] = now[i];
    if (requests[i] != rp_constant.request_null)
        return error; /* a persistent one, or one that MPI did not give up though it failed */
    return rp_pair_completed(handle, status, error);
}

int rp_pair_Waitany(const struct rp_next *next, int count, MPI_Request *requests, int *index,
                    MPI_Status *status)
{
    if (!has_pair(count, requests))
        return next->Waitany(count, requests, index, status);
    MPI_Request *now = next_parts(count, requests);
    int rc;

    do {
        *index = MPI_UNDEFINED;
        rc = next->Waitany(count, now, index, status);
    } while (*index != MPI_UNDEFINED && was_send(requests, now, *index, rc));
    if (*index != MPI_UNDEFINED)
        rc = hand_out(requests, now, *index, status, rc);
    free(now);
    return rc;
}

int rp_pair_Testany(const struct rp_next *next, int count, MPI_Request *requests, int *index,
                    int *flag, MPI_Status *status)
{
    if (!has_pair(count, requests))
        return next->Testany(count, requests, index, flag, status);
    MPI_Request *now = next_parts(count, requests);
    int rc;

    do {
        *flag = 0;
        *index = MPI_UNDEFINED;
        rc = next->Testany(count, now, index, flag, status);
    } while (*flag && *index != MPI_UNDEFINED && was_send(requests, now, *index, rc));
    if (*flag && *index != MPI_UNDEFINED)
        rc = hand_out(requests, now, *index, status, rc);
    free(now);
    return rc;
}

/* Leaves those that are whole, and returns what the call is to return: `rc`, as far as that is
 * about these. */
static int hand_out_some(MPI_Request *requests, MPI_Request *now, int rc, int *outcount,
                         int *indices, MPI_Status *statuses)
{
    int kept = 0, failed = 0;

    for (int i = 0; i < *outcount; i++) {
        int error = error_of(rc, &statuses[i]);
        if (was_send(requests, now, indices[i], error))
            continue;
        statuses[kept] = statuses[i];
        indices[kept] = indices[i];
        error = hand_out(requests, now, indices[i], &statuses[kept], error);
        statuses[kept++].MPI_ERROR = error;
        failed |= error != MPI_SUCCESS;
    }
    *outcount = kept;
    return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

typedef int some_function(int, MPI_Request *, int *, int *, MPI_Status *);

static int some(some_function *call, int count, MPI_Request *requests, int *outcount, int *indices,
                MPI_Status *statuses)
{
    if (!has_pair(count, requests))
        return call(count, requests, outcount, indices, statuses);
    MPI_Request *now = next_parts(count, requests);
    MPI_Status *own = statuses == MPI_STATUSES_IGNORE ? allocate((size_t)count, sizeof *own) : NULL;
    int rc, reported;

    do {
        *outcount = 0;
        rc = call(count, now, outcount, indices, own ? own : statuses);
        reported = *outcount;
        if (reported != MPI_UNDEFINED && reported > 0)
            rc = hand_out_some(requests, now, rc, outcount, indices, own ? own : statuses);
    } while (reported != MPI_UNDEFINED && reported > 0 && *outcount == 0);
    free(own);
    free(now);
    return rc;
}

int rp_pair_Waitsome(const struct rp_next *next, int count, MPI_Request *requests, int *outcount,
                     int *indices, MPI_Status *statuses)
{
    return some(next->Waitsome, count, requests, outcount, indices, statuses);
}

int rp_pair_Testsome(const struct rp_next *next, int count, MPI_Request *requests, int *outcount,
                     int *indices, MPI_Status *statuses)
{
    return some(next->Testsome, count, requests, outcount, indices, statuses);
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

int rp_pair_Waitall(const struct rp_next *next, int count, MPI_Request *requests,
                    MPI_Status *statuses)
{
    struct parts parts;

    if (!has_pair(count, requests))
        return next->Waitall(count, requests, statuses);
    open_parts(&parts, count, requests, statuses);
    int rc = next->Waitall(parts.all, parts.requests, parts.statuses);
    if (rc == MPI_SUCCESS || is_in_status(rc))
        rc = hand_out_all(next, &parts, rc, requests, statuses);
    close_parts(&parts);
    return rc;
}

int rp_pair_Testall(const struct rp_next *next, int count, MPI_Request *requests, int *flag,
                    MPI_Status *statuses)
{
    struct parts parts;

    if (!has_pair(count, requests))
        return next->Testall(count, requests, flag, statuses);
    open_parts(&parts, count, requests, statuses);
    *flag = 0;
    int rc = next->Testall(parts.all, parts.requests, flag, parts.statuses);
    if (*flag)
        rc = hand_out_all(next, &parts, rc, requests, statuses);
    close_parts(&parts);
    return rc;
}
