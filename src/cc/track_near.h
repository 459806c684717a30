/* SPDX-License-Identifier: MIT */
/* Where an access is, as the functions that tracked code calls look it up (window/tracking.h). */
#ifndef RP_TRACK_NEAR_H
#define RP_TRACK_NEAR_H

#include "window/tracking.h"

/* The empty one: none is near. */
#define HERE()                                                                                     \
    (reprise_track.caller = (uintptr_t)__builtin_return_address(0),                                \
     reprise_track.caller_stack = (uintptr_t)__builtin_frame_address(0))

static inline const struct reprise_region *region_near(const void *at)
{
    return &reprise_track.region[reprise_track.slot[(uintptr_t)at >> REPRISE_TRACK_PAGE &
                                                    (REPRISE_TRACK_SLOTS - 1)]];
}

static inline int is_inside(const struct reprise_region *r, const void *at, size_t size)
{
    uintptr_t offset = (uintptr_t)at - r->at;

    return size <= 8    ? offset < r->begins_8
           : size == 16 ? offset < r->begins_16
                        : offset < r->size && r->size - offset >= size;
}

/* No byte of it is in any region. Without reprise there is none, also where an access is at NULL,
 * as that of an element which a vector leaves out. */
static inline int is_outside(const struct reprise_region *r, const void *at, size_t size)
{
    return (r != &reprise_track.region[REPRISE_TRACK_SEVERAL] && (uintptr_t)at - r->at >= r->size &&
            r->at - (uintptr_t)at >= size) ||
           !reprise_track.any;
}

static inline const void *shadow_of(const struct reprise_region *r, const void *at)
{
    return (const void *)((uintptr_t)at + (uintptr_t)r->to_shadow);
}

static inline const void *public_of(const struct reprise_region *r, const void *at)
{
    return (const void *)((uintptr_t)at + (uintptr_t)r->to_public);
}

#endif
