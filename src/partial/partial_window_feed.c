/* SPDX-License-Identifier: MIT */
/*
 * Feeding: entries `changes` are put into the memory of windows, which is the program's own. If
 * accesses are traced, the shadow of a window has what is known of its memory, so that the
 * program's stores are found by comparing.
 */
#include "partial/partial_window_feed.h"

#include <string.h>

#include "base/diagnostics.h"
#include "partial/partial_access_trace.h"
#include "partial/partial_entries.h"
#include "partial/partial_tracking.h"
#include "reprise.h"
#include "window/byte_planes.h"

/* The value of `looked` of a window while a call is about to end. */
static const uint64_t looking = UINT64_MAX;

/* What the program stores is public at once. */
static bool is_direct(const struct rp_window *w)
{
    return w->shared || w->dynamic || rp_tracked();
}

struct search {
    const struct rp_function *function;
    struct rp_window *window;
    struct rp_window_region *region;
};

static void find_stores(void *data)
{
    struct search *s = data;
    const struct rp_window_region *r = s->region;

    s->window->stored |=
        rp_access_trace_stores(s->function, s->window->number, r->member, r->origin,
                               s->window->looked, r->memory.own, r->memory.shadow, r->memory.size);
}

static void look(const struct rp_function *function, struct rp_window *w)
{
    for (struct rp_window_region *r = w->regions; r && w->looked != looking; r = r->next) {
        struct search search = {function, w, r};
        if (r->memory.shadow)
            rp_window_region_visit(r, find_stores, &search);
    }
    w->looked = looking;
    if (w->stored && is_direct(w)) {
        rp_access_trace_out(function, w->number);
        w->stored = false;
    }
}

void rp_windows_look(const struct rp_function *function, MPI_Win win, bool out)
{
    struct rp_window *w = rp_window_find(win);

    if (!w)
        return;
    if (rp_tracking.is_parted)
        rp_track_settle_now();
    look(function, w);
    if (out && w->stored)
        rp_access_trace_out(function, w->number);
    w->stored &= !out;
}

void rp_windows_look_all(const struct rp_function *function)
{
    for (struct rp_window *w = rp_windows_first(); w; w = w->next)
        rp_windows_look(function, w->win, true);
}

void rp_windows_looked(void)
{
    for (struct rp_window *w = rp_windows_first(); w; w = w->next)
        if (w->looked == looking)
            w->looked = rp_data_read_entries(rp_partial.reader);
}

static bool is_in(const struct rp_window *w, const uint8_t *at)
{
    for (const struct rp_window_region *r = w->regions; r; r = r->next)
        if (at >= r->memory.own && at < r->memory.own + r->memory.size)
            return true;
    return false;
}

bool rp_windows_differ(const void *at, size_t size)
{
    const uint8_t *first = at, *end = first + size;

    for (const struct rp_window *w = rp_windows_first(); w; w = w->next)
        for (const struct rp_window_region *r = w->regions; r; r = r->next) {
            const uint8_t *from = first > r->memory.own ? first : r->memory.own,
                          *until = end < r->memory.own + r->memory.size
                                       ? end
                                       : r->memory.own + r->memory.size;
            if (r->memory.shadow && from < until &&
                memcmp(from, r->memory.shadow + (from - r->memory.own), (size_t)(until - from)) !=
                    0)
                return true;
        }
    return false;
}

void rp_windows_direct(bool loads, const void *at, const void *value, size_t size, uint64_t load)
{
    const uint8_t *first = at, *end = first + size;
    size_t in = 0;

    for (const struct rp_window *w = rp_windows_first(); w; w = w->next)
        in += is_in(w, first);
    for (struct rp_window *w = rp_windows_first(); w; w = w->next)
        for (struct rp_window_region *r = w->regions; r; r = r->next) {
            const uint8_t *from = first > r->memory.own ? first : r->memory.own,
                          *until = end < r->memory.own + r->memory.size
                                       ? end
                                       : r->memory.own + r->memory.size;
            if (!r->memory.shadow || from >= until)
                continue;
            size_t place = (size_t)(from - r->memory.own), length = (size_t)(until - from);
            memcpy(r->memory.shadow + place, (const uint8_t *)value + (from - first), length);
            rp_access_trace_direct(loads, w->number, r->member, r->origin + place,
                                   r->memory.shadow + place, length, load, !loads || in == 1);
        }
}

void rp_window_tell(struct rp_window *w, const struct rp_function *function, MPI_Aint unit)
{
    size_t size = 0;

    if (!rp_partial.is_traced)
        return;
    w->self = rp_access_trace_self(w->number);
    for (const struct rp_window_region *r = w->regions; r; r = r->next)
        size = r->member < 0 || r->member == w->self ? r->memory.size : size;
    rp_access_trace_window(w->number, w->dynamic, unit, size, function);
    for (struct rp_window_region *r = w->regions; r; r = r->next) {
        r->memory.shadow = rp_allocate_like(r->memory.own, r->memory.size, &r->owned[1]);
        rp_access_trace_stores(function, w->number, r->member, 0, 0, r->memory.own,
                               r->memory.shadow, r->memory.size);
    }
    w->looked = rp_data_read_entries(rp_partial.reader);
}

/* Stores a run of bytes, or of some lanes of them (0: all). False: the entry is damaged; the caller
 * reports it. */
static bool take_run(struct rp_window *w, uint64_t region, uint64_t at, uint64_t lanes)
{
    size_t stored;
    const uint8_t *content = rp_data_get_content(rp_partial.reader, &stored);
    size_t length = content && lanes ? rp_byte_planes_bytes(stored, (unsigned)lanes) : stored;
    struct rp_window_region *r = w ? w->regions : NULL;

    if (!content)
        return false;
    for (uint64_t i = 1; r && i < region; i++)
        r = r->next;
    if (region == 0 || !r || at > r->memory.size || length > r->memory.size - at ||
        lanes > RP_LANES_ALL || (lanes && length == 0)) {
        rp_error("not the recorded run: others wrote into a window that is not there");
        rp_data_end_job(REPRISE_EXIT_DIVERGED);
    }
    if (lanes)
        rp_byte_planes_unpack(r->memory.own + at, content, length, (unsigned)lanes);
    else
        memcpy(r->memory.own + at, content, length);
    if (r->memory.shadow) {
        memcpy(r->memory.shadow + at, r->memory.own + at, length);
        rp_access_trace_change(rp_partial_feed_calling(), w->number, r->member, r->origin + at,
                               r->memory.own + at, length);
    }
    return true;
}

void rp_window_take(struct rp_window *w)
{
    for (uint64_t region; (region = rp_partial_feed_number()) != 0;)
        if (!take_run(w, region, rp_partial_feed_number(), 0))
            return;
}

static struct rp_window *take_window(void)
{
    uint64_t number = rp_partial_feed_number();
    struct rp_window *w = rp_windows_first();

    while (w && w->number != number)
        w = w->next;
    if (rp_partial.is_traced && w)
        look(rp_partial_feed_calling(), w);
    return w;
}

void rp_partial_feed_changes(void)
{
    struct rp_window *w = take_window();

    for (uint64_t region; (region = rp_partial_feed_number()) != 0;) {
        uint64_t at = rp_partial_feed_number(), lanes = region & 1 ? rp_partial_feed_number() : 0;
        if (!take_run(w, region >> 1, at, lanes))
            return;
    }
}
