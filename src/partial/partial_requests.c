/* SPDX-License-Identifier: MIT */
/*
 * Requests under way, and the calls that complete them.
 *
 * Recording, only requests that receive are known, by handle: each has one of its own as long as it
 * is under way. A request that is complete when it is made may share its handle with others, so
 * what it received is told at once. Alone, every request is a generalised one of ours; only those
 * that the program itself made are not known.
 *
 * The entry of a completing call holds what the call gave; then, for each request that it
 * completed, its index + 1, whether the handle became null and whether content follows, and that;
 * then 0.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "partial/partial.h"

struct entry {
    MPI_Request request;
    struct rp_areas areas;
    bool persistent, active;
    struct rp_raiser raiser; /* alone */
    struct {
        uint64_t number; /* among all of these, + 1; 0: it is none */
        MPI_Win win;
        int target;
    } read; /* a one-sided read */
    struct entry *next;
};

enum { SLOTS = 1024 };
static struct entry *table[SLOTS];
static size_t known, reading; /* reading: entries of one-sided reads */

static struct entry **slot_of(MPI_Request request)
{
    uint64_t bits = 0;

    memcpy(&bits, &request, sizeof request);
    return &table[(bits * 0x9e3779b97f4a7c15u >> 40) % SLOTS];
}

static struct entry *find(MPI_Request request)
{
    if (known == 0)
        return NULL;
    for (struct entry *e = *slot_of(request); e; e = e->next)
        if (e->request == request)
            return e;
    return NULL;
}

void rp_partial_requests_add(MPI_Request request, struct rp_areas *areas, bool persistent)
{
    struct entry *e = calloc(1, sizeof *e), **slot = slot_of(request);

    if (!e)
        rp_bug(__FILE__, __LINE__, "out of memory");
    *e = (struct entry){.request = request,
                        .areas = *areas,
                        .persistent = persistent,
                        .active = !persistent,
                        .next = *slot};
    rp_areas_keep(&e->areas);
    if (!persistent)
        rp_early_add(&e->areas);
    *slot = e;
    known++;
}

