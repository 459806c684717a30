/* SPDX-License-Identifier: MIT */
/*
 * Completion. What calls of completion answer is left open by MPI: each answer is a determinant
 * (ft_determinants.h), so that a rank that recovers gets the same ones.
 */
#include "ft/ft_completion.h"

#include "ft/ft_abort.h"
#include "ft/ft_comms.h"
#include "ft/ft_determinants.h"
#include "ft/ft_general.h"
#include "ft/ft_log.h"
#include "ft/ft_match.h"
#include "ft/ft_progress.h"
#include "ft/ft_request.h"
#include "ft/ft_state.h"
#include "ft/ft_types.h"
#include "reprise.h"

/* Errors go to the handler of the communicator of the last request that had one. */
static struct {
    const struct rp_ft_comm *failed_on;
} completion;

static struct rp_ft_request *of(MPI_Request handle)
{
    return (struct rp_ft_request *)handle;
}

int rp_ft_request_complete(MPI_Request *handle, MPI_Status *status)
{
    struct rp_ft_request *request = of(*handle);
    int error;

    if (*handle == MPI_REQUEST_NULL || !request->active) {
        rp_ft_status_empty(status);
        return MPI_SUCCESS;
    }
    if (request->entry)
        request->entry->request = NULL;
    request->entry = NULL;
    if (request->kind == RP_FT_GENERAL)
        rp_ft_general_end(request);
    error = request->status.MPI_ERROR;
    if (error != MPI_SUCCESS)
        completion.failed_on = request->comm;
    if (status != MPI_STATUS_IGNORE) {
        int before = status->MPI_ERROR;
        *status = request->status;
        status->MPI_ERROR = before;
    }
    if (request->kind == RP_FT_COLLECTIVE)
        rp_ft_context_is_used(request->context); /* of MPI_Comm_idup; 0: of none */
    request->active = false;
    rp_ft.active_requests--;
    if (!request->persistent) {
        rp_ft_request_free(request);
        *handle = MPI_REQUEST_NULL;
    }
    return error;
}

static bool is_live(MPI_Request handle)
{
    return handle != MPI_REQUEST_NULL && of(handle)->active;
}

static bool is_done(MPI_Request handle)
{
    return !is_live(handle) || rp_ft_request_done(of(handle));
}

static int report(int error)
{
    return error == MPI_SUCCESS ? error : rp_ft_error_of(completion.failed_on, error);
}

int rp_ft_wait(MPI_Request *handle, MPI_Status *status)
{
    RP_FT_WAIT_UNTIL(is_done(*handle));
    return report(rp_ft_request_complete(handle, status));
}

