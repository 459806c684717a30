/* SPDX-License-Identifier: MIT */
/*
 * Handles are not unique. Both MPIs give one handle to all sends that are complete when they
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

unsigned rp_letters_under_way, rp_letters_freed;

static struct rp_requests table;
static struct rp_piggyback_message **freed;
static size_t freed_room;

void rp_pending_add(MPI_Request request, struct rp_piggyback_message *letter)
{
    if (!table.slots)
        rp_requests_init(&table);
    struct rp_request *entry = rp_requests_entry(&table, request);
    if (entry->flags) /* it failed in a way that left the program its handle: the letter is lost */
        rp_letters_under_way--;
    entry->flags = RP_REQUEST_RECEIVE;
    entry->note = letter;
    letter->request = request;
    rp_letters_under_way++;
}

struct rp_piggyback_message *rp_pending_find(MPI_Request request)
{
    if (rp_letters_under_way == 0 || request == rp_constant.request_null)
        return NULL;
    const struct rp_request *entry = rp_requests_find(&table, request);
    return entry && entry->flags ? entry->note : NULL;
}

static void forget(struct rp_piggyback_message *letter)
{
    rp_requests_find(&table, letter->request)->flags = 0;
    rp_letters_under_way--;
}

void rp_pending_remove(struct rp_piggyback_message *letter)
{
    forget(letter);
    rp_piggyback_free(letter);
}

void rp_pending_keep_freed(struct rp_piggyback_message *letter)
{
    if (rp_letters_freed == freed_room) {
        freed_room = freed_room ? freed_room * 2 : 16;
        freed = realloc(freed, freed_room * sizeof *freed);
        if (!freed)
            rp_bug(__FILE__, __LINE__, "out of memory for freed requests");
    }
    freed[rp_letters_freed++] = letter;
    forget(letter);
}

static bool is_settled(struct rp_piggyback_message *letter)
{
    MPI_Status status;
    int flag = 0, rc = rp_pmpi.Test(&letter->request, &flag, &status);

    if (rc == MPI_SUCCESS && !flag)
        return false;
    if (letter->receives)
        rp_piggyback_deliver(letter, &status, rc != MPI_SUCCESS);
    if (letter->request != rp_constant.request_null)
        rp_pmpi.Request_free(&letter->request);
    rp_piggyback_free(letter);
    return true;
}

/* In the order in which they were freed. */
void rp_pending_settle_freed(void)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < rp_letters_freed; i++)
        if (!is_settled(freed[i]))
            freed[kept++] = freed[i];
    rp_letters_freed = kept;
}