static void forget(MPI_Request request)
{
    for (struct entry **at = slot_of(request); *at; at = &(*at)->next)
        if ((*at)->request == request) {
            struct entry *e = *at;
            *at = e->next;
            rp_areas_free(&e->areas);
            reading -= e->read.number != 0;
            free(e);
            known--;
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
    static uint64_t ever_read;
    struct entry *e = find(request);

    if (!e || e->areas.count == 0)
        return;
    e->read.number = ++ever_read;
    e->read.win = win;
    e->read.target = target;
    reading++;
}

static void end_read(struct entry *e)
{
    rp_areas_free(&e->areas);
    e->read.number = 0;
    reading--;
}

static bool reads_from(const struct entry *e, MPI_Win win, int target)
{
    return e->read.number && e->read.win == win && (target < 0 || e->read.target == target);
}

bool rp_partial_requests_are_reading(MPI_Win win, int target)
{
    for (size_t i = 0; i < SLOTS && reading > 0; i++)
        for (const struct entry *e = table[i]; e; e = e->next)
            if (reads_from(e, win, target))
                return true;
    return false;
}

void rp_partial_requests_reads_done(MPI_Win win, int target, uint64_t first)
{
    for (size_t i = 0; i < SLOTS && reading > 0; i++)
        for (struct entry *e = table[i]; e; e = e->next) {
            if (!reads_from(e, win, target))
                continue;
            rp_data_begin(rp_data_writer, rp_f_got.number, rp_f_got.name);
            rp_partial_record_number(first + e->read.number - 1);
            rp_areas_put(&e->areas, -1);
            rp_partial_record_end();
            end_read(e);
        }
}

bool rp_partial_requests_take_read(uint64_t number)
{
    for (size_t i = 0; i < SLOTS && reading > 0; i++)
        for (struct entry *e = table[i]; e; e = e->next)
            if (e->read.number == number + 1) {
                rp_areas_fill(&e->areas);
                end_read(e);
                return true;
            }
    return false;
}

/* Alone: a request of ours */

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
    find(request)->raiser = raiser;
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

/* The request is at its end. */
static void dispose(MPI_Request *request)
{
    struct entry *e = find(*request);

    rp_data_off++;
    if (e) {
        MPI_Request handle = *request;
        rp_pmpi.Grequest_complete(handle);
        forget(handle);
    }
    rp_pmpi.Wait(request, MPI_STATUS_IGNORE);
    rp_data_off--;
}

/* A persistent request waits for its next start. */
static void rest(struct entry *e)
{
    e->active = false;
    rp_early_drop(e->areas.early);
}

/* Completions */

struct completion {
    int count;
    MPI_Request *requests, *before, few[16];
    MPI_Status *statuses, *own; /* those in use, and what of it is to be freed */
    MPI_Status few_statuses[16];
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory");
    return memory;
}

/* `statuses`: the program's, or NULL if it wants none. */
static void prepare(struct completion *c, int count, MPI_Request *requests, MPI_Status *statuses)
{
    size_t n = count > 0 ? (size_t)count : 0;

    c->count = (int)n;
    c->requests = requests;
    c->before = n <= 16 ? c->few : allocate(n, sizeof *c->before);
    memcpy(c->before, requests, n * sizeof *requests);
    c->own = statuses || n <= 16 ? NULL : allocate(n, sizeof *c->own);
    c->statuses = statuses ? statuses : c->own ? c->own : c->few_statuses;
}

static void leave(struct completion *c)
{
    if (c->before != c->few)
        free(c->before);
    free(c->own);
}

static void put_completed(struct completion *c, int index, const MPI_Status *status, bool failed)
{
    if (index < 0 || index >= c->count || c->before[index] == rp_constant.request_null)
        return;
    struct entry *e = find(c->before[index]);
    bool nulled = c->requests[index] == rp_constant.request_null;
    bool done = nulled || (e && e->active && (!failed || status->MPI_ERROR != MPI_ERR_PENDING));
    bool full = done && e && e->active && e->areas.count > 0;
    if (!nulled && !full)
        return;
    rp_partial_record_number((uint64_t)index + 1);
    rp_partial_record_number((uint64_t)nulled | (uint64_t)full << 1);
    if (full)
        rp_areas_put(&e->areas, e->areas.sized && !failed ? rp_data_received(status) : -1);
    if (e && nulled)
        forget(c->before[index]);
    else if (e)
        rest(e);
}

static void put_all(struct completion *c, int rc)
{
    for (int i = 0; i < c->count; i++)
        put_completed(c, i, &c->statuses[i], rc != MPI_SUCCESS);
    rp_partial_record_number(0);
}

static void put_one(struct completion *c, int index, const MPI_Status *status, int rc)
{
    put_completed(c, index, status, rc != MPI_SUCCESS);
    rp_partial_record_number(0);
}

static void take_completed(int count, MPI_Request *requests)
{
    for (uint64_t index; (index = rp_partial_feed_number()) != 0;) {
        uint64_t what = rp_partial_feed_number();
        if (index > (uint64_t)count || requests[index - 1] == rp_constant.request_null) {
            rp_error("the program waits for other requests than were recorded");
            rp_data_end_job(121);
        }
        struct entry *e = find(requests[index - 1]);
        if (what & 2) {
            static const struct rp_areas none;
            rp_areas_fill(e ? &e->areas : &none);
        }
        if (what & 1)
            dispose(&requests[index - 1]);
        else if (e)
            rest(e);
    }
}

static MPI_Status *wanted(MPI_Status *status)
{
    return status == MPI_STATUS_IGNORE ? NULL : status;
}

static MPI_Status *all_wanted(MPI_Status *statuses)
{
    return statuses == MPI_STATUSES_IGNORE ? NULL : statuses;
}

/* Statuses are told whether or not they were ignored: who stands in front of us may want them where
 * the program does not. */
static void put_statuses(const MPI_Status *statuses, int count)
{
    if (count > 0)
        rp_partial_record_bytes(statuses, (size_t)count * sizeof *statuses);
}

static int first_error; /* of the statuses that were taken last */

/* Returns the first that failed, or -1. */
static int take_statuses(MPI_Status *statuses, int count)
{
    int failed = -1;

    first_error = MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        MPI_Status status;
        rp_partial_feed_bytes(&status, sizeof status);
        if (statuses)
            statuses[i] = status;
        if (failed < 0 && status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING) {
            failed = i;
            first_error = status.MPI_ERROR;
        }
    }
    return failed;
}

/* Open MPI calls the handler of what the request is of, MPICH always that of MPI_COMM_WORLD. To be
 * asked before the request is at its end. */
static struct rp_raiser raiser_of(int count, const MPI_Request *requests, int index)
{
#ifdef OPEN_MPI
    const struct entry *e = index >= 0 && index < count ? find(requests[index]) : NULL;

