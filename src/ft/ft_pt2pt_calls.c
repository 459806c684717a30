/* SPDX-License-Identifier: MIT */
/* MPI's functions of point-to-point communication. */
#include "ft/ft_pt2pt_calls.h"

#include "ft/ft_completion.h"
#include "ft/ft_determinants.h"
#include "ft/ft_match.h"
#include "ft/ft_pt2pt.h"
#include "ft/ft_state.h"
#include "ft/ft_types.h"

int rp_ft_check_arguments(const struct rp_ft_comm *comm, int count, MPI_Datatype type, int peer,
                          int tag, bool receives)
{
    if (count < 0)
        return MPI_ERR_COUNT;
    if (type == MPI_DATATYPE_NULL)
        return MPI_ERR_TYPE;
    if (tag < 0 && !(receives && tag == MPI_ANY_TAG))
        return MPI_ERR_TAG;
    if (peer == MPI_PROC_NULL || (receives && peer == MPI_ANY_SOURCE) ||
        (peer >= 0 && peer < comm->size))
        return MPI_SUCCESS;
    return MPI_ERR_RANK;
}

/* A request that is done as soon as it is there. */
struct rp_ft_request *rp_ft_request_of_nobody(struct rp_ft_comm *comm, bool receives)
{
    struct rp_ft_request *request = rp_ft_request_new(receives ? RP_FT_RECEIVE : RP_FT_SEND, comm);

    request->peer = MPI_PROC_NULL;
    request->active = request->done = true;
    if (receives)
        rp_ft_status_set(&request->status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_SUCCESS, 0);
    return request;
}

static int start_send(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                      MPI_Comm handle, uint32_t flags, MPI_Request *out)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(handle);
    int error = rp_ft_check_arguments(comm, count, type, to, tag, false);

    if (error != MPI_SUCCESS)
        return rp_ft_error(comm, error);
    struct rp_ft_request *request = to == MPI_PROC_NULL ? rp_ft_request_of_nobody(comm, false)
                                                        : rp_ft_request_new(RP_FT_SEND, comm);
    request->active = true;
    request->send_flags = flags;
    rp_ft.active_requests++;
    if (to != MPI_PROC_NULL)
        rp_ft_send(comm, comm->context, to, tag, buffer, count, type, flags, request);
    *out = (MPI_Request)request;
    return MPI_SUCCESS;
}

static int start_receive(void *buffer, int count, MPI_Datatype type, int from, int tag,
                         MPI_Comm handle, MPI_Request *out)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(handle);
    int error = rp_ft_check_arguments(comm, count, type, from, tag, true);

    if (error != MPI_SUCCESS)
        return rp_ft_error(comm, error);
    rp_ft.active_requests++;
    *out = (MPI_Request)(from == MPI_PROC_NULL
                             ? rp_ft_request_of_nobody(comm, true)
                             : rp_ft_receive(comm, comm->context, from, tag, buffer, count, type));
    return MPI_SUCCESS;
}

static int send_and_wait(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, uint32_t flags)
{
    MPI_Request request;
    int error = start_send(buffer, count, type, to, tag, comm, flags, &request);

    return error == MPI_SUCCESS ? rp_ft_wait(&request, MPI_STATUS_IGNORE) : error;
}

int rp_ft_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    return send_and_wait(buffer, count, type, to, tag, comm, RP_FT_STABLE_BUFFER);
}

int rp_ft_Rsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    return send_and_wait(buffer, count, type, to, tag, comm, RP_FT_STABLE_BUFFER);
}

int rp_ft_Ssend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    return send_and_wait(buffer, count, type, to, tag, comm, RP_FT_SYNC);
}

/* The log is the buffer. */
int rp_ft_Bsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    MPI_Request request;
    int error = start_send(buffer, count, type, to, tag, comm, 0, &request);

    if (error == MPI_SUCCESS)
        rp_ft_request_complete(&request, MPI_STATUS_IGNORE);
    return error;
}

int rp_ft_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return start_send(buffer, count, type, to, tag, comm, RP_FT_STABLE_BUFFER, request);
}

int rp_ft_Irsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    return start_send(buffer, count, type, to, tag, comm, RP_FT_STABLE_BUFFER, request);
}

int rp_ft_Issend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    return start_send(buffer, count, type, to, tag, comm, RP_FT_SYNC, request);
}

int rp_ft_Ibsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    int error = start_send(buffer, count, type, to, tag, comm, 0, request);

    if (error == MPI_SUCCESS)
        ((struct rp_ft_request *)*request)->done = true;
    return error;
}

int rp_ft_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return start_receive(buffer, count, type, from, tag, comm, request);
}

