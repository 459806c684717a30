/* SPDX-License-Identifier: MIT */
/* Sends, and the start of persistent requests: MPI gets stamp and payload as one message. */
#include "peers/peer_piggyback.h"
#include "preload/datatype_layout.h"
#include "cdc/piggyback/piggyback_message.h"
#include "cdc/piggyback/piggyback_entries.h"
#include "cdc/piggyback/piggyback_pending.h"

static void sending(MPI_Comm comm, int dest)
{
    if (__builtin_expect(rp_hooks != NULL, 0))
        rp_hooks->sending(comm, dest);
}

/* In a replay by clocks no receives are posted where others send to: a rank whose send waits must
 * take in meanwhile what comes. */
static int send_and_poll(rp_isend_function *immediate, const struct rp_wire *wire, int dest,
                         int tag, MPI_Comm comm)
{
    MPI_Request request;
    int flag = 0, rc;

    RP_INSIDE(rc, immediate(wire->buf, wire->count, wire->type, dest, tag, comm, &request));
    while (rc == MPI_SUCCESS &&
           (rc = rp_pmpi.Test(&request, &flag, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !flag)
        rp_hooks->send_waits();
    rp_hooks->send_returned();
    return rc;
}

int rp_piggyback_send(rp_send_function *real, rp_isend_function *immediate, const void *buf,
                      MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    struct rp_wire wire;

    rp_pending_poll_freed();
    sending(comm, dest);
    struct rp_piggyback_message *message =
        dest == MPI_PROC_NULL ? NULL
                              : rp_piggyback_to_send(RP_PIGGYBACK_NOW, buf, count, type, &wire);
    if (!message)
        return real(buf, (int)count, type, dest, tag, comm);
    int rc;
    if (rp_hooks)
        rc = send_and_poll(immediate, &wire, dest, tag, comm);
    else
        RP_INSIDE(rc, real(wire.buf, wire.count, wire.type, dest, tag, comm));
    rp_piggyback_free(message);
    return rc;
}

static bool is_complete(MPI_Request request)
{
    int flag = 0;

    return rp_pmpi.Request_get_status(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag;
}

int rp_piggyback_isend(rp_isend_function *real, const void *buf, MPI_Count count, MPI_Datatype type,
                       int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct rp_wire wire;

    rp_pending_poll_freed();
    sending(comm, dest);
    struct rp_piggyback_message *message =
        dest == MPI_PROC_NULL ? NULL
                              : rp_piggyback_to_send(RP_PIGGYBACK_LATER, buf, count, type, &wire);
    if (!message)
        return real(buf, (int)count, type, dest, tag, comm, request);
    int rc;
    RP_INSIDE(rc, real(wire.buf, wire.count, wire.type, dest, tag, comm, request));
    if (rc != MPI_SUCCESS || is_complete(*request)) {
        rp_piggyback_free(message);
        return rc;
    }
    message->active = true;
    rp_pending_add(*request, message);
    return rc;
}

int rp_piggyback_send_init(rp_isend_function *real, const void *buf, MPI_Count count,
                           MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                           MPI_Request *request)
{
    struct rp_wire wire;
    struct rp_piggyback_message *message =
        dest == MPI_PROC_NULL
            ? NULL
            : rp_piggyback_to_send(RP_PIGGYBACK_PERSISTENT, buf, count, type, &wire);

    if (!message)
        return real(buf, (int)count, type, dest, tag, comm, request);
    int rc;
    RP_INSIDE(rc, real(wire.buf, wire.count, wire.type, dest, tag, comm, request));
    message->comm = comm;
    message->dest = dest;
    if (rc == MPI_SUCCESS)
        rp_pending_add(*request, message);
    else
        rp_piggyback_free(message);
    return rc;
}

static void restart(MPI_Request request, bool begins)
{
    struct rp_piggyback_message *message = rp_pending_find(request);

    if (!message)
        return;
    if (begins && !message->receives)
        sending(message->comm, message->dest);
    if (begins)
        rp_piggyback_begin(message);
    else
        message->active = false;
}

int rp_piggyback_start(int (*real)(MPI_Request *), MPI_Request *request)
{
    if (request)
        restart(*request, true);
    int rc;
    RP_INSIDE(rc, real(request));
    if (rc != MPI_SUCCESS && request)
        restart(*request, false);
    return rc;
}

int rp_piggyback_startall(int (*real)(int, MPI_Request *), int count, MPI_Request *requests)
{
    for (int i = 0; requests && i < count; i++)
        restart(requests[i], true);
    int rc;
    RP_INSIDE(rc, real(count, requests));
    for (int i = 0; requests && rc != MPI_SUCCESS && i < count; i++)
        restart(requests[i], false);
    return rc;
}

int rp_piggyback_type_free(int (*real)(MPI_Datatype *), MPI_Datatype *type)
{
    if (type)
        rp_layout_forget(*type);
    return real(type);
}
