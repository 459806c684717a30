/* SPDX-License-Identifier: MIT */
/* What else the program does with the request of a pair: MPI_Request_get_status, MPI_Request_free,
 * MPI_Cancel. */
#include "compound/pairs.h"
#include "compound/compound_start.h"
#include "compound/persistent.h"
#include "preload/constants.h"

static struct rp_pair *pair_of(const MPI_Request *request)
{
    return request ? rp_pair_find(*request) : NULL;
}

bool rp_pair_test_send(const struct rp_next *next, struct rp_pair *pair)
{
    int is_sent = 1;

    if (pair->send != rp_constant.request_null) {
        int rc = next->Test(&pair->send, &is_sent, MPI_STATUS_IGNORE);
        if (is_sent)
            pair->send_error = rc;
    }
    return is_sent;
}

int rp_pair_Request_get_status(const struct rp_next *next, MPI_Request request, int *flag,
                               MPI_Status *status)
{
    struct rp_pair *pair = rp_pair_find(request);

    if (!pair)
        return next->Request_get_status(request, flag, status);
    *flag = 0;
    if (!rp_pair_test_send(next, pair))
        return MPI_SUCCESS;
    int rc = next->Request_get_status(request, flag, status);
    if (*flag && pair->proc_nulls)
        rp_pair_set_proc_null(status);
    return rc;
}

int rp_pair_Request_free(const struct rp_next *next, MPI_Request *request)
{
    struct rp_pair *pair = pair_of(request);

    if (request)
        rp_persistent_freed(*request);
    if (!pair)
        return next->Request_free(request);
    MPI_Request handle = *request;
    if (pair->send != rp_constant.request_null)
        next->Request_free(&pair->send);
    int rc = next->Request_free(request);
    rp_pair_drop(handle);
    return rc;
}

/* MPI leaves open what of it would be cancelled; MPICH answers with an error. */
int rp_pair_Cancel(const struct rp_next *next, MPI_Request *request)
{
    if (pair_of(request))
        rp_compound_refuse("MPI_Cancel",
                           "a request that MPI_Isendrecv or MPI_Isendrecv_replace made");
    return next->Cancel(request);
}
