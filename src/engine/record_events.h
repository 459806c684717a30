/* SPDX-License-Identifier: MIT */
/*
 * Making events: from a call of the program to the ring.
 *
 * Polls that answer no are only counted, by MPI function and scope, in the open runs of the ring's
 * header: between two other events the order of polls is the program's own, so that the counts say
 * everything. The next other event pushes them as one group of NO events. Where clocks are recorded
 * they are counted by call site as well, since the tables made of them are those of sites.
 */
#ifndef RP_RECORD_EVENTS_H
#define RP_RECORD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/visibility.h"
#include "event/ring.h"
#include "event/site.h"
#include "entry/engine.h"
#include "entry/thread_state.h"

struct rp_poll_key {
    const char *function;
    uint64_t scope; /* upper half: the thread, or the call site */
};

/* In `open`: several threads make events, so that none is put before it was looked whose turn it
 * is. */
#define RP_RECORD_THREADS (1u << 31)

/* In `open`: polls are counted by call site. */
#define RP_RECORD_SITES (1u << 30)

/* In `open`: events have times, so that none is put before the clock was asked. */
#define RP_RECORD_TIMES (1u << 29)
/* In `open`: a commutative region is open, whose receives wait (rp_record_region_put). */
#define RP_RECORD_REGION (1u << 28)
#define RP_RECORD_RUNS (RP_RECORD_REGION - 1)

struct rp_recorder {
    struct rp_ring *ring;
    uint64_t last_posts; /* at the last event */
    uint32_t open;       /* open runs, a bit each, and RP_RECORD_THREADS, RP_RECORD_SITES,
                            RP_RECORD_TIMES, RP_RECORD_REGION; unless 0, the ring is not ready */
    struct rp_poll_key open_key[RP_OPEN_RUNS];
    struct rp_site_table sites;
    int32_t thread;    /* whose turn it is */
    int32_t threads;   /* that have a number, but for the first */
    bool numbers_late; /* a poll that is answered no gives a thread no number */
    uint64_t turns;    /* of this thread since it was said to have them */
    uint64_t epoch;    /* with times: microseconds since 1970 when the clock that we ask began */
};

extern RP_HIDDEN struct rp_recorder rp_recorder;

/* Pushes the open runs, if any. */
void rp_record_close_runs(void);

/* A poll that is not in the first slot that it may be in. `scope`: the upper half is the thread. */
void rp_record_no_elsewhere(const struct rp_call *call, uint64_t scope, uint32_t slot);

/* A poll where there are threads, or where clocks are recorded. */
void rp_record_no_closely(const struct rp_call *call, uint32_t scope);

/*
 * Commutative regions. Their receives are held back until the region ends or another event is
 * recorded. They are then recorded as if the messages had arrived in the order of their sources,
 * among receives of the same site, communicator and tag. So the record says which messages arrived,
 * but not in which order. If a process is killed inside a region, its record lacks the receives
 * that are held back.
 */
void rp_record_region_begin(unsigned long count); /* none is open */
bool rp_record_region_end(void); /* true: it had events, but not all its receives */

/* A receive from anyone: true, if it is one of an open region, and kept. */
bool rp_record_region_put(uint32_t site, uint32_t scope, int32_t source, int32_t tag);

/* From now on polls are counted by call site. */
void rp_record_by_site(void);

/* From now on events have times. */
void rp_record_with_times(void);

/* Where they have: the next event happens now. */
void rp_record_stamp(void);

/* With threads: says that there is this thread, if that was not said. */
void rp_record_introduce(const struct rp_call *call);

/* With threads: says that it is the calling thread's turn, unless it is already. */
void rp_record_choose_thread(const struct rp_call *call);

static inline uint32_t rp_record_site(const struct rp_call *call)
{
    return rp_site_find(&rp_recorder.sites, call->function, call->return_address, call->stack);
}

/* Whether `count` events can be put without anything else to do first. */
static inline bool rp_record_is_ready(uint64_t count)
{
    const struct rp_ring *ring = rp_recorder.ring;

    return ring->head + count <= ring->ready;
}

/* From now on events wait for rp_record_prepare. */
static inline void rp_record_hold(uint32_t why)
{
    rp_recorder.open |= why;
    rp_recorder.ring->ready = 0;
}

/* The posts since the last event, which the next one counts. */
static inline uint32_t rp_record_take_posts(void)
{
    uint64_t posts = rp_state.posts, last = rp_recorder.last_posts;

    rp_recorder.last_posts = posts;
    return (uint32_t)(posts - last);
}

/* An event, after it was found ready. */
static inline void rp_record_put_after(uint32_t posts, uint32_t kind, uint32_t site, uint32_t scope,
                                       int32_t a, int32_t b, uint64_t c)
{
    struct rp_ring *ring = rp_recorder.ring;
    struct rp_event *event = &ring->slots[ring->head++ % RP_RING_CAPACITY];

    event->kind = kind;
    event->site = site;
    event->posts = posts;
    event->scope = scope;
    event->any.a = a;
    event->any.b = b;
    event->any.c = c;
}

static inline void rp_record_put(uint32_t kind, uint32_t site, uint32_t scope, int32_t a, int32_t b,
                                 uint64_t c)
{
    rp_record_put_after(rp_record_take_posts(), kind, site, scope, a, b, c);
}

/* Makes it ready for an event of this site. */
void rp_record_prepare(uint32_t site);

/* One of several events of a call, which are published together. */
static inline void rp_record_push(uint32_t kind, uint32_t site, uint32_t scope, int32_t a,
                                  int32_t b, uint64_t c)
{
    if (__builtin_expect(!rp_record_is_ready(1), 0))
        rp_record_prepare(site);
    rp_record_put(kind, site, scope, a, b, c);
}

static inline void rp_record_publish(void)
{
    rp_ring_publish(rp_recorder.ring);
}

static inline void rp_record_event(uint32_t kind, uint32_t site, uint32_t scope, int32_t a,
                                   int32_t b, uint64_t c)
{
    rp_record_push(kind, site, scope, a, b, c);
    rp_record_publish();
}

/* Where a poll of this function and scope is counted, if nobody else has the slot. */
static inline uint32_t rp_record_slot(const char *function, uint32_t scope)
{
    return ((uint32_t)((uintptr_t)function >> 3) ^ scope) % RP_OPEN_RUNS;
}

/* A poll said no: counts it if there is a run of its kind. Neither threads nor clocks. */
static inline bool rp_record_no_again(const char *function, uint32_t scope)
{
    uint32_t slot = rp_record_slot(function, scope);
    const struct rp_poll_key *key = &rp_recorder.open_key[slot];

    if (__builtin_expect(key->function != function || key->scope != scope, 0))
        return false;
    rp_recorder.ring->shared->open_run[slot].no.times++;
    return true;
}

/* A poll said no. */
static inline void rp_record_no(const struct rp_call *call, uint32_t scope)
{
    if (__builtin_expect(
            (rp_recorder.open & (RP_RECORD_THREADS | RP_RECORD_SITES | RP_RECORD_REGION)) != 0, 0))
        rp_record_no_closely(call, scope);
    else if (!rp_record_no_again(call->function, scope))
        rp_record_no_elsewhere(call, scope, rp_record_slot(call->function, scope));
}

#endif
