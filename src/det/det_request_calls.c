/* SPDX-License-Identifier: MIT */
#include "det/det_request_calls.h"

#include <sched.h>
#include <stdlib.h>

#include "det/det_completion.h"
#include "det/det_requests.h"
#include "preload/constants.h"

int rp_det_request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct rp_det_request *own = rp_det_request_find(request);
    MPI_Request real = request;

    *flag = rp_det_test_at(request, rp_shared_now());
    rp_det_decided(RP_DET_ANSWER, (uint64_t)*flag, 0);
    if (!*flag)
        return MPI_SUCCESS;
    if (own && own->is_active && own->is_cancelled && !own->receive.is_made) {
        rp_det_put_cancelled(status);
        return MPI_SUCCESS;
    }
    if (own && own->is_active &&
        (own->has_placeholder ||
         (own->is_persistent && own->kind != RP_DET_COLLECTIVE && !own->is_started)))
        real = own->receive.real;
    for (int done = 0;;) {
        int rc = rp_pmpi.Request_get_status(real, &done, status);
        if (rc != MPI_SUCCESS || done)
            return rc;
        sched_yield();
    }
}

/* The real receive, if there is one, must not get a message that this one does not take. */
static void cancel_really(MPI_Request real)
{
    MPI_Status status;
    int done = 0, gone = 0;

    rp_pmpi.Cancel(&real);
    while (rp_pmpi.Request_get_status(real, &done, &status) == MPI_SUCCESS && !done)
        sched_yield();
    rp_pmpi.Test_cancelled(&status, &gone);
    if (!gone)
        rp_det_refuse("MPI_Cancel of a receive while a later message for it is on its way");
}

/* A message that was sent before is received; what is sent from now on comes too late. */
int rp_det_cancel(MPI_Request *request)
{
    struct rp_det_request *own = rp_det_request_find(*request);
    uint64_t now = rp_shared_now();

    if (!own || !own->is_active || own->kind != RP_DET_RECEIVE || own->is_cancelled)
        return rp_pmpi.Cancel(request);
    bool is_sent = rp_det_test_at(*request, now + rp_shared.latency - 1);
    rp_det_decided(RP_DET_ANSWER, is_sent, 0);
    if (is_sent)
        return MPI_SUCCESS;
    if (own->receive.is_made)
        cancel_really(own->receive.real);
    own->is_cancelled = true;
    rp_det_receive_cancel(&own->receive);
    return MPI_SUCCESS;
}

int rp_det_request_free(MPI_Request *request)
{
    MPI_Request handle = *request;
    struct rp_det_request *own = rp_det_request_find(handle);

    if (handle != rp_constant.request_null)
        rp_det_request_freed(handle);
    if (!own)
        return rp_pmpi.Request_free(request);
    if (own->is_active && own->kind == RP_DET_COLLECTIVE && own->collective)
        rp_shared_collective_leave(own->collective);
    if (own->has_placeholder) {
        rp_det_placeholder_retire(handle); /* the receive goes on by itself */
        *request = rp_constant.request_null;
        return MPI_SUCCESS;
    }
    if (!own->is_active && own->is_persistent) {
        rp_pmpi.Type_free(&own->type);
        free(own);
    }
    return rp_pmpi.Request_free(request);
}
