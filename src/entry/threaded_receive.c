/* SPDX-License-Identifier: MIT */
#include "entry/threaded_receive.h"

#include <limits.h>
#include <stdlib.h>

#include "base/diagnostics.h"
#include "preload/constants.h"
#include "preload/device_types.h"
#include "entry/entry.h"
#include "entry/refuse.h"

static int irecv(const struct rp_next *next, void *buf, MPI_Count count, MPI_Datatype type,
                 int source, int tag, MPI_Comm comm, MPI_Request *request)
{
#if RP_HAS_LARGE_COUNTS
    if (count > INT_MAX)
        return next->Irecv_c(buf, count, type, source, tag, comm, request);
#endif
    return next->Irecv(buf, (int)count, type, source, tag, comm, request);
}

static int isend(const struct rp_next *next, const void *buf, MPI_Count count, MPI_Datatype type,
                 int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
#if RP_HAS_LARGE_COUNTS
    if (count > INT_MAX)
        return next->Isend_c(buf, count, type, dest, tag, comm, request);
#endif
    return next->Isend(buf, (int)count, type, dest, tag, comm, request);
}

static int post(const struct rp_call *call, void *buf, MPI_Count count, MPI_Datatype type,
                int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    int rc;

    rp_turn_begin(call, true);
    if (!RP_WANTS_ALL) {
        uint64_t number = rp_state.posts++;
        rc = irecv(call->next, buf, count, type, source, tag, comm, request);
        if (rc == MPI_SUCCESS)
            rp_requests_note(*request, number, source, tag);
    } else {
        struct rp_envelope e;
        struct rp_buffer_args b = {buf, count, type};
        RP_ENVELOPE(e, source, tag, comm, NULL, 0);
        rp_engine->post_begin(call, &e, &b);
        rc = irecv(call->next, buf, count, type, e.source, e.tag, e.comm, request);
        rp_engine->post_end(call, &e, rc, request);
    }
    rp_turn_end(true);
    return rc;
}

static int await(const struct rp_call *call, MPI_Request *request, MPI_Status *status)
{
    const struct rp_completion wait = {.function = "MPI_Wait",
                                       .form = RP_COMPLETE_ONE,
                                       .count = 1,
                                       .requests = request,
                                       .statuses = status};
    int rc;

    if (RP_IS_WATCHED)
        RP_LOCKED(rc, rp_engine->complete(call, &wait));
    else
        RP_INSIDE(rc, call->next->Wait(request, status));
    return rc;
}

int rp_threaded_receive_receive(const struct rp_call *call, void *buf, MPI_Count count,
                                MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                MPI_Status *status)
{
    MPI_Request request;
    int rc = post(call, buf, count, type, source, tag, comm, &request);

    return rc == MPI_SUCCESS ? await(call, &request, status) : rc;
}

int rp_threaded_receive_exchange(const struct rp_call *call, const void *sendbuf,
                                 MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                                 void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                 int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request receive, send;

    rp_turn_begin(call, false);
    int sent = isend(call->next, sendbuf, sendcount, sendtype, dest, sendtag, comm, &send);
    rp_turn_end(false);
    if (sent != MPI_SUCCESS)
        return sent;
    int rc = post(call, recvbuf, recvcount, recvtype, source, tag, comm, &receive);
    if (rc == MPI_SUCCESS)
        rc = await(call, &receive, status);
    RP_INSIDE(sent, call->next->Wait(&send, MPI_STATUS_IGNORE));
    return rc == MPI_SUCCESS ? sent : rc;
}

/* What is sent is packed first, since the receive overwrites it. */
int rp_threaded_receive_replace(const struct rp_call *call, void *buf, MPI_Count count,
                                MPI_Datatype type, int dest, int sendtag, int source, int tag,
                                MPI_Comm comm, MPI_Status *status)
{
    int size = 0, used = 0;

    if (count > INT_MAX || rp_pmpi.Pack_size((int)count, type, comm, &size) != MPI_SUCCESS) {
        rp_refuse(call->function);
        return MPI_ERR_COUNT;
    }
    void *copy = malloc((size_t)size + 1);
    if (!copy)
        rp_bug(__FILE__, __LINE__, "out of memory for a message");
    int rc = MPI_SUCCESS;
    if (rp_device_holds(buf, count, type))
        used = (int)rp_device_pack(buf, count, type, copy, (size_t)size);
    else
        rc = rp_pmpi.Pack(buf, (int)count, type, copy, size, &used, comm);
    if (rc == MPI_SUCCESS)
        rc = rp_threaded_receive_exchange(call, copy, used, rp_constant.packed, dest, sendtag, buf,
                                          count, type, source, tag, comm, status);
    free(copy);
    return rc;
}
