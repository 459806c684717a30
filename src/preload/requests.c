/* SPDX-License-Identifier: MIT */
#include "preload/requests.h"

#include <stdlib.h>

#include "base/diagnostics.h"

enum { FIRST_SIZE = 256 };

static void allocate(struct rp_requests *requests, uint64_t size)
{
    requests->slots = calloc(size, sizeof *requests->slots);
    if (!requests->slots)
        rp_bug(__FILE__, __LINE__, "out of memory for requests");
    requests->mask = (size - 1) * RP_REQUEST_SIZE;
    requests->used = 0;
}

void rp_requests_init(struct rp_requests *requests)
{
    allocate(requests, FIRST_SIZE);
    requests->ends = (struct rp_request){.post = UINT64_MAX,
                                         .next = &requests->ends,
                                         .previous = &requests->ends};
}

static struct rp_request *free_slot(struct rp_requests *requests, uint64_t key)
{
    uint64_t offset = rp_requests_offset(requests, key);

    while (rp_requests_at(requests, offset)->handle != 0)
        offset = rp_requests_next_offset(requests, offset);
    requests->used++;
    return rp_requests_at(requests, offset);
}

/* The entries have moved, so the list must be linked again. */
static void relist(struct rp_requests *requests, const struct rp_request *old)
{
    struct rp_request *ends = &requests->ends;

    ends->next = ends->previous = ends;
    for (; old != ends; old = old->next)
        rp_requests_append(requests, rp_requests_find(requests, rp_request_of_key(old->handle)));
}

static void grow(struct rp_requests *requests)
{
    struct rp_requests old = *requests;

    allocate(requests, rp_requests_room(&old) * 2);
    for (uint64_t i = 0; i < rp_requests_room(&old); i++)
        if (old.slots[i].handle != 0 && old.slots[i].flags != 0)
            *free_slot(requests, old.slots[i].handle) = old.slots[i];
    relist(requests, old.ends.next);
    free(old.slots);
}

struct rp_request *rp_requests_enter(struct rp_requests *requests, uint64_t key)
{
    struct rp_request *request = rp_requests_find(requests, rp_request_of_key(key));

    if (request)
        return request;
    if (requests->used * 2 >= rp_requests_room(requests))
        grow(requests);
    request = free_slot(requests, key);
    request->handle = key;
    return request;
}
