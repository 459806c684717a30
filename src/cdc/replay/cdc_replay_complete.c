/* SPDX-License-Identifier: MIT */
/* Completion in a replay by clocks: the rows say which requests a call completed, and by which
 * messages. */
#include <stdlib.h>

#include "cdc/replay/cdc_replay_calls.h"
#include "engine/return_codes.h"
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

/* Gives its message to the request that the row names; `alone`: the call has only one. */
static int32_t give(const struct rp_call *call, const struct rp_answer *answer, int count,
                    MPI_Request *requests, bool alone)
{
    int32_t index;
    struct rp_pooled *message = rp_cdc_replay_hand_out(call, answer, &index);

    index = alone ? 0 : index;
    if (index < 0 || index >= count)
        rp_cdc_replay_diverge(call, "an index that is not in the array of requests");
    rp_cdc_replay_deliver(call, message, requests[index]);
    return index;
}

/* All receives of the array get their messages. */
static void give_all(const struct rp_call *call, int count, MPI_Request *requests, bool alone)
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
        give(call, &answer, count, requests, alone);
    }
}

int rp_cdc_replay_Wait(const struct rp_call *call, MPI_Request *request, MPI_Status *status)
{
    rp_cdc_replay_call_begins();
    if (request && *request != rp_constant.request_null)
        give_all(call, 1, request, true);
    int rc = request && *request != rp_constant.request_null
                 ? rp_cdc_replay_complete(call, request, status)
                 : call->next->Wait(request, status);
    rp_cdc_replay_call_ends();
    return rc;
}

/* Completes those that are to be, and tells errors as calls on several requests do. */
static int complete_all(const struct rp_call *call, int count, MPI_Request *requests,
                        MPI_Status *statuses)
{
    int worst = MPI_SUCCESS;

    for (int i = 0; i < count; i++) {
        MPI_Status own, *seen = statuses == MPI_STATUSES_IGNORE ? &own : &statuses[i];
        int rc = rp_cdc_replay_complete(call, &requests[i], seen);
        seen->MPI_ERROR = rc;
        worst = rc != MPI_SUCCESS ? MPI_ERR_IN_STATUS : worst;
    }
    return worst;
}

int rp_cdc_replay_Waitall(const struct rp_call *call, int count, MPI_Request *requests,
                          MPI_Status *statuses)
{
    if (count < 0 || (count > 0 && !requests))
        return call->next->Waitall(count, requests, statuses);
    rp_cdc_replay_call_begins();
    give_all(call, count, requests, false);
    int rc = complete_all(call, count, requests, statuses);
    rp_cdc_replay_call_ends();
    return rc;
}

/* The answer of a poll, or of a wait for one or some. False: no. */
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
static int32_t answered_index(const struct rp_call *call, const struct rp_answer *answer, int count,
                              MPI_Request *requests, bool alone)
{
    if (answer->kind == RP_ROW_MESSAGE)
        return give(call, answer, count, requests, alone);
    if (answer->other.kind != RP_YES && answer->other.kind != RP_NEXT)
        rp_cdc_replay_diverge(call, "a completion call");
    int32_t index = answer->other.yes.index;
    if (index >= count)
        rp_cdc_replay_diverge(call, "an index that is not in the array of requests");
    rp_cdc_replay_pass(call, -1);
    return index;
}

int rp_cdc_replay_Test(const struct rp_call *call, MPI_Request *request, int *flag,
                       MPI_Status *status)
{
    struct rp_answer answer;

    if (!request || *request == rp_constant.request_null)
        return call->next->Test(request, flag, status);
    rp_cdc_replay_call_begins();
    int rc = MPI_SUCCESS;
    *flag = is_yes(call, 1, request, &answer);
    if (*flag && is_error(&answer)) {
        rp_cdc_replay_pass(call, -1);
        rc = call->next->Test(request, flag, status);
    } else if (*flag) {
        answered_index(call, &answer, 1, request, true);
        rc = rp_cdc_replay_complete(call, request, status);
    }
    rp_cdc_replay_call_ends();
    return rc;
}

