/* SPDX-License-Identifier: MIT */
/*
 * Requests under way.
 *
 * Recording, only requests that receive are known, by handle: each has one of its own as long as it
 * is under way. A request that is complete when it is made may share its handle with others, so
 * what it received is recorded at once. Feeding, every request is a generalised one of ours; only
 * those that the program itself made are not known.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "partial/partial_early.h"
#include "partial/partial_entries.h"
#include "partial/partial_requests.h"
#include "preload/family.h"

const struct rp_function rp_f_got = {RP_GOT_NUMBER, "got"};

enum { SLOTS = 1024 };
static struct {
    struct rp_request *slot[SLOTS];
    size_t known, reading; /* all; those that are one-sided reads */
    uint64_t ever_read;    /* one-sided reads so far */
} table;

static struct rp_request **slot_of(MPI_Request request)
{
    uint64_t bits = 0;

    memcpy(&bits, &request, sizeof request);
    return &table.slot[(bits * 0x9e3779b97f4a7c15u >> 40) % SLOTS];
}

struct rp_request *rp_request_find(MPI_Request request)
{
    if (table.known == 0)
        return NULL;
    for (struct rp_request *r = *slot_of(request); r; r = r->next)
        if (r->request == request)
            return r;
    return NULL;
}

void rp_partial_requests_add(MPI_Request request, struct rp_areas *areas, bool persistent)
{
    struct rp_request *r = calloc(1, sizeof *r), **slot = slot_of(request);

    if (!r)
        rp_bug(__FILE__, __LINE__, "out of memory");
    *r = (struct rp_request){.request = request,
                             .areas = *areas,
                             .persistent = persistent,
                             .active = !persistent,
                             .next = *slot};
    rp_areas_keep(&r->areas);
    if (!persistent)
        rp_early_add(&r->areas);
    *slot = r;
    table.known++;
}

void rp_request_forget(MPI_Request request)
{
    for (struct rp_request **at = slot_of(request); *at; at = &(*at)->next)
        if ((*at)->request == request) {
            struct rp_request *r = *at;
            *at = r->next;
            rp_areas_free(&r->areas);
            table.reading -= r->read.number != 0;
            free(r);
            table.known--;
            return;
        }
}

void rp_partial_record_fresh(MPI_Request request, struct rp_areas *areas)
{
    MPI_Status status;
    int done = 0;

    if (areas->count > 0 && rp_pmpi.Request_get_status(request, &done, &status) != MPI_SUCCESS)
        done = 0;
    rp_partial_record_number(done != 0);
    if (areas->count == 0)
        return;
    if (!done) {
        rp_partial_requests_add(request, areas, false);
        return;
    }
    rp_areas_put(areas, -1);
    rp_areas_free(areas);
}

void rp_partial_requests_read(MPI_Request request, MPI_Win win, int target)
{
    struct rp_request *r = rp_request_find(request);

    if (!r || r->areas.count == 0)
        return;
    r->read.number = ++table.ever_read;
    r->read.win = win;
    r->read.target = target;
    table.reading++;
}

static void end_read(struct rp_request *r)
{
    rp_areas_free(&r->areas);
    r->read.number = 0;
    table.reading--;
}

static bool reads_from(const struct rp_request *r, MPI_Win win, int target)
{
    return r->read.number && r->read.win == win && (target < 0 || r->read.target == target);
}

bool rp_partial_requests_are_reading(MPI_Win win, int target)
{
    for (size_t i = 0; i < SLOTS && table.reading > 0; i++)
        for (const struct rp_request *r = table.slot[i]; r; r = r->next)
            if (reads_from(r, win, target))
                return true;
    return false;
}

void rp_partial_requests_reads_done(MPI_Win win, int target, uint64_t first)
{
    for (size_t i = 0; i < SLOTS && table.reading > 0; i++)
        for (struct rp_request *r = table.slot[i]; r; r = r->next) {
            if (!reads_from(r, win, target))
                continue;
            rp_data_begin(rp_partial.writer, rp_f_got.number, rp_f_got.name);
            rp_partial_record_number(first + r->read.number - 1);
            rp_areas_put(&r->areas, -1);
            rp_partial_record_end();
            end_read(r);
        }
}

bool rp_partial_requests_take_read(uint64_t number)
{
    for (size_t i = 0; i < SLOTS && table.reading > 0; i++)
        for (struct rp_request *r = table.slot[i]; r; r = r->next)
            if (r->read.number == number + 1) {
                rp_areas_fill(&r->areas);
                end_read(r);
                return true;
            }
    return false;
}

/* Feeding: a request of ours */

static int grequest_query(void *extra, MPI_Status *status)
{
    (void)extra;
    rp_pmpi.Status_set_elements(status, rp_constant.byte, 0);
    rp_pmpi.Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int grequest_free(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int grequest_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

MPI_Request rp_partial_feed_request(struct rp_areas *areas, bool persistent,
                                    struct rp_raiser raiser)
{
    MPI_Request request;

    rp_data_off++;
    rp_pmpi.Grequest_start(grequest_query, grequest_free, grequest_cancel, NULL, &request);
    rp_data_off--;
    rp_partial_requests_add(request, areas, persistent);
    rp_request_find(request)->raiser = raiser;
    return request;
}

void rp_partial_feed_fresh(MPI_Request *request, struct rp_areas *areas, struct rp_raiser raiser)
{
    if (rp_partial_feed_number()) {
        rp_early_at_once(areas);
        rp_areas_fill(areas);
        rp_areas_free(areas);
    }
    *request = rp_partial_feed_request(areas, false, raiser);
}

void rp_request_end(MPI_Request *request)
{
    struct rp_request *r = rp_request_find(*request);

    rp_data_off++;
    if (r) {
        MPI_Request handle = *request;
        rp_pmpi.Grequest_complete(handle);
        rp_request_forget(handle);
    }
    rp_pmpi.Wait(request, MPI_STATUS_IGNORE);
    rp_data_off--;
}

void rp_request_deactivate(struct rp_request *r)
{
    r->active = false;
    rp_early_drop(r->areas.early);
}

struct rp_raiser rp_request_raiser(int count, const MPI_Request *requests, int index)
{
    const struct rp_request *r =
        index >= 0 && index < count ? rp_request_find(requests[index]) : NULL;

    if (r)
        return r->raiser;
    return (struct rp_raiser){.kind = RP_OF_WORLD};
}

void rp_request_finish(int error, struct rp_raiser raiser)
{
    rp_partial_feed_end();
    if (!rp_partial_feed_failed(error))
        return;
    if (!rp_is_openmpi() && !rp_partial_feed_knows_handlers())
        raiser.kind = RP_OF_WORLD; /* as MPICH does, up to version 4.0 */
    if (raiser.kind == RP_OF_WIN)
        rp_partial_feed_error_win(raiser.win, error);
    else if (raiser.kind == RP_OF_FILE)
        rp_partial_feed_error_file(raiser.file, error);
    else
        rp_partial_feed_error_comm(raiser.kind == RP_OF_COMM ? raiser.comm : rp_constant.world,
                                   error);
}
