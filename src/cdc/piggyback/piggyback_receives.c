/* SPDX-License-Identifier: MIT */
/* Receives and probes: MPI gets the place for stamp and payload, the program the payload. */
#include "peers/peer_piggyback.h"
#include "cdc/piggyback/piggyback_message.h"
#include "cdc/piggyback/piggyback_entries.h"
#include "cdc/piggyback/piggyback_pending.h"
#include "preload/constants.h"

static void begin(void)
{
    rp_stamps_clear();
    rp_pending_poll_freed();
}

/* A blocking receive returned. One that failed otherwise than by truncation took no message. */
static void received(struct rp_piggyback_message *message, MPI_Status *status, int rc)
{
    rp_pending_poll_freed();
    rp_stamps_clear(); /* of calls that were made meanwhile, by callbacks */
    if (rc == MPI_SUCCESS || rp_piggyback_error_class(rc) == MPI_ERR_TRUNCATE)
        rp_piggyback_deliver(message, status, rc != MPI_SUCCESS);
    if (message->stamp != RP_NO_STAMP)
        rp_stamps_add(-1, message->stamp);
    rp_piggyback_free(message);
}

int rp_piggyback_recv(rp_recv_function *real, void *buf, MPI_Count count, MPI_Datatype type,
                      int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct rp_wire wire;
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    begin();
    struct rp_piggyback_message *message =
        source == MPI_PROC_NULL
            ? NULL
            : rp_piggyback_to_receive(RP_PIGGYBACK_NOW, buf, count, type, &wire);
    if (!message)
        return real(buf, (int)count, type, source, tag, comm, status);
    int rc;
    RP_INSIDE(rc, real(wire.buf, wire.count, wire.type, source, tag, comm, seen));
    received(message, seen, rc);
    return rc;
}

/* MPI_MESSAGE_NO_PROC, or a null pointer, which the real function reports. */
static bool takes_none(const MPI_Message *matched)
{
    return !matched || *matched == rp_constant.message_no_proc;
}

int rp_piggyback_mrecv(rp_mrecv_function *real, void *buf, MPI_Count count, MPI_Datatype type,
                       MPI_Message *matched, MPI_Status *status)
{
    struct rp_wire wire;
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    begin();
    struct rp_piggyback_message *message =
        takes_none(matched) ? NULL
                            : rp_piggyback_to_receive(RP_PIGGYBACK_NOW, buf, count, type, &wire);
    if (!message)
        return real(buf, (int)count, type, matched, status);
    int rc;
    RP_INSIDE(rc, real(wire.buf, wire.count, wire.type, matched, seen));
    received(message, seen, rc);
    return rc;
}

static int posted(struct rp_piggyback_message *message, int rc, const MPI_Request *request)
{
    if (rc == MPI_SUCCESS) {
        message->active = !message->persistent;
        rp_pending_add(*request, message);
    } else {
        rp_piggyback_free(message);
    }
    return rc;
}

static int post(enum rp_piggyback_kind kind, rp_irecv_function *real, void *buf, MPI_Count count,
                MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct rp_wire wire;
    struct rp_piggyback_message *message =
        source == MPI_PROC_NULL ? NULL : rp_piggyback_to_receive(kind, buf, count, type, &wire);

    if (!message)
        return real(buf, (int)count, type, source, tag, comm, request);
    int rc;
    RP_INSIDE(rc, real(wire.buf, wire.count, wire.type, source, tag, comm, request));
    return posted(message, rc, request);
}

int rp_piggyback_irecv(rp_irecv_function *real, void *buf, MPI_Count count, MPI_Datatype type,
                       int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return post(RP_PIGGYBACK_LATER, real, buf, count, type, source, tag, comm, request);
}

int rp_piggyback_recv_init(rp_irecv_function *real, void *buf, MPI_Count count, MPI_Datatype type,
                           int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return post(RP_PIGGYBACK_PERSISTENT, real, buf, count, type, source, tag, comm, request);
}

int rp_piggyback_imrecv(rp_imrecv_function *real, void *buf, MPI_Count count, MPI_Datatype type,
                        MPI_Message *matched, MPI_Request *request)
{
    struct rp_wire wire;
    struct rp_piggyback_message *message =
        takes_none(matched) ? NULL
                            : rp_piggyback_to_receive(RP_PIGGYBACK_LATER, buf, count, type, &wire);

    if (!message)
        return real(buf, (int)count, type, matched, request);
    int rc;
    RP_INSIDE(rc, real(wire.buf, wire.count, wire.type, matched, request));
    return posted(message, rc, request);
}

/* MPI_Sendrecv: both at once. A half to or from MPI_PROC_NULL stays as the program passed it. */

