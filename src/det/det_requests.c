/* SPDX-License-Identifier: MIT */
/*
 * A receive whose message is known by its source alone is really posted at once, and its request is
 * MPI's own. One that must wait until its message is known gets a placeholder. A send that needs no
 * waiting for its receiver has no entry: it is complete whenever it is asked for.
 */
#include "det/det_requests.h"

#include <stdlib.h>

#include "det/det_collectives.h"
#include "det/det_mismatch.h"
#include "det/det_real.h"
#include "det/det_sends.h"
#include "preload/constants.h"

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
    receive->is_delayed = own->has_placeholder = rp_det_receive_must_delay(receive);
    receive->is_made = !receive->is_delayed;
    if (receive->is_delayed) {
        *request = rp_det_placeholder();
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
    rp_det_request_enter(*request, own);
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
    rp_det_request_enter(handle, own);
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
        own->collective = rp_det_collective_start(own);
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

void rp_det_put_cancelled(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    rp_pmpi.Status_set_elements_x(status, rp_constant.byte, 0);
    rp_pmpi.Status_set_cancelled(status, 1);
}

static int complete_receive(struct rp_det_request *own, MPI_Request *request, MPI_Status *status)
{
    struct rp_det_receive *receive = &own->receive;
    bool is_inner = own->has_placeholder || (own->is_persistent && !own->is_started);
    int rc = MPI_SUCCESS;

    if (own->is_cancelled && !receive->is_made) {
        rp_det_put_cancelled(status);
    } else {
        if (receive->is_known && (receive->source == MPI_ANY_SOURCE || receive->tag == MPI_ANY_TAG))
            rp_det_decided(RP_DET_MATCH, receive->from_world, (uint64_t)receive->its_tag);
        rc = rp_pmpi.Wait(is_inner ? &receive->real : request, status);
    }
    rp_det_receive_close(receive);
    return rc;
}

static int complete_send(struct rp_det_request *own, MPI_Request *request, MPI_Status *status)
{
    if (own->is_persistent)
        return rp_det_complete(&own->receive.real, status);
    rp_shared_message_return(own->message);
    return rp_pmpi.Wait(request, status);
}

static int complete_collective(struct rp_det_request *own, MPI_Request *request, MPI_Status *status)
{
    int rc = rp_pmpi.Wait(request, status);

    if (own->collective)
        rp_shared_collective_leave(own->collective);
    own->collective = NULL;
    if (own->made && rc == MPI_SUCCESS)
        rp_det_comm_made_with_id(*own->made, own->made_id);
    return rc;
}

static int complete_kind(struct rp_det_request *own, MPI_Request *request, MPI_Status *status)
{
    switch (own->kind) {
    case RP_DET_RECEIVE:
        return complete_receive(own, request, status);
    case RP_DET_SEND:
        return complete_send(own, request, status);
    case RP_DET_COLLECTIVE:
        return complete_collective(own, request, status);
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
        rp_det_request_completed(handle);
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
    rp_det_request_completed(handle);
    if (own->has_placeholder) {
        rp_det_placeholder_return(handle);
        *request = rp_constant.request_null;
    }
    free(own);
    return rc;
}

/* Of a synchronous send. The receiver is looked at before the message, so that what the message
 * says is not older. */
static enum rp_det_known look_at_send(const struct rp_det_request *own, uint64_t limit,
                                      uint64_t *when)
{
    uint64_t until = rp_det_seen_until(limit);
    bool is_later = rp_det_is_later(own->dest, until),
         receives_nothing = rp_shared_receives_nothing(own->dest);
    uint32_t matched = atomic_load(&own->message->matched);

    if (matched == RP_MATCHED) {
        *when = atomic_load(&own->message->matched_at) + rp_shared.latency;
        return RP_DET_KNOWN;
    }
    return is_later &&
                   (matched == RP_MATCHED_NOT || (matched == RP_MATCHED_UNSEEN && receives_nothing))
               ? RP_DET_AFTER
               : RP_DET_OPEN;
}

static bool members_are_later(const struct rp_shared_collective *collective, uint64_t until)
{
    size_t words = rp_shared_words();

    for (uint32_t i = 0; i < rp_shared.ranks; i++) {
        bool must = atomic_load(&collective->bits[i / 64]) >> i % 64 & 1,
             has = atomic_load(&collective->bits[words + i / 64]) >> i % 64 & 1;
        if (must && !has && rp_det_is_later(i, until) &&
            !(atomic_load(&collective->bits[words + i / 64]) >> i % 64 & 1))
            return true;
    }
    return false;
}

static enum rp_det_known look_at_collective_request(const struct rp_shared_collective *collective,
                                                    uint64_t limit, uint64_t *when)
{
    uint64_t until = rp_det_seen_until(limit);

    *when = 0;
    rp_det_check_mismatch();
    if (!collective)
        return RP_DET_KNOWN;
    *when = atomic_load(&collective->latest) + rp_shared.latency;
    if (rp_shared_collective_is_complete(collective)) {
        *when = atomic_load(&collective->latest) + rp_shared.latency;
        return RP_DET_KNOWN;
    }
    return *when > limit || members_are_later(collective, until) ? RP_DET_AFTER : RP_DET_OPEN;
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
    case RP_DET_COLLECTIVE:
        return look_at_collective_request(own->collective, limit, when);
    default:
        return look_at_foreign(handle, when);
    }
}

int rp_det_foreign(int rc, MPI_Request *request)
{
    if (rc == MPI_SUCCESS)
        rp_det_request_enter(*request, rp_det_request_new(RP_DET_FOREIGN));
    return rc;
}
