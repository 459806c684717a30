/* SPDX-License-Identifier: MIT */
#include "engine/record_events.h"

#include <stdlib.h>
#include <time.h>

#include "base/diagnostics.h"

struct rp_recorder rp_recorder;

void rp_record_close_runs(void)
{
    struct rp_ring *ring = rp_recorder.ring;
    uint32_t runs = rp_recorder.open & RP_RECORD_RUNS, left = runs;

    if (left == 0)
        return;
    for (; left != 0; left &= left - 1) {
        struct rp_event *event =
            rp_ring_slot(ring); /* the ring may move: look the run up after it */
        *event = ring->shared->open_run[__builtin_ctz(left)];
        event->no.group_left = __builtin_popcount(left) - 1;
    }
    rp_ring_publish(ring); /* from here on the open runs do not count */
    atomic_signal_fence(memory_order_seq_cst);
    for (left = runs; left != 0; left &= left - 1) {
        ring->shared->open_run[__builtin_ctz(left)].no.times = 0;
        rp_recorder.open_key[__builtin_ctz(left)].function = NULL;
    }
    rp_recorder.open &= ~RP_RECORD_RUNS;
}

/* Threads */

static void put_before(uint32_t kind, uint32_t site, uint32_t posts, int32_t a, uint64_t c)
{
    *rp_ring_slot(rp_recorder.ring) = (struct rp_event)RP_EVENT(kind, site, posts, 0, a, 0, c);
}

/* Polls of a thread that has no number yet, where their order is not to give it one. */
static __thread struct {
    struct rp_call call;
    uint32_t scope;
    uint64_t times;
} unnumbered;

static bool is_same_poll(const struct rp_call *call, uint32_t scope)
{
    return unnumbered.times == 0 ||
           (unnumbered.call.function == call->function && unnumbered.scope == scope &&
            unnumbered.call.return_address == call->return_address);
}

static void introduce(uint32_t site)
{
    if (rp_thread_state.number >= 0)
        return;
    rp_thread_state.number = ++rp_recorder.threads;
    rp_record_close_runs();
    put_before(RP_THREAD, site, 0, rp_thread_state.number, rp_thread_state.identity);
    for (; unnumbered.times > 0; unnumbered.times--)
        rp_record_no_closely(&unnumbered.call, unnumbered.scope);
    rp_record_close_runs();
}

void rp_record_introduce(const struct rp_call *call)
{
    if (rp_thread_state.number >= 0)
        return;
    introduce(rp_record_site(call));
    rp_record_publish();
}

static void choose_thread(uint32_t site)
{
    introduce(site);
    if (rp_recorder.thread == rp_thread_state.number)
        return;
    rp_record_close_runs();
    put_before(RP_TURN, site, (uint32_t)(rp_state.posts - rp_recorder.last_posts),
               rp_thread_state.number, rp_recorder.turns);
    rp_recorder.last_posts = rp_state.posts;
    rp_recorder.thread = rp_thread_state.number;
    rp_recorder.turns = 0;
}

void rp_record_choose_thread(const struct rp_call *call)
{
    if (rp_recorder.thread == rp_thread_state.number)
        return;
    choose_thread(rp_record_site(call));
    rp_record_publish();
}

/* Commutative regions */

static struct {
    unsigned long left;
    uint64_t begun;          /* events before it */
    struct rp_event *events; /* that wait */
    size_t count, room;
} region;

static int compare_groups(const struct rp_event *one, const struct rp_event *other)
{
    if (one->site != other->site)
        return one->site < other->site ? -1 : 1;
    if (one->scope != other->scope)
        return one->scope < other->scope ? -1 : 1;
    return (one->any.b > other->any.b) - (one->any.b < other->any.b);
}

/* By group and place, which is in match.post. */
static int compare_places(const void *one, const void *other)
{
    const struct rp_event *a = one, *b = other;
    int groups = compare_groups(a, b);

    return groups ? groups : (a->match.post > b->match.post) - (a->match.post < b->match.post);
}

static int compare_sources(const void *one, const void *other)
{
    const struct rp_event *a = one, *b = other;
    int groups = compare_groups(a, b);

    return groups ? groups
                  : (a->match.source > b->match.source) - (a->match.source < b->match.source);
}

/* Sources in order within each group; sites, tags and posts stay where they are. */
static void sort_region(void)
{
    struct rp_event *places = malloc(2 * region.count * sizeof *places),
                    *sources = places + region.count;

    if (!places)
        rp_bug(__FILE__, __LINE__, "no memory for a region");
    for (size_t i = 0; i < region.count; i++) {
        region.events[i].match.post = i;
        places[i] = sources[i] = region.events[i];
    }
    qsort(places, region.count, sizeof *places, compare_places);
    qsort(sources, region.count, sizeof *sources, compare_sources);
    for (size_t i = 0; i < region.count; i++)
        region.events[places[i].match.post].match.source = sources[i].match.source;
    free(places);
}

static void flush_region(void)
{
    if (region.count == 0)
        return;
    sort_region();
    for (size_t i = 0; i < region.count; i++) {
        struct rp_event *event = rp_ring_slot(rp_recorder.ring);
        *event = region.events[i];
        event->match.post = 0;
    }
    region.count = 0;
    rp_ring_publish(rp_recorder.ring);
}

void rp_record_region_begin(unsigned long count)
{
    RP_BUG_ON(rp_recorder.open & RP_RECORD_REGION);
    if (count == 0)
        return;
    region.left = count;
    region.begun = rp_recorder.ring->head;
    rp_record_hold(RP_RECORD_REGION);
}

