/* SPDX-License-Identifier: MIT */
/*
 * Requests, by handle. A receive whose message is known by its source alone is really posted at
 * once, and its request is MPI's own. One that must wait until its message is known gets a
 * stand-in: an inactive persistent request, which has a handle of its own. A send that needs no
 * waiting for its receiver has no entry: it is complete whenever it is asked for.
 *
 * A handle that was completed or freed stays in the table as such until MPI gives it out again: a
 * program that uses it meanwhile would wait for ever, or for what has nothing to do with it.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "det/det.h"
#include "match/send_bounds.h"
#include "preload/constants.h"
#include "preload/requests.h"

/* Beside enum rp_request_flag. */
enum { IS_COMPLETE = 1 << 16, IS_FREED = 1 << 17, IS_OVER = IS_COMPLETE | IS_FREED };

static struct rp_requests table;

static struct {
    MPI_Request *at;
    size_t count, room;
} stand_ins;

void rp_det_requests_start(void)
{
    rp_requests_init(&table);
}

struct rp_det_request *rp_det_request_new(enum rp_det_request_kind kind)
{
    struct rp_det_request *own = malloc(sizeof *own);

    if (!own)
        rp_bug(__FILE__, __LINE__, "out of memory for a request");
    *own = (struct rp_det_request){.kind = kind,
                                   .is_active = true,
                                   .receive.real = rp_constant.request_null};
    return own;
}

/* Sends that are complete at once may have one handle together: how many of these have not been
 * completed by the program? */
static struct {
    MPI_Request handle; /* found by trying; null: none */
    uint64_t live;
} shared;

#ifdef OPEN_MPI
static bool is_built_in(MPI_Request handle)
{
    static const void *empty;

    if (!empty)
        empty = rp_library_object("ompi_request_empty");
    return (const void *)handle == empty;
}
#else
static bool is_built_in(MPI_Request handle)
{
    return (unsigned)handle >> 30 == 1;
}
#endif

static bool is_shared(MPI_Request handle)
{
    return is_built_in(handle) || (handle == shared.handle && handle != rp_constant.request_null);
}

void rp_det_requests_learn(void)
{
    MPI_Request two[2];

    for (int i = 0; i < 2; i++)
        rp_pmpi.Isend(NULL, 0, rp_constant.byte, MPI_PROC_NULL, 0, rp_det.own, &two[i]);
    shared.handle = two[0] == two[1] ? two[0] : rp_constant.request_null;
    for (int i = 0; i < 2; i++)
        rp_pmpi.Wait(&two[i], MPI_STATUS_IGNORE);
}

void rp_det_request_note(MPI_Request handle, struct rp_det_request *own)
{
    struct rp_request *entry = rp_requests_entry(&table, handle);

    shared.live += is_shared(handle);
    entry->note = own;
    entry->flags = RP_REQUEST_RECEIVE;
}

static struct rp_request *find_entry(MPI_Request handle)
{
    return handle == rp_constant.request_null ? NULL : rp_requests_find(&table, handle);
}

struct rp_det_request *rp_det_request_find(MPI_Request handle)
{
    struct rp_request *entry = find_entry(handle);

    if (__builtin_expect(entry && entry->flags & IS_OVER, 0))
        rp_det_say_stale(entry->flags & IS_FREED ? "was freed" : "is complete already",
                         (uint32_t)entry->post);
    if (__builtin_expect(is_shared(handle) && shared.live == 0, 0))
        rp_det_say_stale("is complete already, or was freed", UINT32_MAX);
    return entry && entry->flags ? entry->note : NULL;
}

int rp_det_new_handle(int rc, const MPI_Request *request)
{
    struct rp_request *entry = rc == MPI_SUCCESS ? find_entry(*request) : NULL;

    if (rc == MPI_SUCCESS)
        shared.live += is_shared(*request);
    if (entry && entry->flags & IS_OVER)
        entry->flags = 0;
    return rc;
}

static void end_handle(MPI_Request handle, int how)
{
    bool was_shared = is_shared(handle);
    struct rp_request *entry = was_shared ? find_entry(handle) : rp_requests_entry(&table, handle);

    shared.live -= was_shared;
    if (!entry)
        return;
    entry->note = NULL;
    entry->post = how == IS_FREED ? rp_det_site() : UINT32_MAX;
    entry->flags = was_shared ? 0 : (uint64_t)how;
}

static MPI_Request stand_in(void)
{
    MPI_Request handle;

    if (stand_ins.count > 0)
        return stand_ins.at[--stand_ins.count];
    rp_pmpi.Recv_init(NULL, 0, rp_constant.byte, MPI_PROC_NULL, 0, rp_det.own, &handle);
    return handle;
}

