/* SPDX-License-Identifier: MIT */
/*
 * Calls that ask about requests, start them and end them; partial_completion.c has those that
 * complete them.
 *
 * A receive that the program frees while it is under way still gets its message. We keep it and
 * look: when it is found complete, an entry `freed` records that, before the next entry.
 */
#include <stdlib.h>

#include "base/diagnostics.h"
#include "partial/partial_early.h"
#include "partial/partial_entries.h"
#include "partial/partial_request_calls.h"
#include "partial/partial_requests.h"
#include "partial/partial_window_feed.h"
#include "partial/partial_window_memory.h"
#include "reprise.h"
#include "hand.h"

/* The program may use the content from the first yes on. The call that ends the request records it
 * again, if it is still known. */
int rp_partial_record_Request_get_status(const struct rp_next *next, MPI_Request request, int *flag,
                                         MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    bool is_open = rp_real_begin();
    int rc = next->Request_get_status(request, flag, seen);
    rp_real_end(is_open);
    if (rp_partial.has_threads && rc == MPI_SUCCESS && !*flag && rp_threads_skip_no())
        return rc;
    struct rp_request *r = rp_request_find(request);
    bool full = rc == MPI_SUCCESS && *flag && r && r->active && r->areas.count > 0;
    rp_partial_record_begin(&rp_f_Request_get_status, false, 0, rc);
    rp_partial_record_number((uint64_t)*flag);
    if (*flag)
        rp_partial_record_bytes(seen, sizeof *seen);
    rp_partial_record_number(full);
    if (full)
        rp_areas_put(&r->areas, r->areas.sized ? rp_data_received(seen) : -1);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    static const struct rp_areas none;
    MPI_Status own;
    int rc = rp_partial_feed_begin(&rp_f_Request_get_status, false, 0);
    struct rp_request *r = rp_request_find(request);

    *flag = (int)rp_partial_feed_number();
    if (*flag)
        rp_partial_feed_bytes(status == MPI_STATUS_IGNORE ? &own : status, sizeof own);
    if (rp_partial_feed_number())
        rp_areas_fill(r ? &r->areas : &none);
    rp_request_finish(rc, rp_request_raiser(1, &request, 0));
    return rc;
}

#if RP_HAS_PARTITIONED
/* The program may use a partition from the first yes on. */
int rp_partial_record_Parrived(const struct rp_next *next, MPI_Request request, int partition,
                               int *flag)
{
    bool is_open = rp_real_begin();
    int rc = next->Parrived(request, partition, flag);
    rp_real_end(is_open);
    if (rp_partial.has_threads && rc == MPI_SUCCESS && !*flag && rp_threads_skip_no())
        return rc;
    struct rp_request *r = rp_request_find(request);
    bool full = rc == MPI_SUCCESS && *flag && r && r->active;
    rp_partial_record_begin(&rp_f_Parrived, true, rp_check(0, partition), rc);
    rp_partial_record_number(rc == MPI_SUCCESS && *flag);
    rp_partial_record_number(full);
    if (full) {
        struct rp_areas part = rp_areas_part(&r->areas, partition);
        rp_areas_put(&part, -1);
    }
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Parrived(MPI_Request request, int partition, int *flag)
{
    int rc = rp_partial_feed_begin(&rp_f_Parrived, true, rp_check(0, partition));
    const struct rp_request *r = rp_request_find(request);
    struct rp_areas part = {0};

    *flag = (int)rp_partial_feed_number();
    if (r)
        part = rp_areas_part(&r->areas, partition);
    if (rp_partial_feed_number())
        rp_areas_fill(&part);
    rp_request_finish(rc, rp_request_raiser(1, &request, 0));
    return rc;
}
#endif

/* Starts and ends */

/* Recording, before the call: what it stores at once is seen then. */
static void start(int count, MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        struct rp_request *r = rp_request_find(requests[i]);
        if (!r)
            continue;
        rp_request_deactivate(r);
        r->active = true;
        rp_early_add(&r->areas);
    }
}