    if (e)
        return e->raiser;
#else
    (void)count, (void)requests, (void)index;
#endif
    return (struct rp_raiser){.kind = RP_OF_WORLD};
}

static void finish(int rc, struct rp_raiser raiser)
{
    rp_partial_feed_end();
    if (rc == MPI_SUCCESS)
        return;
    if (raiser.kind != RP_OF_WORLD && rc == MPI_ERR_IN_STATUS)
        rc = first_error; /* what Open MPI tells the handler */
    if (raiser.kind == RP_OF_WIN)
        rp_partial_feed_error_win(raiser.win, rc);
    else if (raiser.kind == RP_OF_FILE)
        rp_partial_feed_error_file(raiser.file, rc);
    else
        rp_partial_feed_error_comm(raiser.kind == RP_OF_COMM ? raiser.comm : rp_constant.world, rc);
}

int rp_partial_record_Wait(const struct rp_next *next, MPI_Request *request, MPI_Status *status)
{
    struct completion c;

    prepare(&c, 1, request, wanted(status));
    rp_data_off++;
    int rc = next->Wait(request, c.statuses);
    rp_data_off--;
    rp_windows_meet();
    rp_partial_record_begin(&rp_f_Wait, false, 0, rc);
    put_statuses(c.statuses, 1);
    put_one(&c, 0, c.statuses, rc);
    rp_partial_record_end();
    leave(&c);
    return rc;
}

int rp_partial_feed_Wait(MPI_Request *request, MPI_Status *status)
{
    struct rp_raiser raiser = raiser_of(1, request, 0);
    int rc = rp_partial_feed_begin(&rp_f_Wait, false, 0);

    take_statuses(wanted(status), 1);
    take_completed(1, request);
    finish(rc, raiser);
    return rc;
}

int rp_partial_record_Test(const struct rp_next *next, MPI_Request *request, int *flag,
                           MPI_Status *status)
{
    struct completion c;

    prepare(&c, 1, request, wanted(status));
    rp_data_off++;
    int rc = next->Test(request, flag, c.statuses);
    rp_data_off--;
    bool yes = *flag || rc != MPI_SUCCESS;
    if (yes)
        rp_windows_meet();
    rp_partial_record_begin(&rp_f_Test, false, 0, rc);
    rp_partial_record_number((uint64_t)*flag);
    if (yes) {
        put_statuses(c.statuses, 1);
        put_one(&c, 0, c.statuses, rc);
    }
    rp_partial_record_end();
    leave(&c);
    return rc;
}

int rp_partial_feed_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct rp_raiser raiser = raiser_of(1, request, 0);
    int rc = rp_partial_feed_begin(&rp_f_Test, false, 0);

    *flag = (int)rp_partial_feed_number();
    if (*flag || rc != MPI_SUCCESS) {
        take_statuses(wanted(status), 1);
        take_completed(1, request);
    }
    finish(rc, raiser);
    return rc;
}

int rp_partial_record_Waitall(const struct rp_next *next, int count, MPI_Request *requests,
                              MPI_Status *statuses)
{
    struct completion c;

    prepare(&c, count, requests, all_wanted(statuses));
    rp_data_off++;
    int rc = next->Waitall(count, requests, c.statuses);
    rp_data_off--;
    rp_windows_meet();
    rp_partial_record_begin(&rp_f_Waitall, true, rp_check(0, count), rc);
    put_statuses(c.statuses, c.count);
    put_all(&c, rc);
    rp_partial_record_end();
    leave(&c);
    return rc;
}

int rp_partial_feed_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int rc = rp_partial_feed_begin(&rp_f_Waitall, true, rp_check(0, count));

    struct rp_raiser raiser =
        raiser_of(count, requests, take_statuses(all_wanted(statuses), count));
    take_completed(count, requests);
    finish(rc, raiser);
    return rc;
}

int rp_partial_record_Testall(const struct rp_next *next, int count, MPI_Request *requests,
                              int *flag, MPI_Status *statuses)
{
    struct completion c;

    prepare(&c, count, requests, all_wanted(statuses));
    rp_data_off++;
    int rc = next->Testall(count, requests, flag, c.statuses);
    rp_data_off--;
    bool yes = *flag || rc != MPI_SUCCESS;
    if (yes)
        rp_windows_meet();
    rp_partial_record_begin(&rp_f_Testall, true, rp_check(0, count), rc);
    rp_partial_record_number((uint64_t)*flag);
    if (yes) {
        put_statuses(c.statuses, c.count);
        put_all(&c, rc);
    }
    rp_partial_record_end();
    leave(&c);
    return rc;
}

