/* SPDX-License-Identifier: MIT */
/*
 * Probes, and receives of what a matched probe found. Which message a probe finds is a determinant:
 * its number and its sender as one integer.
 */
#include "ft/ft_comms.h"
#include "ft/ft_completion.h"
#include "ft/ft_determinants.h"
#include "ft/ft_match.h"
#include "ft/ft_progress.h"
#include "ft/ft_pt2pt_calls.h"
#include "ft/ft_state.h"
#include "ft/ft_types.h"

static int64_t name_of(const struct rp_ft_envelope *envelope)
{
    return (int64_t)envelope->seq * rp_ft.ranks + envelope->from;
}

static struct rp_ft_message *find_replayed(int32_t context, int64_t name)
{
    for (;;) {
        for (struct rp_ft_message *message = rp_ft_context(context)->unexpected; message;
             message = message->next)
            if (name_of(&message->envelope) == name)
                return message;
        rp_ft_pause();
    }
}

static struct rp_ft_message *probe(struct rp_ft_comm *comm, int from, int tag, bool waits)
{
    struct rp_ft_message *message = NULL;
    int64_t name;

    if (!waits && rp_ft_outcome_is_no())
        return NULL;
    if (rp_ft_outcome_next(&name))
        return find_replayed(comm->context, name);
    rp_ft_progress();
    message = rp_ft_find(comm->context, from, tag);
    if (waits)
        RP_FT_WAIT_UNTIL((message = rp_ft_find(comm->context, from, tag)) != NULL);
    if (!message) {
        rp_ft_outcome_no();
        return NULL;
    }
    rp_ft_outcome_put(name_of(&message->envelope));
    return message;
}

static int find(int from, int tag, MPI_Comm handle, bool waits, int *flag,
                struct rp_ft_message **out, MPI_Status *status)
{
    struct rp_ft_comm *comm = rp_ft_comm_of(handle);
    int error = rp_ft_check_arguments(comm, 0, MPI_BYTE, from, tag, true);

    *out = NULL;
    if (error != MPI_SUCCESS)
        return rp_ft_error(comm, error);
    if (from == MPI_PROC_NULL) {
        *flag = 1;
        rp_ft_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_SUCCESS, 0);
        return MPI_SUCCESS;
    }
    *out = probe(comm, from, tag, waits);
    *flag = *out != NULL;
    if (*out)
        rp_ft_status_set(status, (*out)->envelope.source, (*out)->envelope.tag, MPI_SUCCESS,
                         (*out)->envelope.bytes);
    return MPI_SUCCESS;
}

int rp_ft_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct rp_ft_message *message;
    int flag;

    return find(from, tag, comm, true, &flag, &message, status);
}

int rp_ft_Iprobe(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct rp_ft_message *message;

    return find(from, tag, comm, false, flag, &message, status);
}

static void give_message(struct rp_ft_message *message, MPI_Message *out)
{
    *out = message ? (MPI_Message)message : MPI_MESSAGE_NO_PROC;
    if (message)
        rp_ft_message_take_out(message);
}

int rp_ft_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message *out, MPI_Status *status)
{
    struct rp_ft_message *message;
    int flag, error = find(from, tag, comm, true, &flag, &message, status);

    if (error == MPI_SUCCESS)
        give_message(message, out);
    return error;
}

int rp_ft_Improbe(int from, int tag, MPI_Comm comm, int *flag, MPI_Message *out, MPI_Status *status)
{
    struct rp_ft_message *message;
    int error = find(from, tag, comm, false, flag, &message, status);

    if (error == MPI_SUCCESS && *flag)
        give_message(message, out);
    return error;
}

int rp_ft_Imrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *handle, MPI_Request *out)
{
    struct rp_ft_message *message = (struct rp_ft_message *)*handle;
    struct rp_ft_comm *world = rp_ft_comm_world();

    rp_ft.active_requests++;
    if (*handle == MPI_MESSAGE_NO_PROC) {
        *out = (MPI_Request)rp_ft_request_of_nobody(world, true);
    } else {
        struct rp_ft_request *request = rp_ft_request_new(RP_FT_RECEIVE, world);
        request->buffer = buffer;
        request->count = count;
        request->type = rp_ft_type_keep(type, &request->owns_type);
        request->active = true;
        *out = (MPI_Request)request;
        rp_ft_message_receive_taken_out(message, request);
    }
    *handle = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

int rp_ft_Mrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *handle, MPI_Status *status)
{
    MPI_Request request;

    rp_ft_Imrecv(buffer, count, type, handle, &request);
    return rp_ft_wait(&request, status);
}
