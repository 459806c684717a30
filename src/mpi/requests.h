/* SPDX-License-Identifier: MIT */
/*
 * Receive requests, found by handle. Handles of receives are unique while they are active, unlike those of sends. An entry outlives its
 * receive (clearing it on every completion would cost more than it brings) and is overwritten when the handle comes back, so the table is
 * as large as the most requests that were ever under way at once.
 */
#ifndef RP_REQUESTS_H
#define RP_REQUESTS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

enum rp_request_flag {
    RP_REQUEST_RECEIVE = 1,     /* an active receive */
    RP_REQUEST_WILD = 2,        /* posted without a source or a tag */
    RP_REQUEST_PERSISTENT = 4,
    RP_REQUEST_CANCELLING = 8,  /* MPI_Cancel was called on it */
    RP_REQUEST_OTHER = 16,      /* not a receive, but cancelled: `post` is the number of the cancel */
    RP_REQUEST_GHOST = 32,      /* replay: never matched in the record, and not really posted */
    RP_REQUEST_INNER = 64,      /* replay: another request stands for it */
    RP_REQUEST_COUNTED = 128,   /* counts in rp_state.watched */
    RP_REQUEST_TOLD = 256,      /* recording: its match was told before its completion */
};

struct rp_request {
    uint64_t handle; /* 0: free slot */
    uint64_t post;
    uint64_t flags; /* 0: nothing under way by this handle any more */
    void *note;     /* the engine's */
};

struct rp_requests {
    struct rp_request *slots;
    uint64_t mask; /* slots - 1 */
    uint64_t used;
};

/* Recording: the wildcard receives under way whose match was not told, in post order. Number 0 is both ends of the list. */
struct rp_wild_post {
    MPI_Request request;
    uint64_t post;
    int source, tag;
    uint32_t next, previous;
};

struct rp_wild_posts {
    struct rp_wild_post *at;
    uint32_t spare; /* chain of unused ones; 0: none */
    uint32_t room;
};

static inline uint64_t rp_request_key(MPI_Request request)
{
#ifdef OPEN_MPI
    return (uint64_t)(uintptr_t)request;
#else
    return (uint64_t)(uint32_t)request;
#endif
}

static inline uint64_t rp_request_slot(uint64_t key)
{
#ifdef OPEN_MPI
    return key >> 6 ^ key >> 13;
#else
    return key;
#endif
}

/* The entry of a handle, made if there is none. */
struct rp_request *rp_requests_enter(struct rp_requests *requests, uint64_t key);

static inline struct rp_request *rp_requests_entry(struct rp_requests *requests, MPI_Request request)
{
    uint64_t key = rp_request_key(request);
    struct rp_request *entry = &requests->slots[rp_request_slot(key) & requests->mask];

    return __builtin_expect(entry->handle == key, 1) ? entry : rp_requests_enter(requests, key);
}

/* NULL if there is none. */
static inline struct rp_request *rp_requests_find(const struct rp_requests *requests, MPI_Request request)
{
    uint64_t key = rp_request_key(request);
    uint64_t slot = rp_request_slot(key) & requests->mask;

    for (;; slot = (slot + 1) & requests->mask) {
        if (requests->slots[slot].handle == key)
            return &requests->slots[slot];
        if (requests->slots[slot].handle == 0)
            return NULL;
    }
}

/* Whether it is certain that nobody waits to see the completion of this request. */
static inline int rp_requests_is_free(const struct rp_requests *requests, MPI_Request request)
{
    uint64_t key = rp_request_key(request);
    const struct rp_request *entry = &requests->slots[rp_request_slot(key) & requests->mask];

    return entry->handle == key ? !(entry->flags & RP_REQUEST_COUNTED) : entry->handle == 0;
}

/* The tables before their first entry; must be called before any other. */
void rp_requests_init(struct rp_requests *requests);
void rp_wild_posts_init(struct rp_wild_posts *wild);

/* Makes more room and returns an unused one. */
uint32_t rp_wild_posts_grow(struct rp_wild_posts *wild);

/* Appends a receive; its number is kept in the note of its entry. */
static inline void rp_wild_posts_add(struct rp_wild_posts *wild, struct rp_request *entry, MPI_Request request, int source, int tag)
{
    uint32_t index = wild->spare;

    if (__builtin_expect(index == 0, 0))
        index = rp_wild_posts_grow(wild);
    struct rp_wild_post *at = wild->at, *p = &at[index];
    uint32_t last = at[0].previous;
    wild->spare = p->next;
    p->request = request;
    p->post = entry->post;
    p->source = source;
    p->tag = tag;
    p->next = 0;
    p->previous = last;
    at[last].next = at[0].previous = index;
    entry->note = (void *)(uintptr_t)index;
}

static inline void rp_wild_posts_remove(struct rp_wild_posts *wild, struct rp_request *entry)
{
    uint32_t index = (uint32_t)(uintptr_t)entry->note;
    struct rp_wild_post *at = wild->at;
    uint32_t next = at[index].next, previous = at[index].previous;

    at[next].previous = previous;
    at[previous].next = next;
    at[index].next = wild->spare;
    wild->spare = index;
}

#endif