int rp_partial_feed_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    int rc = rp_partial_feed_begin(&rp_f_Testall, true, rp_check(0, count));
    struct rp_raiser raiser = {.kind = RP_OF_WORLD};

    *flag = (int)rp_partial_feed_number();
    if (*flag || rc != MPI_SUCCESS) {
        raiser = raiser_of(count, requests, take_statuses(all_wanted(statuses), count));
        take_completed(count, requests);
    }
    finish(rc, raiser);
    return rc;
}

static int record_any(const struct rp_function *function, struct completion *c, int index,
                      const int *flag, int rc)
{
    bool yes = !flag || *flag || rc != MPI_SUCCESS;

    if (yes)
        rp_windows_meet();
    rp_partial_record_begin(function, true, rp_check(0, c->count), rc);
    if (flag)
        rp_partial_record_number((uint64_t)*flag);
    rp_data_put_signed(rp_data_writer, index);
    if (yes) {
        put_statuses(c->statuses, 1);
        put_one(c, index, c->statuses, rc);
    }
    rp_partial_record_end();
    leave(c);
    return rc;
}

static int alone_any(const struct rp_function *function, int count, MPI_Request *requests,
                     int *index, int *flag, MPI_Status *status)
{
    int rc = rp_partial_feed_begin(function, true, rp_check(0, count > 0 ? count : 0));

    if (flag)
        *flag = (int)rp_partial_feed_number();
    *index = (int)rp_data_get_signed(rp_data_reader);
    struct rp_raiser raiser = raiser_of(count, requests, *index);
    if (!flag || *flag || rc != MPI_SUCCESS) {
        take_statuses(wanted(status), 1);
        take_completed(count, requests);
    }
    finish(rc, raiser);
    return rc;
}

int rp_partial_record_Waitany(const struct rp_next *next, int count, MPI_Request *requests,
                              int *index, MPI_Status *status)
{
    struct completion c;

    prepare(&c, count, requests, NULL);
    MPI_Status *seen = wanted(status) ? status : c.statuses;
    rp_data_off++;
    int rc = next->Waitany(count, requests, index, seen);
    rp_data_off--;
    if (seen != c.statuses)
        c.statuses[0] = *seen;
    return record_any(&rp_f_Waitany, &c, *index, NULL, rc);
}

int rp_partial_feed_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    return alone_any(&rp_f_Waitany, count, requests, index, NULL, status);
}

int rp_partial_record_Testany(const struct rp_next *next, int count, MPI_Request *requests,
                              int *index, int *flag, MPI_Status *status)
{
    struct completion c;

    prepare(&c, count, requests, NULL);
    MPI_Status *seen = wanted(status) ? status : c.statuses;
    rp_data_off++;
    int rc = next->Testany(count, requests, index, flag, seen);
    rp_data_off--;
    if (seen != c.statuses)
        c.statuses[0] = *seen;
    return record_any(&rp_f_Testany, &c, *index, flag, rc);
}

int rp_partial_feed_Testany(int count, MPI_Request *requests, int *index, int *flag,
                            MPI_Status *status)
{
    return alone_any(&rp_f_Testany, count, requests, index, flag, status);
}

static int record_some(const struct rp_function *function, struct completion *c, int outcount,
                       const int *indices, int rc)
{
    bool any = outcount != MPI_UNDEFINED && outcount > 0;

    if (any)
        rp_windows_meet();
    rp_partial_record_begin(function, true, rp_check(0, c->count), rc);
    rp_data_put_signed(rp_data_writer, outcount);
    if (any) {
        rp_partial_record_bytes(indices, (size_t)outcount * sizeof *indices);
        put_statuses(c->statuses, outcount);
        for (int i = 0; i < outcount; i++)
            put_completed(c, indices[i], &c->statuses[i], rc != MPI_SUCCESS);
    }
    rp_partial_record_number(0);
    rp_partial_record_end();
    leave(c);
    return rc;
}

static int alone_some(const struct rp_function *function, int count, MPI_Request *requests,
                      int *outcount, int *indices, MPI_Status *statuses)
{
    int rc = rp_partial_feed_begin(function, true, rp_check(0, count > 0 ? count : 0));
    struct rp_raiser raiser = {.kind = RP_OF_WORLD};

    *outcount = (int)rp_data_get_signed(rp_data_reader);
    if (*outcount != MPI_UNDEFINED && *outcount > 0 && *outcount <= count) {
        rp_partial_feed_bytes(indices, (size_t)*outcount * sizeof *indices);
        int failed = take_statuses(all_wanted(statuses), *outcount);
        raiser = raiser_of(count, requests, failed >= 0 ? indices[failed] : -1);
    }
    take_completed(count, requests);
    finish(rc, raiser);
    return rc;
}

