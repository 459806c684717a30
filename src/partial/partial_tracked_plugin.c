/* SPDX-License-Identifier: MIT */
/* What code by the plugins calls (window/tracking.h): after its loads and stores. */
#include "partial/partial_tracked_plugin.h"

#include <string.h>

static void load(const void *at, void *value, size_t size)
{
    uintptr_t from;

    if (rp_track_passes(at, size))
        return;
    for (size_t i = rp_tracked_first(&rp_tracking.regions, (uintptr_t)at), part;
         (part = rp_tracked_part(&rp_tracking.regions, i, (uintptr_t)at, size, &from)) > 0; i++)
        (rp_partial.is_feeding ? rp_track_feed_load
                               : rp_track_record_load)(&rp_tracking.regions.region[i], from,
                                                       (uint8_t *)value + (from - (uintptr_t)at),
                                                       part);
}

void rp_track_set_shadows(const void *at, const uint8_t *value, size_t size)
{
    uintptr_t from;

    rp_track_tell(false, at, value, size);
    for (size_t i = rp_tracked_first(&rp_tracking.regions, (uintptr_t)at), part;
         (part = rp_tracked_part(&rp_tracking.regions, i, (uintptr_t)at, size, &from)) > 0; i++)
        if (rp_tracking.regions.region[i].shadow)
            memcpy(rp_tracking.regions.region[i].shadow + (from - rp_tracking.regions.region[i].at),
                   value + (from - (uintptr_t)at), part);
}

static void store(const void *at, const void *value, size_t size)
{
    if (!rp_track_passes(at, size))
        rp_track_set_shadows(at, value, size);
}

static void copy(void *to, const void *from, size_t size)
{
    if ((!rp_tracked_touches(&rp_tracking.regions, from, size) &&
         !rp_tracked_touches(&rp_tracking.regions, to, size)) ||
        rp_track_passes(from, size) || rp_track_passes(to, size)) {
        memmove(to, from, size);
        return;
    }
    void *bytes = rp_track_copy_of(from, size);
    load(from, bytes, size);
    memcpy(to, bytes, size);
    rp_track_set_shadows(to, bytes, size);
}

static void fill(void *to, int byte, size_t size)
{
    uintptr_t from;

    memset(to, byte, size);
    if (!rp_tracked_touches(&rp_tracking.regions, to, size) || rp_track_passes(to, size))
        return;
    rp_track_tell(false, to, to, size);
    for (size_t i = rp_tracked_first(&rp_tracking.regions, (uintptr_t)to), part;
         (part = rp_tracked_part(&rp_tracking.regions, i, (uintptr_t)to, size, &from)) > 0; i++)
        if (rp_tracking.regions.region[i].shadow)
            memset(rp_tracking.regions.region[i].shadow + (from - rp_tracking.regions.region[i].at),
                   byte, part);
}

/* Atomic operations read memory as they write it. Feeding, the memory must be right before.
 * Recording, what was read is logged afterwards, and the operation is made on the shadow, too. */

static void before(void *at, size_t size)
{
    if (rp_partial.is_feeding && rp_tracked_touches(&rp_tracking.regions, at, size))
        load(at, rp_track_copy_of(at, size), size);
}

static void *after(void *at, const void *old, size_t size)
{
    static __thread uint64_t unused[2] __attribute__((aligned(16)));
    struct rp_tracked *t =
        rp_partial.is_feeding ? NULL : rp_tracked_around(&rp_tracking.regions, at, size);

    if (rp_partial.is_traced && rp_tracked_touches(&rp_tracking.regions, at, size) &&
        !rp_track_passes(at, size) && memcmp(at, old, size) != 0)
        rp_track_tell(false, at, at, size);
    if (rp_partial.is_feeding || rp_track_passes(at, size))
        return unused;
    load(at, rp_track_copy_of(old, size), size);
    return t ? (void *)(t->shadow + ((uintptr_t)at - t->at)) : unused;
}

void rp_track_by_plugin(struct reprise_track *track)
{
    track->load = load;
    track->store = store;
    track->copy = copy;
    track->fill = fill;
    track->before = before;
    track->after = after;
}
