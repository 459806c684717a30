/* SPDX-License-Identifier: MIT */
#include "engine/placeholder_requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "entry/comms.h"
#include "preload/constants.h"
#include "preload/named_type.h"
#include "entry/thread_state.h"

struct kept {
    void *buf;
    int count;
    MPI_Datatype type;
    int source, tag;
    MPI_Comm comm;
    bool own_type;
    MPI_Request inner; /* request_null: none */
};

static MPI_Comm nowhere;   /* a duplicate of MPI_COMM_SELF: nothing is ever sent on it */
static size_t inner_count; /* entries with RP_REQUEST_INNER */

void rp_placeholder_open(void)
{
    rp_pmpi.Comm_dup(rp_constant.self, &nowhere);
    rp_pmpi.Comm_set_errhandler(nowhere, rp_constant.errors_return);
}

void rp_placeholder_close(void)
{
    rp_pmpi.Comm_free(&nowhere);
}

void rp_placeholder_make_ghost(struct rp_envelope *e)
{
    if (e->sends) {
        e->source = MPI_PROC_NULL;
        return;
    }
    e->source = 0;
    e->tag = 0;
    e->comm = nowhere;
}

static bool is_derived(MPI_Datatype type)
{
    return type != rp_constant.datatype_null && !rp_type_is_named(type);
}

void *rp_placeholder_keep(const struct rp_envelope *e, const struct rp_buffer_args *b)
{
    struct kept *kept = calloc(1, sizeof *kept);

    if (!kept)
        rp_bug(__FILE__, __LINE__, "out of memory for a receive");
    kept->buf = b->buf;
    kept->count = (int)b->count;
    kept->type = b->type;
    kept->source = e->asked_source;
    kept->tag = e->asked_tag;
    kept->comm = e->asked_comm;
    kept->inner = rp_constant.request_null;
    /* The program may free its datatype as soon as the receive is posted. */
    if (is_derived(b->type))
        kept->own_type = rp_pmpi.Type_dup(b->type, &kept->type) == MPI_SUCCESS;
    return kept;
}

static void drop_inner(struct rp_request *entry)
{
    if (!(entry->flags & RP_REQUEST_INNER))
        return;
    entry->flags &= ~(uint64_t)RP_REQUEST_INNER;
    inner_count--;
}

void rp_placeholder_forget(struct rp_request *entry)
{
    struct kept *kept = entry->note;

    drop_inner(entry);
    if (!kept)
        return;
    if (kept->inner != rp_constant.request_null)
        rp_pmpi.Request_free(&kept->inner);
    if (kept->own_type)
        rp_pmpi.Type_free(&kept->type);
    free(kept);
    entry->note = NULL;
}

void rp_placeholder_fail(void *note)
{
    struct rp_request unused = {.note = note};
    struct kept *kept = note;
    MPI_Request request;

    if (!kept)
        return;
    if (rp_pmpi.Irecv(kept->buf, kept->count, kept->type, kept->source, kept->tag, kept->comm,
                      &request) == MPI_SUCCESS) {
        rp_pmpi.Cancel(&request);
        rp_pmpi.Request_free(&request);
    }
    rp_placeholder_forget(&unused);
}

static void set_inner(struct rp_request *entry)
{
    if (!(entry->flags & RP_REQUEST_INNER))
        inner_count++;
    entry->flags |= RP_REQUEST_INNER;
}

int rp_placeholder_start(struct rp_request *entry, const struct rp_match *match)
{
    struct kept *kept = entry->note;
    int rc;

    if (match)
        rc = rp_pmpi.Irecv(kept->buf, kept->count, kept->type, match->source, match->tag,
                           kept->comm, &kept->inner);
    else
        rc = rp_pmpi.Irecv(kept->buf, kept->count, kept->type, 0, 0, nowhere, &kept->inner);
    set_inner(entry);
    return rc;
}

static struct rp_request *with_inner(MPI_Request request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);

    return entry && entry->flags & RP_REQUEST_INNER ? entry : NULL;
}

MPI_Request rp_placeholder_real(MPI_Request request)
{
    struct rp_request *entry = inner_count ? with_inner(request) : NULL;

    return entry ? ((struct kept *)entry->note)->inner : request;
}

MPI_Request *rp_placeholder_enter(int count, MPI_Request *requests, MPI_Request *room)
{
    if (inner_count == 0 || count <= 0)
        return requests;
    for (int i = 0; i < count; i++)
        room[i] = rp_placeholder_real(requests[i]);
    return room;
}

static void leave_one(MPI_Request *request, MPI_Request real, MPI_Request before)
{
    struct rp_request *entry = with_inner(before);

    if (!entry) {
        *request = real;
        return;
    }
    ((struct kept *)entry->note)->inner = real;
    if (real != rp_constant.request_null)
        return;
    drop_inner(entry);
    if (!(entry->flags & RP_REQUEST_PERSISTENT))
        *request = rp_constant.request_null;
}

void rp_placeholder_leave(int count, MPI_Request *requests, const MPI_Request *real,
                          const MPI_Request *before)
{
    if (real == requests)
        return;
    for (int i = 0; i < count; i++)
        leave_one(&requests[i], real[i], before[i]);
}

/* Running on */

static int by_post(const void *one, const void *other)
{
    uint64_t a = (*(struct rp_request *const *)one)->post,
             b = (*(struct rp_request *const *)other)->post;

    return a < b ? -1 : a > b;
}

static void release(struct rp_request *entry)
{
    struct kept *kept = entry->note;
    MPI_Request ghost = kept->inner;

    if (ghost != rp_constant.request_null) {
        rp_pmpi.Cancel(&ghost);
        rp_pmpi.Request_free(&ghost);
    }
    rp_pmpi.Irecv(kept->buf, kept->count, kept->type, kept->source, kept->tag, kept->comm,
                  &kept->inner);
    set_inner(entry);
    entry->flags &= ~(uint64_t)RP_REQUEST_GHOST;
}

void rp_placeholder_release(void)
{
    struct rp_requests *requests = &rp_state.requests;
    struct rp_request **ghosts = calloc(rp_requests_room(requests), sizeof *ghosts);
    size_t count = 0;

    if (!ghosts)
        rp_bug(__FILE__, __LINE__, "out of memory for ghosts");
    for (uint64_t i = 0; i < rp_requests_room(requests); i++)
        if (requests->slots[i].flags & RP_REQUEST_GHOST && requests->slots[i].note)
            ghosts[count++] = &requests->slots[i];
    qsort(ghosts, count, sizeof *ghosts, by_post);
    for (size_t i = 0; i < count; i++)
        release(ghosts[i]);
    free(ghosts);
}

static void swallow(MPI_Message *message, const MPI_Status *status)
{
    int length = 0;

    rp_pmpi.Get_count(status, rp_constant.byte, &length);
    void *bytes = malloc(length > 0 ? (size_t)length : 1);
    if (bytes)
        rp_pmpi.Mrecv(bytes, length > 0 ? length : 0, rp_constant.byte, message, MPI_STATUS_IGNORE);
    free(bytes);
}

void rp_placeholder_sink(void)
{
    for (size_t i = 0; i < rp_comms.count; i++) {
        MPI_Message message;
        MPI_Status status;
        int flag = 0;
        rp_pmpi.Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, rp_comms.known[i].comm, &flag, &message,
                        &status);
        if (flag)
            swallow(&message, &status);
    }
}