struct half {
    struct rp_piggyback_message *message;
    struct rp_wire wire;
};

static struct half as_passed(const void *buf, MPI_Count count, MPI_Datatype type)
{
    return (struct half){NULL, {(void *)(uintptr_t)buf, (int)count, type}};
}

static int exchange(rp_sendrecv_function *real, struct half *send, int dest, int sendtag,
                    struct half *receive, int source, int recvtag, MPI_Comm comm,
                    MPI_Status *status)
{
    MPI_Status own, *seen = receive->message && status == MPI_STATUS_IGNORE ? &own : status;
    int rc;
    RP_INSIDE(rc, real(send->wire.buf, send->wire.count, send->wire.type, dest, sendtag,
                       receive->wire.buf, receive->wire.count, receive->wire.type, source, recvtag,
                       comm, seen));

    if (receive->message)
        received(receive->message, seen, rc);
    if (send->message)
        rp_piggyback_free(send->message);
    return rc;
}

static struct half make_receive(void *buf, MPI_Count count, MPI_Datatype type, int source)
{
    struct half half = as_passed(buf, count, type);

    if (source != MPI_PROC_NULL)
        half.message = rp_piggyback_to_receive(RP_PIGGYBACK_NOW, buf, count, type, &half.wire);
    return half;
}

static struct half make_send(enum rp_piggyback_kind kind, const void *buf, MPI_Count count,
                             MPI_Datatype type, int dest)
{
    struct half half = as_passed(buf, count, type);

    if (dest != MPI_PROC_NULL)
        half.message = rp_piggyback_to_send(kind, buf, count, type, &half.wire);
    return half;
}

int rp_piggyback_sendrecv(rp_sendrecv_function *real, const void *sendbuf, MPI_Count sendcount,
                          MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                          MPI_Comm comm, MPI_Status *status)
{
    begin();
    if (rp_hooks && source == MPI_PROC_NULL) /* the engine makes the receive */
        return rp_piggyback_send(rp_pmpi.Send, rp_pmpi.Isend, sendbuf, sendcount, sendtype, dest,
                                 sendtag, comm);
    struct half send = make_send(RP_PIGGYBACK_NOW, sendbuf, sendcount, sendtype, dest);
    struct half receive = make_receive(recvbuf, recvcount, recvtype, source);
    return exchange(real, &send, dest, sendtag, &receive, source, recvtag, comm, status);
}

int rp_piggyback_sendrecv_replace(rp_sendrecv_function *real, void *buf, MPI_Count count,
                                  MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                                  MPI_Comm comm, MPI_Status *status)
{
    begin();
    if (rp_hooks && source == MPI_PROC_NULL)
        return rp_piggyback_send(rp_pmpi.Send, rp_pmpi.Isend, buf, count, type, dest, sendtag,
                                 comm);
    struct half send = make_send(RP_PIGGYBACK_REPLACED, buf, count, type, dest);
    struct half receive = make_receive(buf, count, type, source);
    return exchange(real, &send, dest, sendtag, &receive, source, recvtag, comm, status);
}

/* Probes */

static int probed(MPI_Status *status, int source, bool found, int rc)
{
    if (rc == MPI_SUCCESS && found && status != MPI_STATUS_IGNORE && source != MPI_PROC_NULL)
        rp_piggyback_uncount(status, false);
    return rc;
}

int rp_piggyback_probe(rp_probe_function *real, int source, int tag, MPI_Comm comm,
                       MPI_Status *status)
{
    rp_pending_poll_freed();
    int rc;
    RP_INSIDE(rc, real(source, tag, comm, status));
    return probed(status, source, true, rc);
}

int rp_piggyback_mprobe(rp_mprobe_function *real, int source, int tag, MPI_Comm comm,
                        MPI_Message *matched, MPI_Status *status)
{
    rp_pending_poll_freed();
    int rc;
    RP_INSIDE(rc, real(source, tag, comm, matched, status));
    return probed(status, source, true, rc);
}

int rp_piggyback_iprobe(rp_iprobe_function *real, int source, int tag, MPI_Comm comm, int *flag,
                        MPI_Status *status)
{
    rp_pending_poll_freed();
    int rc;
    RP_INSIDE(rc, real(source, tag, comm, flag, status));

    return probed(status, source, rc == MPI_SUCCESS && *flag, rc);
}

int rp_piggyback_improbe(rp_improbe_function *real, int source, int tag, MPI_Comm comm, int *flag,
                         MPI_Message *matched, MPI_Status *status)
{
    rp_pending_poll_freed();
    int rc;
    RP_INSIDE(rc, real(source, tag, comm, flag, matched, status));

    return probed(status, source, rc == MPI_SUCCESS && *flag, rc);
}