static void put_back(MPI_Request handle)
{
    if (stand_ins.count == stand_ins.room) {
        stand_ins.room = stand_ins.room ? stand_ins.room * 2 : 64;
        stand_ins.at = realloc(stand_ins.at, stand_ins.room * sizeof *stand_ins.at);
        if (!stand_ins.at)
            rp_bug(__FILE__, __LINE__, "out of memory for requests");
    }
    stand_ins.at[stand_ins.count++] = handle;
}

/* The handle of a receive that was freed is not used again soon. */
static void retire(MPI_Request handle)
{
    enum { MOST = 4096 };
    static unsigned retired;

    if (retired < MOST)
        retired++;
    else
        put_back(handle);
}

static void set_buffer(struct rp_det_receive *receive, void *buf, MPI_Count count,
                       MPI_Datatype type)
{
    receive->buf = buf;
    receive->count = count;
    receive->type = type;
}

int rp_det_irecv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    struct rp_det_receive open;

    if (count < 0 || type == rp_constant.datatype_null ||
        !rp_det_receive_open(&open, comm, source, tag))
        return rp_det_new_handle(rp_real_irecv(buf, count, type, source, tag, comm, request),
                                 request);
    struct rp_det_request *own = rp_det_request_new(RP_DET_RECEIVE);
    struct rp_det_receive *receive = &own->receive;
    *receive = open;
    receive->is_delayed = own->stands_in = rp_det_receive_must_delay(receive);
    receive->is_made = !receive->is_delayed;
    if (receive->is_delayed) {
        *request = stand_in();
        set_buffer(receive, buf, count, type);
        receive->owns_type = rp_pmpi.Type_dup(type, &receive->type) == MPI_SUCCESS;
    } else {
        int rc = rp_real_irecv(buf, count, type, source, tag, comm, request);
        if (rc != MPI_SUCCESS) {
            free(own);
            return rc;
        }
        receive->real = *request;
    }
    rp_det_receive_post(receive);
    rp_det_request_note(*request, own);
    return MPI_SUCCESS;
}

/* Persistent ones */

static struct rp_det_request *new_persistent(enum rp_det_request_kind kind, const void *buf,
                                             MPI_Count count, MPI_Datatype type, int peer, int tag,
                                             MPI_Comm comm, MPI_Request handle)
{
    struct rp_det_request *own = rp_det_request_new(kind);

    own->is_persistent = true;
    own->is_active = false;
    own->buf = buf;
    own->count = count;
    rp_pmpi.Type_dup(type, &own->type);
    own->peer = peer;
    own->tag = tag;
    own->comm = comm;
    rp_det_request_note(handle, own);
    return own;
}

int rp_det_recv_init(int rc, void *buf, MPI_Count count, MPI_Datatype type, int source, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    if (rc == MPI_SUCCESS && source != MPI_PROC_NULL)
        new_persistent(RP_DET_RECEIVE, buf, count, type, source, tag, comm, *request);
    else
        rp_det_new_handle(rc, request);
    return rc;
}

int rp_det_send_init(int rc, enum rp_det_mode mode, const void *buf, MPI_Count count,
                     MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (rc == MPI_SUCCESS && dest != MPI_PROC_NULL)
        new_persistent(RP_DET_SEND, buf, count, type, dest, tag, comm, *request)->mode = mode;
    else
        rp_det_new_handle(rc, request);
    return rc;
}

static int start_receive(struct rp_det_request *own, MPI_Request *request)
{
    struct rp_det_receive *receive = &own->receive;
    int rc = MPI_SUCCESS;

    if (!rp_det_receive_open(receive, own->comm, own->peer, own->tag))
        return rp_pmpi.Start(request);
    receive->is_delayed = rp_det_receive_must_delay(receive);
    receive->is_made = own->is_started = !receive->is_delayed;
    set_buffer(receive, (void *)own->buf, own->count, own->type);
    if (own->is_started) {
        rc = rp_pmpi.Start(request);
        receive->real = *request;
    }
    own->is_active = rc == MPI_SUCCESS;
    if (own->is_active)
        rp_det_receive_post(receive);
    return rc;
}

int rp_det_start(MPI_Request *request)
{
    struct rp_det_request *own = rp_det_request_find(*request);
    int rc;

    if (!own || !own->is_persistent || own->is_active)
        return rp_pmpi.Start(request);
    if (own->kind == RP_DET_RECEIVE)
        return start_receive(own, request);
    if (own->kind == RP_DET_SEND) {
        rc = rp_det_isend(own->mode, own->buf, own->count, own->type, own->peer, own->tag,
                          own->comm, &own->receive.real);
    } else {
        own->meeting = rp_det_start_meeting(own);
        rc = rp_pmpi.Start(request);
    }
    own->is_active = rc == MPI_SUCCESS;
    return rc;
}

