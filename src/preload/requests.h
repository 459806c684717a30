/* SPDX-License-Identifier: MIT */
/*
 * Receive requests, found by handle. Handles of receives are unique while they are active, unlike
 * those of sends. An entry outlives its receive: to clear it on every completion would cost more
 * than it brings. It is overwritten when MPI reuses the handle, so the table has as many entries as
 * requests were ever active at once.
 */
#ifndef RP_REQUESTS_H
#define RP_REQUESTS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include "preload/family.h"

enum rp_request_flag {
    RP_REQUEST_RECEIVE = 1, /* an active receive */
    RP_REQUEST_WILD = 2,    /* posted without a source or a tag */
    RP_REQUEST_PERSISTENT = 4,
    RP_REQUEST_CANCELLING = 8, /* MPI_Cancel was called on it */
    RP_REQUEST_OTHER = 16,     /* no receive; `post` is the number of its MPI_Cancel */
    RP_REQUEST_GHOST = 32,     /* replay: never matched in the record, and not really posted */
    RP_REQUEST_INNER = 64,     /* replay: a placeholder request stands for it */
    RP_REQUEST_COUNTED = 128,  /* counts in rp_state.watched */
    RP_REQUEST_TOLD = 256,     /* recording: its match was recorded before its completion */
};

struct rp_request {
    uint64_t handle; /* 0: free slot */
    uint64_t flags;  /* 0: no active request has this handle */
    uint64_t post;
    void *note; /* belongs to the engine */
    /* Used by a recording, while rp_request_is_listed. */
    struct rp_request *next, *previous;
    int source, tag; /* replay: what it matches in the record */
    uint64_t unused;
};

enum { RP_REQUEST_SIZE = 64 }; /* a power of two makes look-ups faster */
_Static_assert(sizeof(struct rp_request) == RP_REQUEST_SIZE,
               "the offset of a slot is made of its handle");

/* The table. In a recording, the active wildcard receives whose match is not recorded yet form a
 * list, in the order of posts. */
struct rp_requests {
    struct rp_request *slots;
    uint64_t mask; /* a mask for offsets into the slots, in bytes */
    uint64_t used;
    struct rp_request ends; /* head and tail of the list */
};

/* The flags of a wildcard receive that is not persistent, was not cancelled, and whose match is not
 * recorded yet. */
enum { RP_REQUEST_USUAL = RP_REQUEST_RECEIVE | RP_REQUEST_WILD | RP_REQUEST_COUNTED };

static inline uint64_t rp_request_key(MPI_Request request)
{
    return RP_HANDLE_BITS(request);
}

static inline MPI_Request rp_request_of_key(uint64_t key)
{
#if RP_POINTER_HANDLES
    return (MPI_Request)(uintptr_t)key;
#else
    return (MPI_Request)(uint32_t)key;
#endif
}

/* Returns the offset of the first slot where the entry of `key` may be; rp_requests_next_offset
 * returns the next one. */
static inline uint64_t rp_requests_offset(const struct rp_requests *requests, uint64_t key)
{
#if defined(RP_STANDARD_ABI) /* pointers, or numbers in the form of pointers */
    return key * 0x9e3779b97f4a7c15u >> 32 & requests->mask;
#elif RP_POINTER_HANDLES
    return (key ^ key >> 7) & requests->mask;
#else
    return key * RP_REQUEST_SIZE & requests->mask;
#endif
}

static inline uint64_t rp_requests_next_offset(const struct rp_requests *requests, uint64_t offset)
{
    return (offset + RP_REQUEST_SIZE) & requests->mask;
}

static inline struct rp_request *rp_requests_at(const struct rp_requests *requests, uint64_t offset)
{
    return (struct rp_request *)((char *)requests->slots + offset);
}

static inline uint64_t rp_requests_room(const struct rp_requests *requests)
{
    return requests->mask / RP_REQUEST_SIZE + 1;
}

/* Returns the first slot where the entry of this handle may be. The slot holds it or another entry,
 * or is free. */
static inline struct rp_request *rp_requests_first(const struct rp_requests *requests,
                                                   MPI_Request request)
{
    return rp_requests_at(requests, rp_requests_offset(requests, rp_request_key(request)));
}

/* Returns the entry of a handle. Makes it if there is none. */
struct rp_request *rp_requests_enter(struct rp_requests *requests, uint64_t key);

static inline struct rp_request *rp_requests_entry(struct rp_requests *requests,
                                                   MPI_Request request)
{
    struct rp_request *first = rp_requests_first(requests, request);

    return __builtin_expect(first->handle == rp_request_key(request), 1)
               ? first
               : rp_requests_enter(requests, rp_request_key(request));
}

/* Returns the entry of a handle, or NULL if there is none. */
static inline struct rp_request *rp_requests_find(const struct rp_requests *requests,
                                                  MPI_Request request)
{
    uint64_t key = rp_request_key(request), offset = rp_requests_offset(requests, key);

    for (;; offset = rp_requests_next_offset(requests, offset)) {
        struct rp_request *slot = rp_requests_at(requests, offset);
        if (slot->handle == key)
            return slot;
        if (slot->handle == 0)
            return NULL;
    }
}

/* `first` is from rp_requests_first. Returns whether it is the entry of `request` and has exactly
 * these flags. */
static inline int rp_request_has(const struct rp_request *first, MPI_Request request,
                                 uint64_t flags)
{
    return first->handle == rp_request_key(request) && first->flags == flags;
}

/* `first` is from rp_requests_first. Returns true only if it is certain that nobody waits for the
 * completion of `request`. */
static inline int rp_request_is_free(const struct rp_request *first, MPI_Request request)
{
    return first->handle == rp_request_key(request) ? !(first->flags & RP_REQUEST_COUNTED)
                                                    : first->handle == 0;
}

/* Makes the table empty. Must be called before any other function. */
void rp_requests_init(struct rp_requests *requests);

/* The list */

static inline int rp_request_is_listed(const struct rp_request *entry)
{
    uint64_t under_way = RP_REQUEST_RECEIVE | RP_REQUEST_WILD;

    return (entry->flags & (under_way | RP_REQUEST_TOLD)) == under_way;
}

static inline void rp_requests_append(struct rp_requests *requests, struct rp_request *entry)
{
    struct rp_request *last = requests->ends.previous;

    entry->next = last->next; /* the ends: their address would take longer to compute */
    entry->previous = last;
    last->next = requests->ends.previous = entry;
}

static inline void rp_request_unlist(struct rp_request *entry)
{
    entry->next->previous = entry->previous;
    entry->previous->next = entry->next;
}

#endif
