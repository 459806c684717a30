/* SPDX-License-Identifier: MIT */
/* Completion in a replay by clocks: the rows say which requests a call completed, and by which
 * messages. */
#include <stdlib.h>

#include "cdc/replay/cdc_replay_calls.h"
#include "engine/return_codes.h"
#include "preload/completion_call.h"
#include "preload/constants.h"

/* A receive whose cancel won in the record, if the next row says so: it is cancelled now. */
static bool take_cancelled(const struct rp_call *call, const struct rp_answer *answer, int count,
                           MPI_Request *requests)
{
    if (answer->kind != RP_ROW_OTHER || answer->other.kind != RP_CANCELLED)
        return false;
    for (int i = 0; i < count; i++) {
        struct rp_request *entry = rp_cdc_replay_receipt(requests[i])
                                       ? rp_requests_find(&rp_state.requests, requests[i])
                                       : NULL;
        if (!entry || entry->post != answer->other.match.post)
            continue;
        rp_pmpi.Cancel(&requests[i]);
        ((struct rp_receipt *)entry->note)->is_given = false;
        entry->flags |= RP_REQUEST_GHOST; /* needs no message any more */
        rp_cdc_replay_pass(call, -1);
        return true;
    }
    rp_cdc_replay_diverge(call, "another request was cancelled");
}

static bool needs_message(MPI_Request request)
{
    struct rp_receipt *receipt = rp_cdc_replay_receipt(request);

    return receipt && !receipt->is_given &&
           !(rp_requests_find(&rp_state.requests, request)->flags & RP_REQUEST_GHOST);
}

/* Gives its message to the request that the row names; `is_only`: the call has no other. */
static int32_t give(const struct rp_call *call, const struct rp_answer *answer, int count,
                    MPI_Request *requests, bool is_only)
{
    int32_t index;
    struct rp_pooled *message = rp_cdc_replay_hand_out(call, answer, &index);

    index = is_only ? 0 : index;
    if (index < 0 || index >= count)
        rp_cdc_replay_diverge(call, "an index that is not in the array of requests");
    rp_cdc_replay_deliver(call, message, requests[index]);
    return index;
}

/* All receives of the array get their messages. */
static void give_all(const struct rp_call *call, int count, MPI_Request *requests, bool is_only)
{
    int left = 0;

    for (int i = 0; i < count; i++)
        left += needs_message(requests[i]);
    while (left > 0) {
        struct rp_answer answer = rp_cdc_replay_next(call);
        left--;
        if (take_cancelled(call, &answer, count, requests))
            continue;
        if (answer.kind != RP_ROW_MESSAGE)
            rp_cdc_replay_diverge(call, "a wait for receives");
        give(call, &answer, count, requests, is_only);
    }
}

/* Completes requests that are certain to complete, all of the call or those with these indices,
 * and reports errors as calls on several requests do. */
static int complete_each(const struct rp_call *call, const struct rp_completion *c, int count,
                         const int *indices)
{
    int worst = MPI_SUCCESS;

    for (int i = 0; i < count; i++) {
        MPI_Status own, *seen = c->statuses == MPI_STATUSES_IGNORE ? &own : &c->statuses[i];
        int rc = rp_cdc_replay_complete_request(call, &c->requests[indices ? indices[i] : i], seen);
        seen->MPI_ERROR = rc;
        worst = rc != MPI_SUCCESS ? MPI_ERR_IN_STATUS : worst;
    }
    return worst;
}

/* MPI_Wait and MPI_Waitall. */
static int wait_for_all(const struct rp_call *call, const struct rp_completion *c)
{
    bool is_only = c->form == RP_COMPLETE_ONE;

    give_all(call, c->count, c->requests, is_only);
    return is_only ? rp_cdc_replay_complete_request(call, c->requests, c->statuses)
                   : complete_each(call, c, c->count, NULL);
}

/* Whether the row that is next for a call is no 'no'. */
static bool is_yes(const struct rp_call *call, int count, MPI_Request *requests,
                   struct rp_answer *answer)
{
    do
        *answer = rp_cdc_replay_next(call);
    while (take_cancelled(call, answer, count, requests));
    if (answer->kind != RP_ROW_UNMATCHED)
        return true;
    rp_cdc_replay_pass_no(call);
    return false;
}

static bool is_error(const struct rp_answer *answer)
{
    return answer->kind == RP_ROW_OTHER && answer->other.kind == RP_ERROR;
}

/* What a row of a completion call says: the index of a request, which can be completed now. -1: the
 * call has none. */
static int32_t answered_index(const struct rp_call *call, const struct rp_answer *answer,
                              const struct rp_completion *c)
{
    if (answer->kind == RP_ROW_MESSAGE)
        return give(call, answer, c->count, c->requests, c->form == RP_COMPLETE_ONE);
    if (answer->other.kind != RP_YES && answer->other.kind != RP_NEXT)
        rp_cdc_replay_diverge(call, "a completion call");
    int32_t index = answer->other.yes.index;
    if (index >= c->count)
        rp_cdc_replay_diverge(call, "an index that is not in the array of requests");
    rp_cdc_replay_pass(call, -1);
    return index;
}

