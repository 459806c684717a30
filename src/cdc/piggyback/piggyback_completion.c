/* SPDX-License-Identifier: MIT */
/*
 * Completion: MPI_Wait, MPI_Test and their families, which are matching functions. MPI sets handles
 * to null when it completes them, so the messages of a call's requests are looked up before. What
 * the call completed is then delivered, counts are put right, and stamps are kept in the order in
 * which the call returns them. Where the program wants no statuses, the call gets some of ours:
 * without them nothing can be delivered.
 */
#include <stdlib.h>

#include "base/diagnostics.h"
#include "cdc/piggyback/piggyback_message.h"
#include "cdc/piggyback/piggyback_entries.h"
#include "cdc/piggyback/piggyback_pending.h"
#include "preload/constants.h"

enum { FEW = 32 };

/* The messages of one call. Nothing of it is shared: callbacks inside may make calls themselves. */
struct pending_call {
    bool any;                               /* one of the requests stands for a message */
    struct rp_piggyback_message **messages; /* by request; NULL: the request stands for none */
    MPI_Status *statuses;                   /* that the real call gets */
    struct rp_piggyback_message *few[FEW];
    MPI_Status few_statuses[FEW];
    void *room; /* for more than FEW */
};

static void make_room(struct pending_call *call, size_t count, bool needs_statuses)
{
    size_t messages = count * sizeof *call->messages,
           statuses = needs_statuses ? count * sizeof *call->statuses : 0;

    call->messages = call->few;
    if (needs_statuses)
        call->statuses = call->few_statuses;
    if (count <= FEW)
        return;
    call->room = malloc(messages + statuses);
    if (!call->room)
        rp_bug(__FILE__, __LINE__, "out of memory for a request array");
    if (needs_statuses)
        call->statuses = call->room;
    call->messages = (struct rp_piggyback_message **)((char *)call->room + statuses);
}

static void begin(struct pending_call *call, const struct rp_completion *c)
{
    rp_stamps_clear();
    rp_pending_poll_freed();
    call->any = false;
    call->room = NULL;
    call->statuses = c->statuses;
    if (rp_messages_pending > 0 && c->count > 0 && c->requests) {
        make_room(call, (size_t)c->count, rp_completion_ignores(c));
        for (int i = 0; i < c->count; i++)
            call->any |= (call->messages[i] = rp_pending_find(c->requests[i])) != NULL;
    }
}

static void returned(void)
{
    rp_pending_poll_freed();
    rp_stamps_clear(); /* of calls that callbacks made meanwhile */
}

/* The message's request was completed; or it failed, and is still there. */
static void complete_message(struct rp_piggyback_message *message, MPI_Request request,
                             MPI_Status *status, int index, bool failed)
{
    bool gone = message->persistent || request == rp_constant.request_null;

    if (!message->active || (failed && !gone))
        return;
    if (message->receives) {
        rp_piggyback_deliver(message, status, failed);
        if (message->stamp != RP_NO_STAMP)
            rp_stamps_add(index, message->stamp);
    }
    message->active = false;
    if (!message->persistent)
        rp_pending_remove(message);
}

static void complete_index(struct pending_call *call, const struct rp_completion *c, int i,
                           MPI_Status *status, bool failed)
{
    if (call->messages[i])
        complete_message(call->messages[i], c->requests[i], status,
                         c->form == RP_COMPLETE_ONE ? -1 : i, failed);
}

static void complete_all(struct pending_call *call, const struct rp_completion *c, int rc,
                         bool in_status)
{
    if (rc != MPI_SUCCESS && !in_status)
        return;
    for (int i = 0; i < c->count; i++) {
        int error = in_status ? call->statuses[i].MPI_ERROR : MPI_SUCCESS;
        if (error == MPI_SUCCESS || rp_piggyback_error_class(error) != MPI_ERR_PENDING)
            complete_index(call, c, i, &call->statuses[i], error != MPI_SUCCESS);
    }
}

static void complete_any(struct pending_call *call, const struct rp_completion *c, int rc)
{
    if (c->index && *c->index != MPI_UNDEFINED && *c->index >= 0 && *c->index < c->count)
        complete_index(call, c, *c->index, call->statuses, rc != MPI_SUCCESS);
}

static void complete_some(struct pending_call *call, const struct rp_completion *c, int rc,
                          bool in_status)
{
    int done = (rc == MPI_SUCCESS || in_status) && *c->outcount != MPI_UNDEFINED ? *c->outcount : 0;

    for (int i = 0; i < done; i++)
        complete_index(call, c, c->indices[i], &call->statuses[i],
                       in_status && call->statuses[i].MPI_ERROR != MPI_SUCCESS);
}

static void complete(struct pending_call *call, const struct rp_completion *c, int rc)
{
    bool in_status = rc != MPI_SUCCESS && rp_piggyback_error_class(rc) == MPI_ERR_IN_STATUS;

    switch (c->form) {
    case RP_COMPLETE_ONE:
        complete_index(call, c, 0, call->statuses, rc != MPI_SUCCESS);
        break;
    case RP_COMPLETE_ALL:
        complete_all(call, c, rc, in_status);
        break;
    case RP_COMPLETE_ANY:
        complete_any(call, c, rc);
        break;
    default:
        complete_some(call, c, rc, in_status);
    }
}

int rp_piggyback_complete(const struct rp_next *next, const struct rp_completion *asked)
{
    struct rp_completion c = *asked;
    struct pending_call call;
    int rc;

    begin(&call, &c);
    c.statuses = call.statuses;
    if (c.index)
        *c.index = MPI_UNDEFINED;
    RP_INSIDE(rc, rp_completion_call(next, &c));
    returned();
    if (call.any && (!c.flag || rc != MPI_SUCCESS || *c.flag))
        complete(&call, &c, rc);
    free(call.room);
    return rc;
}

/* The request stays. A receive that is complete has its payload in the program's buffer, but is not
 * delivered to the program yet. */
int rp_piggyback_request_get_status(int (*real)(MPI_Request, int *, MPI_Status *),
                                    MPI_Request request, int *flag, MPI_Status *status)
{
    struct rp_piggyback_message *message = rp_pending_find(request);
    MPI_Status own, *seen = message && status == MPI_STATUS_IGNORE ? &own : status;

    int rc;
    RP_INSIDE(rc, real(request, flag, seen));
    if (message && message->active && message->receives && rc == MPI_SUCCESS && *flag)
        rp_piggyback_deliver(message, seen, seen->MPI_ERROR != MPI_SUCCESS);
    return rc;
}

int rp_piggyback_request_free(int (*real)(MPI_Request *), MPI_Request *request)
{
    struct rp_piggyback_message *message = request ? rp_pending_find(*request) : NULL;

    if (!message)
        return real(request);
    if (message->active) {
        rp_pending_keep_freed(message);
        *request = rp_constant.request_null;
        return MPI_SUCCESS;
    }
    rp_pending_remove(message);
    return real(request);
}
