/* SPDX-License-Identifier: MIT */
/* Each asks about one request after another, and passes over those that are not active: about these
 * MPI_Request_get_status would say that they are complete. */
#include "compound/request_status.h"

#include "compound/bypass.h"
#include "compound/compound_start.h"
#include "compound/pairs.h"
#include "compound/persistent.h"
#include "preload/constants.h"

/* Which persistent requests are active is not known of those that went past this library. */
static void prepare(const char *function)
{
    rp_compound_prepare();
    if (rp_bypass_was_open())
        rp_compound_refuse(function, "a file that was loaded when the program ran");
}

static void set_empty(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    status->MPI_ERROR = MPI_SUCCESS;
    rp_pmpi.Status_set_elements(status, rp_constant.byte, 0);
    rp_pmpi.Status_set_cancelled(status, 0);
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* In an array, the error of one request is in its status. Returns what the call is to return. */
static int put_error(int rc, int so_far, MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = rc;
    return rc == MPI_SUCCESS ? so_far : MPI_ERR_IN_STATUS;
}

int rp_status_any(const struct rp_next *next, int count, const MPI_Request *requests, int *index,
                  int *flag, MPI_Status *status)
{
    prepare("MPI_Request_get_status_any");
    *index = MPI_UNDEFINED;
    *flag = 1;
    for (int i = 0; i < count; i++) {
        int is_complete = 0;
        if (!rp_request_is_active(requests[i]))
            continue;
        int rc = rp_pair_Request_get_status(next, requests[i], &is_complete, status);
        *flag = is_complete || rc != MPI_SUCCESS;
        if (*flag) {
            *index = i;
            return rc;
        }
    }
    if (*flag)
        set_empty(status);
    return MPI_SUCCESS;
}

int rp_status_all(const struct rp_next *next, int count, const MPI_Request *requests, int *flag,
                  MPI_Status *statuses)
{
    int result = MPI_SUCCESS;

    prepare("MPI_Request_get_status_all");
    *flag = 1;
    for (int i = 0; i < count && *flag; i++) {
        MPI_Status *status = status_at(statuses, i);
        int rc = MPI_SUCCESS;
        if (rp_request_is_active(requests[i]))
            rc = rp_pair_Request_get_status(next, requests[i], flag, status);
        else
            set_empty(status);
        *flag |= rc != MPI_SUCCESS;
        if (*flag)
            result = put_error(rc, result, status);
    }
    return *flag ? result : MPI_SUCCESS;
}

int rp_status_some(const struct rp_next *next, int count, const MPI_Request *requests,
                   int *outcount, int *indices, MPI_Status *statuses)
{
    int found = 0, active = 0, result = MPI_SUCCESS;

    prepare("MPI_Request_get_status_some");
    for (int i = 0; i < count; i++) {
        MPI_Status *status = status_at(statuses, found);
        int is_complete = 0;
        if (!rp_request_is_active(requests[i]))
            continue;
        active++;
        int rc = rp_pair_Request_get_status(next, requests[i], &is_complete, status);
        if (!is_complete && rc == MPI_SUCCESS)
            continue;
        result = put_error(rc, result, status);
        indices[found++] = i;
    }
    *outcount = active > 0 ? found : MPI_UNDEFINED;
    return result;
}