static int test_one(const struct rp_call *call, struct rp_answer *answer,
                    const struct rp_completion *c)
{
    if (is_error(answer)) {
        rp_cdc_replay_pass(call, -1);
        return rp_completion_call(call->next, c);
    }
    answered_index(call, answer, c);
    return rp_cdc_replay_complete_request(call, c->requests, c->statuses);
}

static int test_all(const struct rp_call *call, struct rp_answer *answer,
                    const struct rp_completion *c)
{
    if (answer->kind == RP_ROW_OTHER)
        rp_cdc_replay_pass(call, -1);
    return wait_for_all(call, c);
}

static int complete_any(const struct rp_call *call, struct rp_answer *answer,
                        const struct rp_completion *c)
{
    int flag;

    *c->index = answered_index(call, answer, c);
    if (*c->index >= 0)
        return rp_cdc_replay_complete_request(call, &c->requests[*c->index], c->statuses);
    return rp_pmpi.Testany(c->count, c->requests, c->index, &flag,
                           c->statuses); /* none is active */
}

static int complete_some(const struct rp_call *call, struct rp_answer *answer,
                         const struct rp_completion *c)
{
    int done = 0;

    if (answer->kind == RP_ROW_OTHER && answer->other.yes.index < 0) {
        rp_cdc_replay_pass(call, -1);
        *c->outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    for (bool more = true; more && done < c->count; done++) {
        more = answer->with_next;
        c->indices[done] = answered_index(call, answer, c);
        if (more)
            *answer = rp_cdc_replay_next(call);
    }
    *c->outcount = done;
    return complete_each(call, c, done, c->indices);
}

/* A test, or a wait for one or some: the next row is its answer. */
static int answer(const struct rp_call *call, const struct rp_completion *c)
{
    static int (*const yes[])(const struct rp_call *, struct rp_answer *,
                              const struct rp_completion *) = {
        [RP_COMPLETE_ONE] = test_one,
        [RP_COMPLETE_ALL] = test_all,
        [RP_COMPLETE_ANY] = complete_any,
        [RP_COMPLETE_SOME] = complete_some,
    };
    struct rp_answer row;

    if (!is_yes(call, c->count, c->requests, &row)) {
        if (!c->tests)
            rp_cdc_replay_diverge(call, "a wait");
        rp_completion_put_no(c);
        return MPI_SUCCESS;
    }
    if (c->flag)
        *c->flag = 1;
    return yes[c->form](call, &row, c);
}

/* Returns whether the arguments leave nothing to deliver: then the real call is made. */
static bool is_decided(const struct rp_completion *c)
{
    bool is_wrong = c->count < 0 || (c->count > 0 && !c->requests);

    if (c->form == RP_COMPLETE_ALL && !c->tests)
        return is_wrong;
    return rp_return_code_all_null(c->count, c->requests) ||
           (c->form == RP_COMPLETE_ONE && is_wrong);
}

int rp_cdc_replay_complete(const struct rp_call *call, const struct rp_completion *c)
{
    rp_cdc_replay_call_begins();
    int rc = is_decided(c)                    ? rp_completion_call(call->next, c)
             : rp_completion_waits_for_all(c) ? wait_for_all(call, c)
                                              : answer(call, c);
    rp_cdc_replay_call_ends();
    return rc;
}

int rp_cdc_replay_Request_get_status(const struct rp_call *call, MPI_Request request, int *flag,
                                     MPI_Status *status)
{
    struct rp_answer answer;
    int rc = MPI_SUCCESS;

    if (rp_cdc_replay_receipt(request))
        rp_cdc_replay_refuse("MPI_Request_get_status of a receive");
    rp_cdc_replay_call_begins();
    *flag = is_yes(call, 0, NULL, &answer);
    if (*flag) {
        rp_cdc_replay_pass(call, -1);
        *flag = 0;
        while ((rc = call->next->Request_get_status(request, flag, status)) == MPI_SUCCESS &&
               !*flag)
            rp_cdc_replay_rest(call->function, "a request of its own");
        rp_cdc_replay_rested();
    }
    rp_cdc_replay_call_ends();
    return rc;
}

int rp_cdc_replay_Parrived(const struct rp_call *call, MPI_Request request, int partition,
                           int *flag)
{
    (void)call, (void)request, (void)partition, (void)flag;
    rp_cdc_replay_refuse("MPI_Parrived");
}

int rp_cdc_replay_Cancel(const struct rp_call *call, MPI_Request *request)
{
    struct rp_request *entry = request && rp_cdc_replay_receipt(*request)
                                   ? rp_requests_find(&rp_state.requests, *request)
                                   : NULL;

    if (!entry)
        rp_cdc_replay_refuse("MPI_Cancel of a send");
    (void)call;
    entry->flags |= RP_REQUEST_CANCELLING; /* whether it wins is in the record */
    return MPI_SUCCESS;
}

int rp_cdc_replay_Request_free(const struct rp_call *call, MPI_Request *request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, *request);

    if (entry && entry->flags & RP_REQUEST_RECEIVE)
        rp_cdc_replay_refuse("MPI_Request_free of a receive that is under way");
    rp_cdc_replay_call_begins();
    if (entry && entry->flags & RP_REQUEST_PERSISTENT) {
        rp_state.persistent--;
        free(entry->note);
        entry->flags = 0;
    }
    int rc = call->next->Request_free(request);
    rp_cdc_replay_call_ends();
    return rc;
}
