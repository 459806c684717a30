/* SPDX-License-Identifier: MIT */
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
static void received(struct rp_piggyback_message *letter, MPI_Status *status, int rc)
{
    rp_pending_poll_freed();
    rp_stamps_clear(); /* of calls that were made meanwhile, by callbacks */
    if (rc == MPI_SUCCESS || rp_piggyback_error_class(rc) == MPI_ERR_TRUNCATE)
        rp_piggyback_deliver(letter, status, rc != MPI_SUCCESS);
    if (letter->stamp != RP_NO_STAMP)
        rp_stamps_add(-1, letter->stamp);
    rp_piggyback_free(letter);
}

int rp_piggyback_recv(rp_recv_function *real, void *buf, MPI_Count count, MPI_Datatype type,
                      int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct rp_wire wire;
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    begin();
    struct rp_piggyback_message *letter =
        source == MPI_PROC_NULL
            ? NULL
            : rp_piggyback_to_receive(RP_PIGGYBACK_NOW, buf, count, type, &wire);
    if (!letter)
        return real(buf, (int)count, type, source, tag, comm, status);
    int rc;
    RP_INSIDE(rc, real(wire.buf, wire.count, wire.type, source, tag, comm, seen));
    received(letter, seen, rc);
    return rc;
}

static bool is_nobodys(const MPI_Message *message)
{
    return !message || *message == rp_constant.message_no_proc;
}

int rp_piggyback_mrecv(rp_mrecv_function *real, void *buf, MPI_Count count, MPI_Datatype type,
                       MPI_Message *message, MPI_Status *status)
{
    struct rp_wire wire;
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    begin();
    struct rp_piggyback_message *letter =
        is_nobodys(message) ? NULL
                            : rp_piggyback_to_receive(RP_PIGGYBACK_NOW, buf, count, type, &wire);
    if (!letter)
        return real(buf, (int)count, type, message, status);
    int rc;
    RP_INSIDE(rc, real(wire.buf, wire.count, wire.type, message, seen));
    received(letter, seen, rc);
    return rc;
}

static int posted(struct rp_piggyback_message *letter, int rc, const MPI_Request *request)
{
    if (rc == MPI_SUCCESS) {
        letter->active = !letter->persistent;
        rp_pending_add(*request, letter);
    } else {
        rp_piggyback_free(letter);
    }
    return rc;
}

static int post(enum rp_piggyback_kind kind, rp_irecv_function *real, void *buf, MPI_Count count,
                MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct rp_wire wire;
    struct rp_piggyback_message *letter =
        source == MPI_PROC_NULL ? NULL : rp_piggyback_to_receive(kind, buf, count, type, &wire);

    if (!letter)
        return real(buf, (int)count, type, source, tag, comm, request);
    int rc;
    RP_INSIDE(rc, real(wire.buf, wire.count, wire.type, source, tag, comm, request));
    return posted(letter, rc, request);
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
                        MPI_Message *message, MPI_Request *request)
{
    struct rp_wire wire;
    struct rp_piggyback_message *letter =
        is_nobodys(message) ? NULL
                            : rp_piggyback_to_receive(RP_PIGGYBACK_LATER, buf, count, type, &wire);

    if (!letter)
        return real(buf, (int)count, type, message, request);
    int rc;
    RP_INSIDE(rc, real(wire.buf, wire.count, wire.type, message, request));
    return posted(letter, rc, request);
}

/* Both at once. A half that goes to or comes from nobody stays as the program gave it. */

struct half {
    struct rp_piggyback_message *letter;
    struct rp_wire wire;
};

static struct half as_given(const void *buf, MPI_Count count, MPI_Datatype type)
{
    return (struct half){NULL, {(void *)(uintptr_t)buf, (int)count, type}};
}

static int exchange(rp_sendrecv_function *real, struct half *send, int dest, int sendtag,
                    struct half *receive, int source, int recvtag, MPI_Comm comm,
                    MPI_Status *status)
{
    MPI_Status own, *seen = receive->letter && status == MPI_STATUS_IGNORE ? &own : status;
    int rc;
    RP_INSIDE(rc, real(send->wire.buf, send->wire.count, send->wire.type, dest, sendtag,
                       receive->wire.buf, receive->wire.count, receive->wire.type, source, recvtag,
                       comm, seen));

    if (receive->letter)
        received(receive->letter, seen, rc);
    if (send->letter)
        rp_piggyback_free(send->letter);
    return rc;
}

static struct half open_receive(void *buf, MPI_Count count, MPI_Datatype type, int source)
{
    struct half half = as_given(buf, count, type);

    if (source != MPI_PROC_NULL)
        half.letter = rp_piggyback_to_receive(RP_PIGGYBACK_NOW, buf, count, type, &half.wire);
    return half;
}

static struct half open_send(enum rp_piggyback_kind kind, const void *buf, MPI_Count count,
                             MPI_Datatype type, int dest)
{
    struct half half = as_given(buf, count, type);

    if (dest != MPI_PROC_NULL)
        half.letter = rp_piggyback_to_send(kind, buf, count, type, &half.wire);
    return half;
}

int rp_piggyback_sendrecv(rp_sendrecv_function *real, const void *sendbuf, MPI_Count sendcount,
                          MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                          MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                          MPI_Comm comm, MPI_Status *status)
{
    begin();
    if (rp_hooks && source == MPI_PROC_NULL) /* the other half is the engine's */
        return rp_piggyback_send(rp_pmpi.Send, rp_pmpi.Isend, sendbuf, sendcount, sendtype, dest,
                                 sendtag, comm);
    struct half send = open_send(RP_PIGGYBACK_NOW, sendbuf, sendcount, sendtype, dest);
    struct half receive = open_receive(recvbuf, recvcount, recvtype, source);
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
    struct half send = open_send(RP_PIGGYBACK_REPLACED, buf, count, type, dest);
    struct half receive = open_receive(buf, count, type, source);
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
                        MPI_Message *message, MPI_Status *status)
{
    rp_pending_poll_freed();
    int rc;
    RP_INSIDE(rc, real(source, tag, comm, message, status));
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
                         MPI_Message *message, MPI_Status *status)
{
    rp_pending_poll_freed();
    int rc;
    RP_INSIDE(rc, real(source, tag, comm, flag, message, status));

    return probed(status, source, rc == MPI_SUCCESS && *flag, rc);
}
