/* SPDX-License-Identifier: MIT */
/*
 * Completion. What calls of completion answer is left open by MPI: each answer is a determinant
 * (ft_determinants.h), so that a rank that recovers gets the same ones.
 */
#include "ft/ft_completion.h"

#include "ft/ft_abort.h"
#include "ft/ft_comms.h"
#include "ft/ft_determinants.h"
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

int rp_ft_Wait(MPI_Request *handle, MPI_Status *status)
{
    RP_FT_WAIT_UNTIL(is_done(*handle));
    return report(rp_ft_request_complete(handle, status));
}

static int complete_all(int count, MPI_Request *handles, MPI_Status *statuses)
{
    int failed = 0;

    for (int i = 0; i < count; i++) {
        MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        int error = rp_ft_request_complete(&handles[i], status);
        if (status != MPI_STATUS_IGNORE)
            status->MPI_ERROR = error;
        failed |= error != MPI_SUCCESS;
    }
    return failed ? report(MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

int rp_ft_Waitall(int count, MPI_Request *handles, MPI_Status *statuses)
{
    for (int i = 0; i < count; i++)
        RP_FT_WAIT_UNTIL(is_done(handles[i]));
    return complete_all(count, handles, statuses);
}

static bool any_live(int count, MPI_Request *handles)
{
    for (int i = 0; i < count; i++)
        if (is_live(handles[i]))
            return true;
    return false;
}

static int first_done(int count, MPI_Request *handles)
{
    for (int i = 0; i < count; i++)
        if (is_live(handles[i]) && rp_ft_request_done(of(handles[i])))
            return i;
    return -1;
}

int rp_ft_Waitany(int count, MPI_Request *handles, int *index, MPI_Status *status)
{
    int64_t replayed;
    int found = -1;

    if (!any_live(count, handles)) {
        *index = MPI_UNDEFINED;
        rp_ft_status_empty(status);
        return MPI_SUCCESS;
    }
    if (rp_ft_outcome_next(&replayed)) {
        found = (int)replayed;
        RP_FT_WAIT_UNTIL(is_done(handles[found]));
    } else {
        RP_FT_WAIT_UNTIL((found = first_done(count, handles)) >= 0);
        rp_ft_outcome_put(found);
    }
    *index = found;
    return report(rp_ft_request_complete(&handles[found], status));
}

/* How many are done goes before which. */
static int some(int count, MPI_Request *handles, int *out, int *indices, MPI_Status *statuses,
                bool waits)
{
    int64_t replayed, which;
    int number = 0, failed = 0;

    if (!any_live(count, handles)) {
        *out = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (!waits && rp_ft_outcome_is_no()) {
        *out = 0;
        return MPI_SUCCESS;
    }
    if (rp_ft_outcome_next(&replayed)) {
        for (; number < replayed && rp_ft_outcome_next(&which); number++) {
            indices[number] = (int)which;
            RP_FT_WAIT_UNTIL(is_done(handles[which]));
        }
    } else {
        if (waits)
            RP_FT_WAIT_UNTIL(first_done(count, handles) >= 0);
        else
            rp_ft_progress();
        for (int i = 0; i < count; i++)
            if (is_live(handles[i]) && rp_ft_request_done(of(handles[i])))
                indices[number++] = i;
        if (number == 0)
            rp_ft_outcome_no();
        else
            rp_ft_outcome_put_list(number, indices);
    }
    for (int i = 0; i < number; i++) {
        MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        int error = rp_ft_request_complete(&handles[indices[i]], status);
        if (status != MPI_STATUS_IGNORE)
            status->MPI_ERROR = error;
        failed |= error != MPI_SUCCESS;
    }
    *out = number;
    return failed ? report(MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

int rp_ft_Waitsome(int count, MPI_Request *handles, int *out, int *indices, MPI_Status *statuses)
{
    return some(count, handles, out, indices, statuses, true);
}

int rp_ft_Testsome(int count, MPI_Request *handles, int *out, int *indices, MPI_Status *statuses)
{
    return some(count, handles, out, indices, statuses, false);
}

/* A yes or no, of the program's requests or of the past. */
static bool decide_all(int count, MPI_Request *handles)
{
    int64_t replayed;

    if (rp_ft_outcome_is_no())
        return false;
    if (rp_ft_outcome_next(&replayed)) {
        for (int i = 0; i < count; i++)
            RP_FT_WAIT_UNTIL(is_done(handles[i]));
        return true;
    }
    rp_ft_progress();
    for (int i = 0; i < count; i++)
        if (!is_done(handles[i])) {
            rp_ft_outcome_no();
            return false;
        }
    rp_ft_outcome_put(1);
    return true;
}

int rp_ft_Test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    *flag = !is_live(*handle) || decide_all(1, handle);
    return *flag ? report(rp_ft_request_complete(handle, status)) : MPI_SUCCESS;
}

int rp_ft_Testall(int count, MPI_Request *handles, int *flag, MPI_Status *statuses)
{
    *flag = !any_live(count, handles) || decide_all(count, handles);
    return *flag ? complete_all(count, handles, statuses) : MPI_SUCCESS;
}

int rp_ft_Testany(int count, MPI_Request *handles, int *index, int *flag, MPI_Status *status)
{
    int64_t replayed;
    int found;

    *flag = 1;
    *index = MPI_UNDEFINED;
    if (!any_live(count, handles)) {
        rp_ft_status_empty(status);
        return MPI_SUCCESS;
    }
    if (rp_ft_outcome_is_no()) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    if (rp_ft_outcome_next(&replayed)) {
        found = (int)replayed;
        RP_FT_WAIT_UNTIL(is_done(handles[found]));
    } else {
        rp_ft_progress();
        found = first_done(count, handles);
        if (found < 0) {
            rp_ft_outcome_no();
            *flag = 0;
            return MPI_SUCCESS;
        }
        rp_ft_outcome_put(found);
    }
    *index = found;
    return report(rp_ft_request_complete(&handles[found], status));
}

int rp_ft_Request_get_status(MPI_Request handle, int *flag, MPI_Status *status)
{
    if (!is_live(handle)) {
        *flag = 1;
        rp_ft_status_empty(status);
        return MPI_SUCCESS;
    }
    *flag = decide_all(1, &handle);
    if (*flag && status != MPI_STATUS_IGNORE)
        *status = of(handle)->status;
    return MPI_SUCCESS;
}

int rp_ft_Request_free(MPI_Request *handle)
{
    struct rp_ft_request *request = of(*handle);

    if (*handle == MPI_REQUEST_NULL)
        return rp_ft_error(rp_ft_comm_world(), MPI_ERR_REQUEST);
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

/* A receive that no message has come for can be cancelled; a send never. Whether one had come is
 * left open by MPI. */
int rp_ft_Cancel(MPI_Request *handle)
{
    struct rp_ft_request *request = of(*handle);
    int64_t replayed;
    bool wins = false;

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