/* These requests end for the program; `indices` NULL: all. Each status has its error. */
static int complete_list(const struct rp_completion *c, int number, const int *indices)
{
    bool failed = false;

    for (int i = 0; i < number; i++) {
        MPI_Status *status = rp_completion_ignores(c) ? MPI_STATUS_IGNORE : &c->statuses[i];
        int error = rp_ft_request_complete(&c->requests[indices ? indices[i] : i], status);
        if (status != MPI_STATUS_IGNORE)
            status->MPI_ERROR = error;
        failed |= error != MPI_SUCCESS;
    }
    return failed ? report(MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

static bool any_live(int count, const MPI_Request *handles)
{
    for (int i = 0; i < count; i++)
        if (is_live(handles[i]))
            return true;
    return false;
}

static void wait_for_all(int count, const MPI_Request *handles)
{
    for (int i = 0; i < count; i++)
        RP_FT_WAIT_UNTIL(is_done(handles[i]));
}

/* What a call answered before the failure holds again. */
static void wait_again(bool tests, MPI_Request handle)
{
    if (tests && is_live(handle))
        rp_ft_general_must_be_done(of(handle));
    RP_FT_WAIT_UNTIL(is_done(handle));
}

static bool all_are_done(int count, const MPI_Request *handles)
{
    for (int i = 0; i < count; i++)
        if (!is_done(handles[i]))
            return false;
    return true;
}

/* Whether a test finds all of them done: a determinant. */
static bool test_all(int count, const MPI_Request *handles)
{
    int64_t replayed;

    if (rp_ft_outcome_is_no())
        return false;
    if (rp_ft_outcome_next(&replayed)) {
        for (int i = 0; i < count; i++)
            wait_again(true, handles[i]);
        return true;
    }
    rp_ft_progress();
    if (all_are_done(count, handles)) {
        rp_ft_outcome_put(1);
        return true;
    }
    rp_ft_outcome_no();
    return false;
}

static int complete_all(const struct rp_completion *c)
{
    if (!c->tests)
        wait_for_all(c->count, c->requests);
    else
        *c->flag = !any_live(c->count, c->requests) || test_all(c->count, c->requests);
    if (c->tests && !*c->flag)
        return MPI_SUCCESS;
    return c->form == RP_COMPLETE_ONE ? report(rp_ft_request_complete(c->requests, c->statuses))
                                      : complete_list(c, c->count, NULL);
}

/* Which requests were completed before the failure: of MPI_Waitsome and MPI_Testsome, how many goes
 * before which. Returns 0 if it is not known. */
static int choose_again(const struct rp_completion *c, int *indices)
{
    int64_t answer, index;
    int number = 0;

    if (!rp_ft_outcome_next(&answer))
        return 0;
    if (c->form == RP_COMPLETE_ANY)
        indices[number++] = (int)answer;
    else
        while (number < answer && rp_ft_outcome_next(&index))
            indices[number++] = (int)index;
    for (int i = 0; i < number; i++)
        wait_again(c->tests, c->requests[indices[i]]);
    return number;
}

static int list_done(const struct rp_completion *c, int *indices)
{
    int most = c->form == RP_COMPLETE_ANY ? 1 : c->count, number = 0;

    for (int i = 0; i < c->count && number < most; i++)
        if (is_live(c->requests[i]) && rp_ft_request_done(of(c->requests[i])))
            indices[number++] = i;
    return number;
}

static int choose_now(const struct rp_completion *c, int *indices)
{
    int number = 0;

    if (c->tests)
        rp_ft_progress();
    while ((number = list_done(c, indices)) == 0 && !c->tests)
        rp_ft_pause();
    if (number == 0)
        rp_ft_outcome_no();
    else if (c->form == RP_COMPLETE_ANY)
        rp_ft_outcome_put(indices[0]);
    else
        rp_ft_outcome_put_list(number, indices);
    return number;
}

/* Which requests the call completes: a determinant. Returns how many; 0: a test says no. */
static int choose(const struct rp_completion *c, int *indices)
{
    if (c->tests && rp_ft_outcome_is_no())
        return 0;
    int number = choose_again(c, indices);
    return number > 0 ? number : choose_now(c, indices);
}

static int complete_any(const struct rp_completion *c)
{
    bool is_live = any_live(c->count, c->requests);
    int index = MPI_UNDEFINED, number = is_live ? choose(c, &index) : 0;

    *c->index = index;
    if (c->flag)
        *c->flag = number > 0 || !is_live;
    if (number > 0)
        return report(rp_ft_request_complete(&c->requests[index], c->statuses));
    if (!is_live)
        rp_ft_status_empty(c->statuses);
    return MPI_SUCCESS;
}

static int complete_some(const struct rp_completion *c)
{
    if (!any_live(c->count, c->requests)) {
        *c->outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    int number = choose(c, c->indices), error = complete_list(c, number, c->indices);
    *c->outcount = number;
    return error;
}

int rp_ft_complete(const struct rp_completion *c)
{
    switch (c->form) {
    case RP_COMPLETE_ANY:
        return complete_any(c);
    case RP_COMPLETE_SOME:
        return complete_some(c);
    default:
        return complete_all(c);
    }
}

int rp_ft_Request_get_status(MPI_Request handle, int *flag, MPI_Status *status)
{
    if (!is_live(handle)) {
        *flag = 1;
        rp_ft_status_empty(status);
        return MPI_SUCCESS;
    }
    *flag = test_all(1, &handle);
    if (*flag && of(handle)->kind == RP_FT_GENERAL)
        return rp_ft_general_get_status(of(handle), status);
    if (*flag && status != MPI_STATUS_IGNORE)
        *status = of(handle)->status;
    return MPI_SUCCESS;
}

int rp_ft_Request_free(MPI_Request *handle)
{
    struct rp_ft_request *request = of(*handle);

    if (*handle == MPI_REQUEST_NULL)
        return rp_ft_error(rp_ft_comm_world(), MPI_ERR_REQUEST);
    if (request->kind == RP_FT_GENERAL) {
        *handle = MPI_REQUEST_NULL;
        return rp_ft_general_free(request);
    }
    if (request->active && request->kind == RP_FT_RECEIVE && !request->done)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED, "MPI_Request_free of a receive that is under way "
                                            "cannot be recovered: wait for it, or cancel it");
    if (request->active)
        rp_ft.active_requests--;
    if (request->entry)
        request->entry->request = NULL;
    if (request->persistent)
        rp_ft_request_drop_persistent(request);
    if (request->kind != RP_FT_COLLECTIVE || request->done)
        rp_ft_request_free(request);
    *handle = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* A receive whose message has not arrived can be cancelled; a send never. Whether it had arrived is
 * left open by MPI. */
int rp_ft_Cancel(MPI_Request *handle)
{
    struct rp_ft_request *request = of(*handle);
    int64_t replayed;
    bool wins = false;

    if (is_live(*handle) && request->kind == RP_FT_GENERAL)
        return rp_ft_general_cancel(request);
    if (!is_live(*handle) || request->kind != RP_FT_RECEIVE)
        return MPI_SUCCESS;
    if (rp_ft_outcome_next(&replayed)) {
        wins = replayed != 0;
    } else {
        wins = request->back != NULL;
        rp_ft_outcome_put(wins);
    }
    if (wins && !request->back)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "MPI_Cancel of a receive cannot be repeated: its message came after the "
                  "cancellation at first, and before it now");
    if (wins && rp_ft_unpost(request)) {
        rp_ft_status_empty(&request->status);
        request->status._cancelled = 1;
        request->done = true;
    }
    return MPI_SUCCESS;
}
