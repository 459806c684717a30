/* SPDX-License-Identifier: MIT */
/*
 * One collective call. Its messages are logged, repeated and recovered like any other, and a rank
 * that recovers computes what it did before, bit by bit. Every call on a communicator has a number,
 * which is its tag; its parts distinguish directions of neighbours. Blocking and nonblocking calls
 * share their code: the latter runs in a coroutine.
 */
#include "ft/ft_collective.h"

#include <stdlib.h>

#include "ft/ft_abort.h"
#include "ft/ft_coroutines.h"
#include "ft/ft_pt2pt.h"
#include "ft/ft_state.h"
#include "ft/ft_types.h"

enum { CALLS = 1 << 22 };

/* Calls in the background that have an operation. */
static struct {
    struct rp_ft_collective *reducing;
} background;

void rp_ft_collective_send_part(struct rp_ft_collective *call, int part, int to, const void *buffer,
                                int count, MPI_Datatype type)
{
    struct rp_ft_request *request = NULL;

    if (rp_ft_size(count, type) > RP_FT_INLINE && rp_ft_world_rank(call->comm, to) != rp_ft.rank) {
        request = rp_ft_request_new(RP_FT_SEND, call->comm);
        request->active = true;
        request->next_pending = call->sends;
        call->sends = request;
    }
    rp_ft_send(call->comm, call->comm->context + 1, to, call->tag + part, buffer, count, type, 0,
               request);
}

void rp_ft_collective_send(struct rp_ft_collective *call, int to, const void *buffer, int count,
                           MPI_Datatype type)
{
    rp_ft_collective_send_part(call, 0, to, buffer, count, type);
}

struct rp_ft_request *rp_ft_collective_post(struct rp_ft_collective *call, int part, int from,
                                            void *buffer, int count, MPI_Datatype type)
{
    return rp_ft_receive(call->comm, call->comm->context + 1, from, call->tag + part, buffer, count,
                         type);
}

int rp_ft_collective_receive(struct rp_ft_collective *call, int from, void *buffer, int count,
                             MPI_Datatype type)
{
    return rp_ft_finish(rp_ft_collective_post(call, 0, from, buffer, count, type));
}

static void finish_sends(struct rp_ft_collective *call)
{
    while (call->sends) {
        struct rp_ft_request *request = call->sends;
        call->sends = request->next_pending;
        rp_ft_finish(request);
    }
}

void rp_ft_collective_number(struct rp_ft_collective *call)
{
    call->tag = (int)(call->comm->collectives++ % CALLS) * RP_FT_COLLECTIVE_PARTS;
}

int rp_ft_collective_run(struct rp_ft_collective call)
{
    rp_ft_collective_number(&call);
    int error = call.run(&call);
    finish_sends(&call);
    return error == MPI_SUCCESS ? error : rp_ft_error(call.comm, error);
}

/* MPI has no copies of operations: one that is freed while it is used goes with the last that uses
 * it. */
int rp_ft_Op_free(MPI_Op *op)
{
    bool is_used = false;

    for (struct rp_ft_collective *call = background.reducing; call; call = call->next)
        if (call->op == *op)
            is_used = call->frees_op = true;
    if (!is_used)
        return rp_real.Op_free(op);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

static void reduced(struct rp_ft_collective *done)
{
    struct rp_ft_collective **link = &background.reducing;
    bool is_used = false;

    while (*link && *link != done)
        link = &(*link)->next;
    if (*link)
        *link = done->next;
    for (const struct rp_ft_collective *call = background.reducing; call; call = call->next)
        is_used |= call->op == done->op;
    if (done->frees_op && !is_used)
        rp_real.Op_free(&done->op);
}

static void in_background(void *data)
{
    struct rp_ft_collective *call = data;

    call->request->status.MPI_ERROR = call->run(call);
    finish_sends(call);
    call->request->done = true;
    if (call->op)
        reduced(call);
    if (call->owns_in)
        rp_real.Type_free(&call->in_type);
    if (call->owns_out)
        rp_real.Type_free(&call->out_type);
    free(call);
}

/* Arguments that only the root's call means, or that MPI_IN_PLACE stands for, may be anything. */
static bool means_in(const struct rp_ft_collective *call)
{
    return call->in != MPI_IN_PLACE && (!call->in_at_root || call->comm->rank == call->root);
}

static bool means_out(const struct rp_ft_collective *call)
{
    return call->out != MPI_IN_PLACE && (!call->out_at_root || call->comm->rank == call->root);
}

int rp_ft_collective_start(struct rp_ft_collective call, MPI_Request *request)
{
    struct rp_ft_collective *copy = rp_ft_alloc(sizeof *copy);

    rp_ft_collective_number(&call);
    *copy = call;
    if (call.in_type && means_in(&call))
        copy->in_type = rp_ft_type_keep(call.in_type, &copy->owns_in);
    if (call.out_type && means_out(&call))
        copy->out_type = rp_ft_type_keep(call.out_type, &copy->owns_out);
    if (call.op) {
        copy->next = background.reducing;
        background.reducing = copy;
    }
    copy->request = rp_ft_request_new(RP_FT_COLLECTIVE, call.comm);
    copy->request->active = true;
    rp_ft.active_requests++;
    *request = (MPI_Request)copy->request;
    rp_ft_coroutine_start(in_background, copy);
    return MPI_SUCCESS;
}