int rp_cdc_replay_Testall(const struct rp_call *call, int count, MPI_Request *requests, int *flag,
                          MPI_Status *statuses)
{
    struct rp_answer answer;

    if (rp_return_code_all_null(count, requests))
        return call->next->Testall(count, requests, flag, statuses);
    rp_cdc_replay_call_begins();
    int rc = MPI_SUCCESS;
    *flag = is_yes(call, count, requests, &answer);
    if (*flag && answer.kind == RP_ROW_OTHER)
        rp_cdc_replay_pass(call, -1);
    if (*flag) {
        give_all(call, count, requests, false);
        rc = complete_all(call, count, requests, statuses);
    }
    rp_cdc_replay_call_ends();
    return rc;
}

/* Waitany, and Testany that said yes. */
static int complete_any(const struct rp_call *call, const struct rp_answer *answer, int count,
                        MPI_Request *requests, int *index, MPI_Status *status)
{
    int32_t found = answered_index(call, answer, count, requests, false);

    int flag;

    *index = found;
    return found < 0 ? rp_pmpi.Testany(count, requests, index, &flag, status)
                     : rp_cdc_replay_complete(call, &requests[found], status); /* none is active */
}

int rp_cdc_replay_Waitany(const struct rp_call *call, int count, MPI_Request *requests, int *index,
                          MPI_Status *status)
{
    struct rp_answer answer;

    if (rp_return_code_all_null(count, requests))
        return call->next->Waitany(count, requests, index, status);
    rp_cdc_replay_call_begins();
    if (!is_yes(call, count, requests, &answer))
        rp_cdc_replay_diverge(call, "a wait");
    int rc = complete_any(call, &answer, count, requests, index, status);
    rp_cdc_replay_call_ends();
    return rc;
}

int rp_cdc_replay_Testany(const struct rp_call *call, int count, MPI_Request *requests, int *index,
                          int *flag, MPI_Status *status)
{
    struct rp_answer answer;
    int rc = MPI_SUCCESS;

    if (rp_return_code_all_null(count, requests))
        return call->next->Testany(count, requests, index, flag, status);
    rp_cdc_replay_call_begins();
    *flag = is_yes(call, count, requests, &answer);
    *index = MPI_UNDEFINED;
    if (*flag)
        rc = complete_any(call, &answer, count, requests, index, status);
    rp_cdc_replay_call_ends();
    return rc;
}

/* Waitsome, and Testsome that said yes. */
static int complete_some(const struct rp_call *call, struct rp_answer *answer, int count,
                         MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    int worst = MPI_SUCCESS, done = 0;

    if (answer->kind == RP_ROW_OTHER && answer->other.yes.index < 0) {
        rp_cdc_replay_pass(call, -1);
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    for (bool more = true; more && done < count; done++) {
        more = answer->with_next;
        indices[done] = answered_index(call, answer, count, requests, false);
        if (more)
            *answer = rp_cdc_replay_next(call);
    }
    for (int i = 0; i < done; i++) {
        MPI_Status own, *seen = statuses == MPI_STATUSES_IGNORE ? &own : &statuses[i];
        int rc = rp_cdc_replay_complete(call, &requests[indices[i]], seen);
        seen->MPI_ERROR = rc;
        worst = rc != MPI_SUCCESS ? MPI_ERR_IN_STATUS : worst;
    }
    *outcount = done;
    return worst;
}

int rp_cdc_replay_Waitsome(const struct rp_call *call, int count, MPI_Request *requests,
                           int *outcount, int *indices, MPI_Status *statuses)
{
    struct rp_answer answer;

    if (rp_return_code_all_null(count, requests))
        return call->next->Waitsome(count, requests, outcount, indices, statuses);
    rp_cdc_replay_call_begins();
    if (!is_yes(call, count, requests, &answer))
        rp_cdc_replay_diverge(call, "a wait");
    int rc = complete_some(call, &answer, count, requests, outcount, indices, statuses);
    rp_cdc_replay_call_ends();
    return rc;
}

int rp_cdc_replay_Testsome(const struct rp_call *call, int count, MPI_Request *requests,
                           int *outcount, int *indices, MPI_Status *statuses)
{
    struct rp_answer answer;
    int rc = MPI_SUCCESS;

    if (rp_return_code_all_null(count, requests))
        return call->next->Testsome(count, requests, outcount, indices, statuses);
    rp_cdc_replay_call_begins();
    *outcount = 0;
    if (is_yes(call, count, requests, &answer))
        rc = complete_some(call, &answer, count, requests, outcount, indices, statuses);
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
