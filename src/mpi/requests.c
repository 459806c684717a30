/* SPDX-License-Identifier: MIT */
#include "mpi/requests.h"

#include <stdlib.h>

#include "base/message.h"

enum { FIRST_SIZE = 256 };

static void allocate(struct rp_requests *requests, uint64_t size)
{
    requests->slots = calloc(size, sizeof *requests->slots);
    if (!requests->slots)
        rp_bug(__FILE__, __LINE__, "out of memory for requests");
    requests->mask = size - 1;
    requests->used = 0;
}

void rp_requests_init(struct rp_requests *requests)
{
    allocate(requests, FIRST_SIZE);
}

static struct rp_request *free_slot(struct rp_requests *requests, uint64_t key)
{
    uint64_t slot = rp_request_slot(key) & requests->mask;

    while (requests->slots[slot].handle != 0)
        slot = (slot + 1) & requests->mask;
    requests->used++;
    return &requests->slots[slot];
}

static void grow(struct rp_requests *requests)
{
    struct rp_requests old = *requests;

    allocate(requests, (old.mask + 1) * 2);
    for (uint64_t i = 0; i <= old.mask; i++)
        if (old.slots[i].handle != 0 && old.slots[i].flags != 0)
            *free_slot(requests, old.slots[i].handle) = old.slots[i];
    free(old.slots);
}

struct rp_request *rp_requests_enter(struct rp_requests *requests, uint64_t key)
{
    uint64_t slot = rp_request_slot(key) & requests->mask;

    for (; requests->slots[slot].handle != 0; slot = (slot + 1) & requests->mask)
        if (requests->slots[slot].handle == key)
            return &requests->slots[slot];
    if (requests->used * 2 > requests->mask)
        grow(requests);
    struct rp_request *request = free_slot(requests, key);
    request->handle = key;
    return request;
}

/* Wildcard receives under way */

uint32_t rp_wild_posts_grow(struct rp_wild_posts *wild)
{
    uint32_t first = wild->room ? wild->room : 1, room = wild->room ? wild->room * 2 : FIRST_SIZE;
    struct rp_wild_post *at = realloc(wild->at, room * sizeof *at);

    if (!at)
        rp_bug(__FILE__, __LINE__, "out of memory for pending receives");
    if (wild->room == 0)
        at[0] = (struct rp_wild_post){.next = 0};
    for (uint32_t i = first; i < room; i++)
        at[i].next = i + 1 < room ? i + 1 : 0;
    wild->at = at;
    wild->room = room;
    return wild->spare = first;
}

void rp_wild_posts_init(struct rp_wild_posts *wild)
{
    rp_wild_posts_grow(wild);
}