int rp_partial_record_Waitsome(const struct rp_next *next, int count, MPI_Request *requests,
                               int *outcount, int *indices, MPI_Status *statuses)
{
    struct completion c;

    prepare(&c, count, requests, all_wanted(statuses));
    rp_data_off++;
    int rc = next->Waitsome(count, requests, outcount, indices, c.statuses);
    rp_data_off--;
    return record_some(&rp_f_Waitsome, &c, *outcount, indices, rc);
}

int rp_partial_feed_Waitsome(int count, MPI_Request *requests, int *outcount, int *indices,
                             MPI_Status *statuses)
{
    return alone_some(&rp_f_Waitsome, count, requests, outcount, indices, statuses);
}

int rp_partial_record_Testsome(const struct rp_next *next, int count, MPI_Request *requests,
                               int *outcount, int *indices, MPI_Status *statuses)
{
    struct completion c;

    prepare(&c, count, requests, all_wanted(statuses));
    rp_data_off++;
    int rc = next->Testsome(count, requests, outcount, indices, c.statuses);
    rp_data_off--;
    return record_some(&rp_f_Testsome, &c, *outcount, indices, rc);
}

int rp_partial_feed_Testsome(int count, MPI_Request *requests, int *outcount, int *indices,
                             MPI_Status *statuses)
{
    return alone_some(&rp_f_Testsome, count, requests, outcount, indices, statuses);
}

/* The content is the program's from the first yes on; the call that ends the request tells it
 * again, if it is still known. */
int rp_partial_record_Request_get_status(const struct rp_next *next, MPI_Request request, int *flag,
                                         MPI_Status *status)
{
    MPI_Status own, *seen = wanted(status) ? status : &own;

    rp_data_off++;
    int rc = next->Request_get_status(request, flag, seen);
    rp_data_off--;
    struct entry *e = find(request);
    bool full = rc == MPI_SUCCESS && *flag && e && e->active && e->areas.count > 0;
    rp_partial_record_begin(&rp_f_Request_get_status, false, 0, rc);
    rp_partial_record_number((uint64_t)*flag);
    if (*flag)
        put_statuses(seen, 1);
    rp_partial_record_number(full);
    if (full)
        rp_areas_put(&e->areas, e->areas.sized ? rp_data_received(seen) : -1);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    static const struct rp_areas none;
    int rc = rp_partial_feed_begin(&rp_f_Request_get_status, false, 0);
    struct entry *e = find(request);

    *flag = (int)rp_partial_feed_number();
    if (*flag)
        take_statuses(wanted(status), 1);
    if (rp_partial_feed_number())
        rp_areas_fill(e ? &e->areas : &none);
    finish(rc, raiser_of(1, &request, 0));
    return rc;
}

/* Starts and ends */

/* Recording, before the call: what it stores at once is seen then. */
static void start(int count, MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        struct entry *e = find(requests[i]);
        if (!e)
            continue;
        rest(e);
        e->active = true;
        rp_early_add(&e->areas);
    }
}

