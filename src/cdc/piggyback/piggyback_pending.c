/* SPDX-License-Identifier: MIT */
/*
 * Handles are not unique. Both MPIs use one handle for all sends that are complete when they
 * return, and use handles again. So a send that is complete at once never gets here, and whatever
 * completes or frees a request takes its entry away: a handle that is in the table is that of one
 * active request, or of a persistent one.
 */
#include "cdc/piggyback/piggyback_pending.h"

#include <stdlib.h>

#include "base/diagnostics.h"
#include "cdc/piggyback/piggyback_entries.h"
#include "preload/constants.h"
#include "preload/requests.h"

unsigned rp_messages_pending, rp_messages_freed;

static struct rp_requests table;
static struct rp_piggyback_message **freed;
static size_t freed_room;

void rp_pending_add(MPI_Request request, struct rp_piggyback_message *message)
{
    if (!table.slots)
        rp_requests_init(&table);
    struct rp_request *entry = rp_requests_entry(&table, request);
    if (entry->flags) /* it failed in a way that left the program its handle: the message is lost */
        rp_messages_pending--;
    entry->flags = RP_REQUEST_RECEIVE;
    entry->note = message;
    message->request = request;
    rp_messages_pending++;
}

struct rp_piggyback_message *rp_pending_find(MPI_Request request)
{
    if (rp_messages_pending == 0 || request == rp_constant.request_null)
        return NULL;
    const struct rp_request *entry = rp_requests_find(&table, request);
    return entry && entry->flags ? entry->note : NULL;
}

static void forget(struct rp_piggyback_message *message)
{
    rp_requests_find(&table, message->request)->flags = 0;
    rp_messages_pending--;
}

void rp_pending_remove(struct rp_piggyback_message *message)
{
    forget(message);
    rp_piggyback_free(message);
}

void rp_pending_keep_freed(struct rp_piggyback_message *message)
{
    if (rp_messages_freed == freed_room) {
        freed_room = freed_room ? freed_room * 2 : 16;
        freed = realloc(freed, freed_room * sizeof *freed);
        if (!freed)
            rp_bug(__FILE__, __LINE__, "out of memory for freed requests");
    }
    freed[rp_messages_freed++] = message;
    forget(message);
}

static bool is_settled(struct rp_piggyback_message *message)
{
    MPI_Status status;
    int flag = 0, rc = rp_pmpi.Test(&message->request, &flag, &status);

    if (rc == MPI_SUCCESS && !flag)
        return false;
    if (message->receives)
        rp_piggyback_deliver(message, &status, rc != MPI_SUCCESS);
    if (message->request != rp_constant.request_null)
        rp_pmpi.Request_free(&message->request);
    rp_piggyback_free(message);
    return true;
}

/* In the order in which they were freed. */
void rp_pending_settle_freed(void)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < rp_messages_freed; i++)
        if (!is_settled(freed[i]))
            freed[kept++] = freed[i];
    rp_messages_freed = kept;
}