int rp_partial_record_Start(const struct rp_next *next, MPI_Request *request)
{
    rp_windows_part();
    start(1, request);
    bool is_open = rp_real_begin();
    int rc = next->Start(request);
    rp_real_end(is_open);
    rp_partial_record_begin(&rp_f_Start, false, 0, rc);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Start(MPI_Request *request)
{
    struct rp_raiser raiser = rp_request_raiser(1, request, 0);
    rp_partial_feed_part(&rp_f_Start);
    int rc = rp_partial_feed_begin(&rp_f_Start, false, 0);

    start(1, request);
    rp_request_finish(rc, raiser);
    return rc;
}

int rp_partial_record_Startall(const struct rp_next *next, int count, MPI_Request *requests)
{
    rp_windows_part();
    start(count, requests);
    bool is_open = rp_real_begin();
    int rc = next->Startall(count, requests);
    rp_real_end(is_open);
    rp_partial_record_begin(&rp_f_Startall, true, rp_check(0, count), rc);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Startall(int count, MPI_Request *requests)
{
    rp_partial_feed_part(&rp_f_Startall);
    int rc = rp_partial_feed_begin(&rp_f_Startall, true, rp_check(0, count));

    start(count, requests);
    rp_request_finish(rc, rp_request_raiser(count, requests, 0));
    return rc;
}

/* Freed receives */

const struct rp_function rp_f_freed = {RP_FREED_NUMBER, "freed"};

struct given_up {
    uint64_t number;
    MPI_Request request;
    bool persistent;
    struct rp_areas areas;
    struct given_up *next;
};
static struct {
    struct given_up *first; /* the oldest */
    uint64_t ever;
} freed;

static void give_up(MPI_Request request, struct rp_request *r)
{
    struct given_up *g = calloc(1, sizeof *g), **last = &freed.first;

    if (!g)
        rp_bug(__FILE__, __LINE__, "out of memory");
    rp_early_drop(r->areas.early);
    *g = (struct given_up){.number = freed.ever++,
                           .request = request,
                           .persistent = r->persistent,
                           .areas = r->areas};
    r->areas = (struct rp_areas){0};
    while (*last)
        last = &(*last)->next;
    *last = g;
}

static void drop(struct given_up **at)
{
    struct given_up *g = *at;

    *at = g->next;
    rp_areas_free(&g->areas);
    free(g);
}

void rp_partial_requests_settle(void)
{
    if (!freed.first)
        return;
    rp_data_off++;
    for (struct given_up **at = &freed.first; *at;) {
        MPI_Status status;
        int done = 0;
        if (rp_pmpi.Test(&(*at)->request, &done, &status) != MPI_SUCCESS || !done) {
            at = &(*at)->next;
            continue;
        }
        rp_data_begin(rp_partial.writer, rp_f_freed.number, rp_f_freed.name);
        rp_partial_record_number((*at)->number);
        rp_areas_put(&(*at)->areas, (*at)->areas.sized ? rp_data_received(&status) : -1);
        rp_partial_record_end();
        if ((*at)->persistent)
            rp_pmpi.Request_free(&(*at)->request);
        drop(at);
    }
    rp_data_off--;
}

void rp_partial_requests_take_freed(void)
{
    uint64_t number = rp_partial_feed_number();

    for (struct given_up **at = &freed.first; *at; at = &(*at)->next)
        if ((*at)->number == number) {
            rp_areas_fill(&(*at)->areas);
            drop(at);
            return;
        }
    rp_error("the record tells of a receive that the program did not free");
    rp_data_end_job(REPRISE_EXIT_DIVERGED);
}

static bool is_receiving(const struct rp_request *r)
{
    return r && r->active && r->areas.count > 0;
}

int rp_partial_record_Request_free(const struct rp_next *next, MPI_Request *request)
{
    struct rp_request *r = rp_request_find(*request);
    MPI_Request handle = *request;
    int rc = MPI_SUCCESS;

    if (is_receiving(r)) {
        give_up(handle, r);
        *request = rp_constant.request_null;
    } else {
        bool is_open = rp_real_begin();
        rc = next->Request_free(request);
        rp_real_end(is_open);
    }
    if (r && rc == MPI_SUCCESS)
        rp_request_forget(handle);
    rp_partial_record_begin(&rp_f_Request_free, false, 0, rc);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Request_free(MPI_Request *request)
{
    struct rp_raiser raiser = rp_request_raiser(1, request, 0);
    struct rp_request *r = rp_request_find(*request);

    if (is_receiving(r))
        give_up(*request, r);
    int rc = rp_partial_feed_begin(&rp_f_Request_free, false, 0);
    if (rc == MPI_SUCCESS && r)
        rp_request_end(request);
    else if (rc == MPI_SUCCESS)
        rp_pmpi.Request_free(request);
    rp_request_finish(rc, raiser);
    return rc;
}

int rp_partial_record_Cancel(const struct rp_next *next, MPI_Request *request)
{
    bool is_open = rp_real_begin();
    int rc = next->Cancel(request);
    rp_real_end(is_open);
    rp_partial_record_begin(&rp_f_Cancel, false, 0, rc);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Cancel(MPI_Request *request)
{
    struct rp_raiser raiser = rp_request_raiser(1, request, 0);
    int rc = rp_partial_feed_begin(&rp_f_Cancel, false, 0);

    if (!rp_request_find(*request))
        rp_pmpi.Cancel(request);
    rp_request_finish(rc, raiser);
    return rc;
}
