/* SPDX-License-Identifier: MIT */
#include "entry/request_notes.h"

void rp_requests_forget(struct rp_request *entry)
{
    if (entry->flags & RP_REQUEST_COUNTED)
        rp_state.watched--;
    if (rp_request_is_listed(entry))
        rp_request_unlist(entry);
    entry->flags = 0;
}

int rp_requests_note_new(MPI_Request request, uint64_t post, int source, int tag)
{
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, request);

    rp_requests_forget(entry);
    rp_requests_note_entry(entry, post, source, tag);
    return MPI_SUCCESS;
}
