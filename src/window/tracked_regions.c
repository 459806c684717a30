/* SPDX-License-Identifier: MIT */
/*
 * Regions are found by slots, one a page, which the program looks up at each access: a slot says
 * which region is near, or that several are.
 *
 * Public memory is read and written by the largest words that are aligned, as the program's own
 * code would.
 */
#include "window/tracked_regions.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "window/shadow.h"

static void name_region(const struct rp_tracked_regions *r, size_t i)
{
    enum { PAGE = 1 << REPRISE_TRACK_PAGE, MASK = REPRISE_TRACK_SLOTS - 1 };
    struct reprise_track *track = r->track;
    const struct rp_tracked *t = &r->region[i];
    uint8_t number =
        i + 1 < REPRISE_TRACK_SEVERAL && r->are_numbered ? (uint8_t)(i + 1) : REPRISE_TRACK_SEVERAL;
    uintptr_t first = (t->at - (REPRISE_TRACK_WIDEST - 1)) / PAGE,
              last = (t->at + t->size - 1) / PAGE;

    if (last - first >= REPRISE_TRACK_SLOTS)
        last = first + MASK;
    if (number < REPRISE_TRACK_SEVERAL)
        track->region[number] =
            (struct reprise_region){.at = t->at,
                                    .begins_8 = t->size < 8 ? 0 : t->size - 7,
                                    .begins_16 = t->size < 16 ? 0 : t->size - 15,
                                    .to_shadow = (intptr_t)((uintptr_t)t->shadow - t->at),
                                    .size = t->size,
                                    .to_public =
                                        t->public ? (intptr_t)((uintptr_t)t->public - t->at) : 0};
    for (uintptr_t page = first; page <= last; page++) {
        uint8_t *slot = &track->slot[page & MASK];
        *slot = *slot == 0 || *slot == number ? number : REPRISE_TRACK_SEVERAL;
    }
}

void rp_tracked_name(const struct rp_tracked_regions *r)
{
    struct reprise_track *track = r->track;

    memset(track->slot, 0, sizeof track->slot);
    memset(track->region, 0, sizeof track->region);
    for (size_t i = 0; i < r->count; i++)
        name_region(r, i);
    track->any = r->count > 0;
    track->lowest = r->count > 0 ? r->region[0].at : 0;
    track->highest = r->count > 0 ? r->region[r->count - 1].at + r->region[r->count - 1].size : 0;
}

struct rp_tracked *rp_tracked_insert(struct rp_tracked_regions *r, const void *at, size_t size)
{
    size_t i = rp_tracked_first(r, (uintptr_t)at);

    if (r->count == r->room) {
        r->room = 2 * r->room + 16;
        r->region = realloc(r->region, r->room * sizeof *r->region);
        if (!r->region)
            rp_bug(__FILE__, __LINE__, "out of memory");
    }
    memmove(&r->region[i + 1], &r->region[i], (r->count++ - i) * sizeof *r->region);
    r->region[i] = (struct rp_tracked){.at = (uintptr_t)at, .size = size};
    return &r->region[i];
}

void rp_tracked_remove(struct rp_tracked_regions *r, struct rp_tracked *t)
{
    free(t->owned);
    memmove(t, t + 1, (size_t)(r->region + --r->count - t) * sizeof *t);
    rp_tracked_name(r);
}

static size_t width_at(uintptr_t at, size_t left)
{
    size_t width = 8;

    while (at % width != 0 || left < width)
        width /= 2;
    return width;
}

#define BY_WIDTH(statement)                                                                        \
    if (width == 8) {                                                                              \
        statement(uint64_t)                                                                        \
    } else if (width == 4) {                                                                       \
        statement(uint32_t)                                                                        \
    } else if (width == 2) {                                                                       \
        statement(uint16_t)                                                                        \
    } else {                                                                                       \
        statement(uint8_t)                                                                         \
    }

void rp_tracked_take(const struct rp_tracked *t, uintptr_t from, uint8_t *to, size_t size)
{
    const uint8_t *public = t->public + (from - t->at);

    for (size_t at = 0, width; at < size; at += width) {
        width = width_at((uintptr_t) public + at, size - at);
#define TAKE(type)                                                                                 \
    type value = __atomic_load_n((const type *)(const void *)(public + at), __ATOMIC_ACQUIRE);     \
    memcpy(to + at, &value, sizeof value);
        BY_WIDTH(TAKE)
    }
}

bool rp_tracked_give(const struct rp_tracked *t, uintptr_t from, size_t size, bool all)
{
    const uint8_t *own = (const uint8_t *)from;
    uint8_t *shadow = t->shadow + (from - t->at), *public = t->public + (from - t->at);

    if (!all && memcmp(own, shadow, size) == 0)
        return false;
    for (size_t at = 0, width; at < size; at += width) {
        width = width_at((uintptr_t) public + at, size - at);
        if (!all && memcmp(own + at, shadow + at, width) == 0)
            continue;
        memcpy(shadow + at, own + at, width);
#define GIVE(type)                                                                                 \
    type value;                                                                                    \
    memcpy(&value, own + at, sizeof value);                                                        \
    __atomic_store_n((type *)(void *)(public + at), value, __ATOMIC_RELEASE);
        BY_WIDTH(GIVE)
    }
    return true;
}

void rp_tracked_give_untold(const struct rp_tracked *t, uintptr_t from, size_t size)
{
    struct rp_shadow memory = {.own = (uint8_t *)t->at,
                               .public = t->public,
                               .shadow = t->shadow,
                               .size = t->size};

    rp_shadow_out(&memory, from - t->at, size);
}