int rp_ft_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
               MPI_Status *status)
{
    MPI_Request request;
    int error = start_receive(buffer, count, type, from, tag, comm, &request);

    return error == MPI_SUCCESS ? rp_ft_wait(&request, status) : error;
}

int rp_ft_Sendrecv(const void *sent, int sent_count, MPI_Datatype sent_type, int to, int sent_tag,
                   void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                   MPI_Status *status)
{
    MPI_Request in, out;
    int error = start_receive(buffer, count, type, from, tag, comm, &in);

    if (error == MPI_SUCCESS)
        error =
            start_send(sent, sent_count, sent_type, to, sent_tag, comm, RP_FT_STABLE_BUFFER, &out);
    if (error != MPI_SUCCESS)
        return error;
    rp_ft_wait(&out, MPI_STATUS_IGNORE);
    return rp_ft_wait(&in, status);
}

int rp_ft_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int to, int sent_tag,
                           int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request in, out;
    int error = start_send(buffer, count, type, to, sent_tag, comm, 0, &out);

    if (error == MPI_SUCCESS)
        error = start_receive(buffer, count, type, from, tag, comm, &in);
    if (error != MPI_SUCCESS)
        return error;
    rp_ft_wait(&out, MPI_STATUS_IGNORE);
    return rp_ft_wait(&in, status);
}

/* Persistent requests keep what they were made with. */

static int make_persistent(const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                           MPI_Comm handle, bool receives, uint32_t flags, MPI_Request *out)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(handle);
    int error = rp_ft_check_arguments(comm, count, type, peer, tag, receives);

    if (error != MPI_SUCCESS)
        return rp_ft_error(comm, error);
    struct rp_ft_request *request = rp_ft_request_new(receives ? RP_FT_RECEIVE : RP_FT_SEND, comm);
    rp_ft_request_make_persistent(request);
    request->buffer = (void *)buffer;
    request->count = count;
    request->type = rp_ft_type_keep(type, &request->owns_type);
    request->peer = peer;
    request->tag = tag;
    request->context = comm->context;
    request->send_flags = flags;
    *out = (MPI_Request)request;
    return MPI_SUCCESS;
}

int rp_ft_Send_init(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return make_persistent(buffer, count, type, to, tag, comm, false, RP_FT_STABLE_BUFFER, request);
}

int rp_ft_Rsend_init(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return make_persistent(buffer, count, type, to, tag, comm, false, RP_FT_STABLE_BUFFER, request);
}

int rp_ft_Bsend_init(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return make_persistent(buffer, count, type, to, tag, comm, false, 0, request);
}

int rp_ft_Ssend_init(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return make_persistent(buffer, count, type, to, tag, comm, false, RP_FT_SYNC, request);
}

int rp_ft_Recv_init(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                    MPI_Request *request)
{
    return make_persistent(buffer, count, type, from, tag, comm, true, 0, request);
}

int rp_ft_Start(MPI_Request *handle)
{
    struct rp_ft_request *request = (struct rp_ft_request *)*handle;

    if (*handle == MPI_REQUEST_NULL || !request->persistent || request->active)
        return rp_ft_error(rp_ft_comm_world(), MPI_ERR_REQUEST);
    request->active = true;
    request->done = request->peer == MPI_PROC_NULL;
    request->bound_rank = -1;
    request->wildcard = 0;
    rp_ft.active_requests++;
    rp_ft_status_empty(&request->status);
    if (request->peer == MPI_PROC_NULL && request->kind == RP_FT_RECEIVE)
        rp_ft_status_set(&request->status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_SUCCESS, 0);
    if (request->peer == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (request->kind == RP_FT_SEND) {
        rp_ft_send(request->comm, request->context, request->peer, request->tag, request->buffer,
                   request->count, request->type, request->send_flags, request);
        return MPI_SUCCESS;
    }
    if (request->peer == MPI_ANY_SOURCE)
        rp_ft_determinant_get(request);
    rp_ft_post(request);
    return MPI_SUCCESS;
}

int rp_ft_Startall(int count, MPI_Request *handles)
{
    for (int i = 0; i < count; i++)
        rp_ft_Start(&handles[i]);
    return MPI_SUCCESS;
}

/* The log buffers; what the program attaches is its own. */
static struct {
    void *buffer;
    int bytes;
} attached;

int rp_ft_Buffer_attach(void *buffer, int bytes)
{
    attached.buffer = buffer;
    attached.bytes = bytes;
    return MPI_SUCCESS;
}

int rp_ft_Buffer_detach(void *buffer, int *bytes)
{
    *(void **)buffer = attached.buffer;
    *bytes = attached.bytes;
    attached.buffer = NULL;
    attached.bytes = 0;
    return MPI_SUCCESS;
}
