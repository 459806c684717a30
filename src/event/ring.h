/* SPDX-License-Identifier: MIT */
/*
 * The event ring. It has one producer (a thread of the application) and one consumer at a time (the
 * encoder, or the producer when it helps). It is in a shared file mapping that outlives the
 * process. Layout: docs/format.md, section 8.
 *
 * The producer fills slots and publishes `head` once for each call, so that a killed process leaves
 * only complete calls behind. Polls that completed nothing take no slots: they are counted in the
 * open runs of the header, which become a group of NO events when another event follows. `limit` is
 * the head at which the producer must stop to wake the consumer or to make room.
 */
#ifndef RP_RING_H
#define RP_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "event/event.h"

enum { RP_RING_CAPACITY = 8192, RP_RING_HEADER = 4096 };

/* Features of a ring, a field of its header. RP_RING_TIMES: a time for each slot is stored behind
 * the slots. */
enum { RP_RING_TIMES = 1 };

struct rp_ring_header {
    uint8_t magic[8];
    uint16_t major, minor;
    uint32_t capacity;
    uint64_t run;
    uint32_t rank, stream;
    uint32_t features;
    uint8_t zero[24];
    uint32_t crc;
    _Alignas(64) _Atomic uint64_t head;
    _Alignas(64) _Atomic uint64_t tail;
    _Alignas(64) uint64_t open_at; /* the head for which the open runs count */
    uint8_t zero2[40];
    uint32_t stopped; /* errno that ended the recording; 0: none */
    uint32_t zero3;
    uint64_t stopped_head; /* events written when it ended: later ones do not count */
    struct rp_event open_run[RP_OPEN_RUNS]; /* kind NO; c = 0: not open */
};

struct rp_ring {
    struct rp_event *slots;
    struct rp_ring_header *shared;
    uint64_t *times; /* the time of each slot in microseconds since 1970; NULL: no times are kept. A
                        time that is less than that of the event before stands for that one. */
    uint64_t head;   /* the producer's own; it may be ahead of the published one */
    uint64_t ready;  /* the producer's own: up to here it writes events without a further check;
                        never beyond `limit` */
    uint64_t limit;  /* call make_room when head reaches it */
    void (*make_room)(struct rp_ring *ring); /* must leave limit > head */
    void *owner;
    char *path;
};

/* Makes the ring's file, which must not exist, and allocates all its blocks. `run`, `rank` and
 * `stream` identify it in its header. `features` is RP_RING_TIMES or 0. */
enum rp_status rp_ring_create(struct rp_ring *ring, const char *path, uint64_t run, uint32_t rank,
                              uint32_t stream, uint32_t features, struct rp_problem *why);

/* Replaces the mapping by private memory: the file stays as it is, and later events are lost.
 * RP_MEMORY: nothing has changed. */
enum rp_status rp_ring_disconnect(struct rp_ring *ring);

/* Unmaps the ring. Removes its file if `discard`. */
void rp_ring_close(struct rp_ring *ring, bool discard);

/* What rp_ring_read gets from a ring file: a copy of the events from `first` on, open runs
 * included. */
struct rp_ring_rest {
    struct rp_event *events; /* to be freed */
    uint64_t *times;         /* to be freed; NULL: there are none */
    size_t count;
    uint32_t stopped; /* errno that ended the recording */
};
enum rp_status rp_ring_read(const char *path, uint64_t run, uint32_t rank, uint32_t stream,
                            uint64_t first, struct rp_ring_rest *out, struct rp_problem *why);

/* Sets the progress of a ring that is still written: how many events it has, and how many polls
 * completed nothing since the last event. */
struct rp_ring_place {
    uint64_t events, polls;
};
enum rp_status rp_ring_peek(const char *path, uint64_t run, uint32_t rank, uint32_t stream,
                            struct rp_ring_place *out, struct rp_problem *why);

static inline struct rp_event *rp_ring_slot(struct rp_ring *ring)
{
    if (__builtin_expect(ring->head == ring->limit, 0))
        ring->make_room(ring);
    return &ring->slots[ring->head++ % RP_RING_CAPACITY];
}

static inline void rp_ring_publish(struct rp_ring *ring)
{
    atomic_store_explicit(&ring->shared->head, ring->head, memory_order_release);
}

#endif