bool rp_record_region_end(void)
{
    if (!(rp_recorder.open & RP_RECORD_REGION))
        return false;
    flush_region();
    bool is_early = region.left > 0 && rp_recorder.ring->head > region.begun;
    region.left = 0;
    rp_recorder.open &= ~RP_RECORD_REGION; /* the next event makes it ready again */
    return is_early;
}

bool rp_record_region_put(uint32_t site, uint32_t scope, int32_t source, int32_t tag)
{
    if (!(rp_recorder.open & RP_RECORD_REGION))
        return false;
    if (region.count == region.room) {
        region.room = region.room ? 2 * region.room : 64;
        region.events = realloc(region.events, region.room * sizeof *region.events);
        if (!region.events)
            rp_bug(__FILE__, __LINE__, "no memory for a region");
    }
    rp_record_close_runs(); /* earlier polls stand before it */
    region.events[region.count++] = (struct rp_event){.kind = RP_RECV,
                                                      .site = site,
                                                      .posts = rp_record_take_posts(),
                                                      .scope = scope,
                                                      .match = {source, tag, 0}};
    if (--region.left == 0)
        rp_record_region_end();
    return true;
}

void rp_record_prepare(uint32_t site)
{
    flush_region();
    rp_record_close_runs();
    if (rp_recorder.open & RP_RECORD_THREADS)
        choose_thread(site);
    rp_ring_slot(rp_recorder.ring); /* makes room; the slot is not used */
    rp_recorder.ring->head--;
    rp_record_stamp();
    rp_recorder.ring->ready = rp_recorder.open == 0 ? rp_recorder.ring->limit : 0;
}

/* The first poll of its kind since the event before. */
static void open_run(const struct rp_call *call, uint64_t scope, uint32_t slot)
{
    uint32_t site = rp_record_site(call);
    int32_t thread = rp_recorder.open & RP_RECORD_SITES ? 0 : (int32_t)(scope >> 32);
    struct rp_ring_header *shared = rp_recorder.ring->shared;

    shared->open_at = rp_recorder.ring->head;
    shared->open_run[slot] = (struct rp_event){.kind = RP_NO,
                                               .site = site,
                                               .scope = (uint32_t)scope,
                                               .no = {.thread = thread}};
    atomic_signal_fence(memory_order_seq_cst); /* a run that counts is whole */
    shared->open_run[slot].no.times = 1;
    rp_recorder.open_key[slot] = (struct rp_poll_key){call->function, scope};
    rp_record_hold(1u << slot);
}

void rp_record_no_elsewhere(const struct rp_call *call, uint64_t scope, uint32_t slot)
{
    for (uint32_t i = 0; i < RP_OPEN_RUNS; i++, slot = (slot + 1) % RP_OPEN_RUNS) {
        const struct rp_poll_key *key = &rp_recorder.open_key[slot];
        if (!(rp_recorder.open & 1u << slot)) {
            open_run(call, scope, slot);
            return;
        }
        if (key->function == call->function && key->scope == scope) {
            rp_recorder.ring->shared->open_run[slot].no.times++;
            return;
        }
    }
    rp_record_close_runs(); /* others have all slots */
    open_run(call, scope, slot);
}

static void no_of_thread(const struct rp_call *call, uint32_t scope)
{
    if (rp_thread_state.number < 0 && rp_recorder.numbers_late && is_same_poll(call, scope)) {
        unnumbered.call = *call;
        unnumbered.scope = scope;
        unnumbered.times++;
        return;
    }
    if (rp_thread_state.number < 0) {
        introduce(rp_record_site(call));
        rp_record_publish();
    }
    uint64_t key = scope | (uint64_t)(uint32_t)rp_thread_state.number << 32;
    rp_record_no_elsewhere(call, key,
                           ((uint32_t)((uintptr_t)call->function >> 3) ^ scope ^
                            (uint32_t)rp_thread_state.number) %
                               RP_OPEN_RUNS);
}

void rp_record_no_closely(const struct rp_call *call, uint32_t scope)
{
    flush_region();
    if (!(rp_recorder.open & (RP_RECORD_THREADS | RP_RECORD_SITES))) {
        rp_record_no_elsewhere(call, scope, rp_record_slot(call->function, scope));
        return;
    }
    if (rp_recorder.open & RP_RECORD_THREADS) {
        no_of_thread(call, scope);
        return;
    }
    uint32_t site = rp_record_site(call);
    rp_record_no_elsewhere(call, scope | (uint64_t)site << 32, (site ^ scope) % RP_OPEN_RUNS);
}

/* Times. A slot that is not stamped has the time of the event before (event/ring.h). */

static uint64_t microseconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void rp_record_stamp(void)
{
    struct rp_ring *ring = rp_recorder.ring;

    if (rp_recorder.open & RP_RECORD_TIMES)
        ring->times[ring->head % RP_RING_CAPACITY] =
            rp_recorder.epoch + microseconds(CLOCK_MONOTONIC);
}

/* The time of day may be set while we run; what passes since the start may not. */
void rp_record_with_times(void)
{
    rp_recorder.epoch = microseconds(CLOCK_REALTIME) - microseconds(CLOCK_MONOTONIC);
    rp_record_hold(RP_RECORD_TIMES);
}

void rp_record_by_site(void)
{
    rp_record_hold(RP_RECORD_SITES);
}
