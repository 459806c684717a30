/* SPDX-License-Identifier: MIT */
/*
 * Generalized requests. Nothing of them is in a message: they are done when the program says so. A
 * rank that runs again makes and completes them again, and its tests and waits give the same
 * answers (ft_determinants.h). Those answers hold if the thread that calls MPI completes them. If
 * another thread does, a test that was answered yes before may come too early. It cannot wait, as
 * the program's own lock may keep the other thread out of MPI until it returns.
 */
#include "ft/ft_general.h"

#include <stdlib.h>

#include "ft/ft_abort.h"
#include "ft/ft_comms.h"
#include "ft/ft_state.h"
#include "reprise.h"

struct rp_ft_general {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
    bool is_freed; /* by MPI_Request_free, before it was complete */
};

int rp_ft_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free,
                         MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *out)
{
    struct rp_ft_request *request = rp_ft_request_new(RP_FT_GENERAL, rp_ft_comm_world());

    request->general = rp_ft_alloc(sizeof *request->general);
    *request->general = (struct rp_ft_general){query, free, cancel, extra, false};
    request->active = true;
    rp_ft.active_requests++;
    *out = (MPI_Request)request;
    return MPI_SUCCESS;
}

static int report(int error)
{
    return error == MPI_SUCCESS ? error : rp_ft_error(rp_ft_comm_world(), error);
}

static int query(const struct rp_ft_request *request, MPI_Status *status)
{
    const struct rp_ft_general *general = request->general;

    return general->query ? general->query(general->extra, status) : MPI_SUCCESS;
}

int rp_ft_general_get_status(const struct rp_ft_request *request, MPI_Status *status)
{
    MPI_Status ignored = request->status;

    if (status == MPI_STATUS_IGNORE)
        return report(query(request, &ignored));
    *status = request->status;
    return report(query(request, status));
}

static int release(struct rp_ft_request *request)
{
    struct rp_ft_general *general = request->general;
    int error = general->free ? general->free(general->extra) : MPI_SUCCESS;

    free(general);
    request->general = NULL;
    return error;
}

void rp_ft_general_end(struct rp_ft_request *request)
{
    int of_query = query(request, &request->status), of_free = release(request);

    request->status.MPI_ERROR = of_query != MPI_SUCCESS ? of_query : of_free;
}

static int release_all(struct rp_ft_request *request)
{
    int error = release(request);

    rp_ft.active_requests--;
    rp_ft_request_free(request);
    return report(error);
}

int rp_ft_general_free(struct rp_ft_request *request)
{
    request->general->is_freed = true;
    return request->done ? release_all(request) : MPI_SUCCESS;
}

int rp_ft_Grequest_complete(MPI_Request handle)
{
    struct rp_ft_request *request = (struct rp_ft_request *)handle;

    if (handle == MPI_REQUEST_NULL || request->kind != RP_FT_GENERAL || request->done)
        return rp_ft_error(rp_ft_comm_world(), MPI_ERR_REQUEST);
    if (request->general->is_freed)
        return release_all(request);
    request->done = true;
    return MPI_SUCCESS;
}

int rp_ft_general_cancel(const struct rp_ft_request *request)
{
    const struct rp_ft_general *general = request->general;

    return report(general->cancel ? general->cancel(general->extra, request->done) : MPI_SUCCESS);
}

void rp_ft_general_must_be_done(const struct rp_ft_request *request)
{
    if (request->kind == RP_FT_GENERAL && !request->done)
        rp_ft_die(REPRISE_EXIT_UNSUPPORTED,
                  "%s cannot be repeated: a generalized request was complete here before the "
                  "failure, and is not now; complete it in the thread that calls MPI",
                  rp_ft.call);
}
