/* SPDX-License-Identifier: MIT */
/* Requests: made, freed, and used again. */
#include "ft/ft_request.h"

#include <string.h>

#include "ft/ft_abort.h"
#include "ft/ft_log.h"
#include "ft/ft_state.h"
#include "ft/ft_types.h"
#include "peers/peer_det.h"

static struct {
    struct rp_ft_request *idle, *persistent;
    void (*forget_number)(struct rp_ft_request *request);
} requests;

struct rp_ft_request *rp_ft_request_new(enum rp_ft_request_kind kind, struct rp_ft_comm *comm)
{
    struct rp_ft_request *request = requests.idle;

    if (request)
        requests.idle = request->next;
    else
        request = rp_ft_alloc(sizeof *request);
    memset(request, 0, sizeof *request);
    request->kind = kind;
    request->comm = comm;
    request->bound_rank = -1;
    request->real = MPI_REQUEST_NULL;
    rp_ft_status_empty(&request->status);
    return request;
}

void rp_ft_request_on_free(void (*forget_number)(struct rp_ft_request *request))
{
    requests.forget_number = forget_number;
}

void rp_ft_request_free(struct rp_ft_request *request)
{
    if (request->owns_type)
        rp_real.Type_free(&request->type);
    if (request->fortran)
        requests.forget_number(request);
    request->next = requests.idle;
    requests.idle = request;
}

bool rp_ft_request_done(const struct rp_ft_request *request)
{
    return !request->active || request->done;
}

void rp_ft_request_make_persistent(struct rp_ft_request *request)
{
    request->persistent = true;
    request->next_persistent = requests.persistent;
    requests.persistent = request;
}

void rp_ft_request_drop_persistent(struct rp_ft_request *request)
{
    for (struct rp_ft_request **link = &requests.persistent; *link;
         link = &(*link)->next_persistent)
        if (*link == request) {
            *link = request->next_persistent;
            return;
        }
}

/* A send is done when the log's copy has left, as a send of MPI's own would be. If the world breaks
 * before, it is sent again without the program. */
void rp_ft_entry_done(struct rp_ft_entry *entry)
{
    if (entry->request) {
        entry->request->done = true;
        entry->request->entry = NULL;
        entry->request = NULL;
    }
}

/* Others are lost with the program's handles. */
void rp_ft_requests_forget(void)
{
    for (struct rp_ft_request *request = requests.persistent; request;
         request = request->next_persistent) {
        request->active = request->done = false;
        request->next = NULL;
        request->back = NULL;
        request->entry = NULL;
    }
    rp_ft.active_requests = 0;
    if (reprise_compound_forget)
        reprise_compound_forget();
}