int rp_det_startall(int count, MPI_Request *requests)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = rp_det_start(&requests[i]);
    return rc;
}

/* Completion */

static void put_cancelled(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    rp_pmpi.Status_set_elements_x(status, rp_constant.byte, 0);
    rp_pmpi.Status_set_cancelled(status, 1);
}

static int complete_receive(struct rp_det_request *own, MPI_Request *request, MPI_Status *status)
{
    struct rp_det_receive *receive = &own->receive;
    bool is_inner = own->stands_in || (own->is_persistent && !own->is_started);
    int rc = MPI_SUCCESS;

    if (own->is_cancelled && !receive->is_made) {
        put_cancelled(status);
    } else {
        if (receive->is_known && (receive->source == MPI_ANY_SOURCE || receive->tag == MPI_ANY_TAG))
            rp_det_note(RP_DET_MATCH, receive->from_world, (uint64_t)receive->its_tag);
        rc = rp_pmpi.Wait(is_inner ? &receive->real : request, status);
    }
    rp_det_receive_close(receive);
    return rc;
}

static int complete_send(struct rp_det_request *own, MPI_Request *request, MPI_Status *status)
{
    if (own->is_persistent)
        return rp_det_complete(&own->receive.real, status);
    rp_shared_give_back(own->note);
    return rp_pmpi.Wait(request, status);
}

static int complete_meeting(struct rp_det_request *own, MPI_Request *request, MPI_Status *status)
{
    int rc = rp_pmpi.Wait(request, status);

    if (own->meeting)
        rp_shared_leave(own->meeting);
    own->meeting = NULL;
    if (own->made && rc == MPI_SUCCESS)
        rp_det_comm_made_later(*own->made, own->made_id);
    return rc;
}

static int complete_kind(struct rp_det_request *own, MPI_Request *request, MPI_Status *status)
{
    switch (own->kind) {
    case RP_DET_RECEIVE:
        return complete_receive(own, request, status);
    case RP_DET_SEND:
        return complete_send(own, request, status);
    case RP_DET_MEETS:
        return complete_meeting(own, request, status);
    default:
        return rp_pmpi.Wait(request, status);
    }
}

/* A persistent one keeps its handle. */
static int complete_unknown(MPI_Request *request, MPI_Status *status)
{
    MPI_Request handle = *request;
    int rc = rp_pmpi.Wait(request, status);

    if (handle != rp_constant.request_null && *request == rp_constant.request_null)
        end_handle(handle, IS_COMPLETE);
    return rc;
}

int rp_det_complete(MPI_Request *request, MPI_Status *status)
{
    MPI_Request handle = *request;
    struct rp_det_request *own = rp_det_request_find(handle);

    if (!own || !own->is_active)
        return complete_unknown(request, status);
    int rc = complete_kind(own, request, status);
    own->is_active = own->is_cancelled = false;
    if (own->is_persistent)
        return rc;
    end_handle(handle, IS_COMPLETE);
    if (own->stands_in) {
        put_back(handle);
        *request = rp_constant.request_null;
    }
    free(own);
    return rc;
}

/* Of a synchronous send. The receiver is asked before the note, so that what the note says is not
 * older. */
static enum rp_det_known look_at_send(const struct rp_det_request *own, uint64_t limit,
                                      uint64_t *when)
{
    uint64_t until = limit > rp_shared_side.latency ? limit - rp_shared_side.latency : 0;
    bool is_later = rp_det_is_later(own->dest, until), is_deaf = rp_shared_is_deaf(own->dest);
    uint32_t taken = atomic_load(&own->note->taken);

    if (taken == RP_TAKEN) {
        *when = atomic_load(&own->note->taken_at) + rp_shared_side.latency;
        return RP_DET_KNOWN;
    }
    return is_later && (taken == RP_TAKEN_NOT || (taken == RP_TAKEN_NEW && is_deaf)) ? RP_DET_AFTER
                                                                                     : RP_DET_OPEN;
}

static bool members_are_later(const struct rp_shared_collective *meeting, uint64_t until)
{
    size_t words = (rp_shared_side.ranks + 63) / 64;

    for (uint32_t i = 0; i < rp_shared_side.ranks; i++) {
        bool must = atomic_load(&meeting->bits[i / 64]) >> i % 64 & 1,
             has = atomic_load(&meeting->bits[words + i / 64]) >> i % 64 & 1;
        if (must && !has && rp_det_is_later(i, until) &&
            !(atomic_load(&meeting->bits[words + i / 64]) >> i % 64 & 1))
            return true;
    }
    return false;
}