int rp_partial_record_Start(const struct rp_next *next, MPI_Request *request)
{
    rp_windows_part();
    start(1, request);
    rp_data_off++;
    int rc = next->Start(request);
    rp_data_off--;
    rp_partial_record_begin(&rp_f_Start, false, 0, rc);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Start(MPI_Request *request)
{
    struct rp_raiser raiser = raiser_of(1, request, 0);
    rp_partial_feed_part(&rp_f_Start);
    int rc = rp_partial_feed_begin(&rp_f_Start, false, 0);

    start(1, request);
    finish(rc, raiser);
    return rc;
}

int rp_partial_record_Startall(const struct rp_next *next, int count, MPI_Request *requests)
{
    rp_windows_part();
    start(count, requests);
    rp_data_off++;
    int rc = next->Startall(count, requests);
    rp_data_off--;
    rp_partial_record_begin(&rp_f_Startall, true, rp_check(0, count), rc);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Startall(int count, MPI_Request *requests)
{
    rp_partial_feed_part(&rp_f_Startall);
    int rc = rp_partial_feed_begin(&rp_f_Startall, true, rp_check(0, count));

    start(count, requests);
    finish(rc, raiser_of(count, requests, 0));
    return rc;
}

/* The program gave it up, but its message still goes to the buffer. We keep it and look. */

const struct rp_function rp_f_freed = {RP_FREED_NUMBER, "freed"};
size_t rp_partial_requests_freed;

struct given_up {
    uint64_t number;
    MPI_Request request;
    struct rp_areas areas;
    struct given_up *next;
};
static struct given_up *given_up;
static uint64_t ever_freed;

static void give_up(MPI_Request request, struct entry *e)
{
    struct given_up *g = allocate(1, sizeof *g), **last = &given_up;

    rp_early_drop(e->areas.early);
    *g = (struct given_up){.number = ever_freed++, .request = request, .areas = e->areas};
    e->areas = (struct rp_areas){0};
    while (*last)
        last = &(*last)->next;
    *last = g;
    rp_partial_requests_freed++;
}

static void drop(struct given_up **at)
{
    struct given_up *g = *at;

    *at = g->next;
    rp_areas_free(&g->areas);
    free(g);
    rp_partial_requests_freed--;
}

void rp_partial_requests_settle(void)
{
    rp_data_off++;
    for (struct given_up **at = &given_up; *at;) {
        MPI_Status status;
        int done = 0;
        if (rp_pmpi.Test(&(*at)->request, &done, &status) != MPI_SUCCESS || !done) {
            at = &(*at)->next;
            continue;
        }
        rp_data_begin(rp_data_writer, rp_f_freed.number, rp_f_freed.name);
        rp_partial_record_number((*at)->number);
        rp_areas_put(&(*at)->areas, (*at)->areas.sized ? rp_data_received(&status) : -1);
        rp_partial_record_end();
        drop(at);
    }
    rp_data_off--;
}

void rp_partial_requests_give_back(void)
{
    while (given_up) {
        rp_pmpi.Request_free(&given_up->request);
        drop(&given_up);
    }
}

void rp_partial_requests_take_freed(void)
{
    uint64_t number = rp_partial_feed_number();

    for (struct given_up **at = &given_up; *at; at = &(*at)->next)
        if ((*at)->number == number) {
            rp_areas_fill(&(*at)->areas);
            drop(at);
            return;
        }
    rp_error("the record tells of a receive that the program did not free");
    rp_data_end_job(121);
}

static bool is_receiving(const struct entry *e)
{
    return e && e->active && e->areas.count > 0 && !e->persistent;
}

int rp_partial_record_Request_free(const struct rp_next *next, MPI_Request *request)
{
    struct entry *e = find(*request);
    MPI_Request handle = *request;
    int rc = MPI_SUCCESS;

    if (e && e->active && e->persistent && e->areas.count > 0) {
        rp_error("MPI_Request_free of a persistent receive that is under way: when its message "
                 "comes is not seen, so this rank cannot be replayed alone");
        rp_data_end_job(123);
    }
    if (is_receiving(e)) {
        give_up(handle, e);
        *request = rp_constant.request_null;
    } else {
        rp_data_off++;
        rc = next->Request_free(request);
        rp_data_off--;
    }
    if (e && rc == MPI_SUCCESS)
        forget(handle);
    rp_partial_record_begin(&rp_f_Request_free, false, 0, rc);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Request_free(MPI_Request *request)
{
    struct rp_raiser raiser = raiser_of(1, request, 0);
    struct entry *e = find(*request);

    if (is_receiving(e))
        give_up(*request, e);
    int rc = rp_partial_feed_begin(&rp_f_Request_free, false, 0);
    if (rc == MPI_SUCCESS && e)
        dispose(request);
    else if (rc == MPI_SUCCESS)
        rp_pmpi.Request_free(request);
    finish(rc, raiser);
    return rc;
}

int rp_partial_record_Cancel(const struct rp_next *next, MPI_Request *request)
{
    rp_data_off++;
    int rc = next->Cancel(request);
    rp_data_off--;
    rp_partial_record_begin(&rp_f_Cancel, false, 0, rc);
    rp_partial_record_end();
    return rc;
}

int rp_partial_feed_Cancel(MPI_Request *request)
{
    struct rp_raiser raiser = raiser_of(1, request, 0);
    int rc = rp_partial_feed_begin(&rp_f_Cancel, false, 0);

    if (!find(*request))
        rp_pmpi.Cancel(request);
    finish(rc, raiser);
    return rc;
}