static enum rp_det_known look_at_meeting(const struct rp_shared_collective *meeting, uint64_t limit,
                                         uint64_t *when)
{
    uint64_t until = limit > rp_shared_side.latency ? limit - rp_shared_side.latency : 0;

    *when = 0;
    rp_det_check_mismatch();
    if (!meeting)
        return RP_DET_KNOWN;
    *when = atomic_load(&meeting->latest) + rp_shared_side.latency;
    if (rp_shared_is_complete(meeting)) {
        *when = atomic_load(&meeting->latest) + rp_shared_side.latency;
        return RP_DET_KNOWN;
    }
    return *when > limit || members_are_later(meeting, until) ? RP_DET_AFTER : RP_DET_OPEN;
}

static enum rp_det_known look_at_foreign(MPI_Request handle, uint64_t *when)
{
    int flag = 0;

    *when = 0;
    rp_pmpi.Request_get_status(handle, &flag, MPI_STATUS_IGNORE);
    return flag ? RP_DET_KNOWN : RP_DET_AFTER;
}

enum rp_det_known rp_det_request_look(MPI_Request handle, uint64_t limit, uint64_t *when)
{
    struct rp_det_request *own = rp_det_request_find(handle);

    *when = 0;
    if (!own || !own->is_active || own->is_cancelled)
        return RP_DET_KNOWN;
    switch (own->kind) {
    case RP_DET_RECEIVE:
        return rp_det_receive_look(&own->receive, limit, when);
    case RP_DET_SEND:
        return own->is_persistent ? rp_det_request_look(own->receive.real, limit, when)
                                  : look_at_send(own, limit, when);
    case RP_DET_MEETS:
        return look_at_meeting(own->meeting, limit, when);
    default:
        return look_at_foreign(handle, when);
    }
}

/* Others */

int rp_det_foreign(int rc, MPI_Request *request)
{
    if (rc == MPI_SUCCESS)
        rp_det_request_note(*request, rp_det_request_new(RP_DET_FOREIGN));
    return rc;
}

int rp_det_request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct rp_det_request *own = rp_det_request_find(request);
    MPI_Request real = request;

    *flag = rp_det_test_at(request, rp_shared_now());
    rp_det_note(RP_DET_ANSWER, (uint64_t)*flag, 0);
    if (!*flag)
        return MPI_SUCCESS;
    if (own && own->is_active && own->is_cancelled && !own->receive.is_made) {
        put_cancelled(status);
        return MPI_SUCCESS;
    }
    if (own && own->is_active &&
        (own->stands_in || (own->is_persistent && own->kind != RP_DET_MEETS && !own->is_started)))
        real = own->receive.real;
    for (int done = 0;;) {
        int rc = rp_pmpi.Request_get_status(real, &done, status);
        if (rc != MPI_SUCCESS || done)
            return rc;
        sched_yield();
    }
}

/* The real receive, if there is one, must not get a message that this one does not take. */
static void cancel_really(MPI_Request real)
{
    MPI_Status status;
    int done = 0, gone = 0;

    rp_pmpi.Cancel(&real);
    while (rp_pmpi.Request_get_status(real, &done, &status) == MPI_SUCCESS && !done)
        sched_yield();
    rp_pmpi.Test_cancelled(&status, &gone);
    if (!gone)
        rp_det_refuse("MPI_Cancel of a receive while a later message for it is on its way");
}

/* A message that was sent before is received; what is sent from now on comes too late. */
int rp_det_cancel(MPI_Request *request)
{
    struct rp_det_request *own = rp_det_request_find(*request);
    uint64_t now = rp_shared_now();

    if (!own || !own->is_active || own->kind != RP_DET_RECEIVE || own->is_cancelled)
        return rp_pmpi.Cancel(request);
    bool is_sent = rp_det_test_at(*request, now + rp_shared_side.latency - 1);
    rp_det_note(RP_DET_ANSWER, is_sent, 0);
    if (is_sent)
        return MPI_SUCCESS;
    if (own->receive.is_made)
        cancel_really(own->receive.real);
    own->is_cancelled = true;
    rp_det_receive_cancel(&own->receive);
    return MPI_SUCCESS;
}

int rp_det_request_free(MPI_Request *request)
{
    MPI_Request handle = *request;
    struct rp_det_request *own = rp_det_request_find(handle);

    if (handle != rp_constant.request_null)
        end_handle(handle, IS_FREED);
    if (!own)
        return rp_pmpi.Request_free(request);
    if (own->is_active && own->kind == RP_DET_MEETS && own->meeting)
        rp_shared_leave(own->meeting);
    if (own->stands_in) {
        retire(handle); /* the receive goes on by itself */
        *request = rp_constant.request_null;
        return MPI_SUCCESS;
    }
    if (!own->is_active && own->is_persistent) {
        rp_pmpi.Type_free(&own->type);
        free(own);
    }
    return rp_pmpi.Request_free(request);
}
