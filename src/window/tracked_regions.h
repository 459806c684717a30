/* SPDX-License-Identifier: MIT */
/*
 * The window memory of a tracked program (window/tracking.h): regions that do not overlap, in the
 * order of their addresses. An access that is not within one region is taken apart.
 */
#ifndef RP_TRACKED_REGIONS_H
#define RP_TRACKED_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "window/tracking.h"

struct rp_tracked {
    uintptr_t at;
    size_t size;
    uint8_t *shadow; /* NULL: there is none */
    uint8_t *public; /* if the program calls before its accesses: what others see */
    void *owned;     /* memory that is freed with the region, or NULL */
    unsigned uses;   /* windows that have this memory, or a part of it */
};

struct rp_tracked_regions {
    struct reprise_track *track; /* the program's */
    bool are_numbered;           /* the program may look into a region itself */
    struct rp_tracked *region;
    size_t count, room;
};

/* Publishes all regions in the program's table (r->track). To be called when a region has
 * changed. */
void rp_tracked_name(const struct rp_tracked_regions *r);

/* Makes a region, which must not overlap another. The program does not see it before
 * rp_tracked_name. */
struct rp_tracked *rp_tracked_insert(struct rp_tracked_regions *r, const void *at, size_t size);

/* Removes a region, also from the program's table. */
void rp_tracked_remove(struct rp_tracked_regions *r, struct rp_tracked *t);

/* Returns the number of the first region that ends behind this place. */
static inline size_t rp_tracked_first(const struct rp_tracked_regions *r, uintptr_t at)
{
    size_t low = 0, high = r->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->region[middle].at + r->region[middle].size <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns how much of an access is in region i, and sets where that begins; 0: nothing is, nor in
 * any region that follows. */
static inline size_t rp_tracked_part(const struct rp_tracked_regions *r, size_t i, uintptr_t at,
                                     size_t size, uintptr_t *from)
{
    if (i >= r->count || r->region[i].at >= at + size)
        return 0;
    uintptr_t first = r->region[i].at > at ? r->region[i].at : at,
              end = r->region[i].at + r->region[i].size < at + size
                        ? r->region[i].at + r->region[i].size
                        : at + size;
    *from = first;
    return end - first;
}

/* Whether any byte of an access is in a region. */
static inline bool rp_tracked_touches(const struct rp_tracked_regions *r, const void *at,
                                      size_t size)
{
    uintptr_t from;

    return r->count > 0 &&
           rp_tracked_part(r, rp_tracked_first(r, (uintptr_t)at), (uintptr_t)at, size, &from) > 0;
}

/* Returns the region that has all of an access, or NULL. */
static inline struct rp_tracked *rp_tracked_around(const struct rp_tracked_regions *r,
                                                   const void *at, size_t size)
{
    size_t i = rp_tracked_first(r, (uintptr_t)at);

    return i < r->count && r->region[i].at <= (uintptr_t)at &&
                   (uintptr_t)at + size <= r->region[i].at + r->region[i].size
               ? &r->region[i]
               : NULL;
}

/* For programs that call before their accesses. `from`: an address of the region. */

/* Copies what others stored there. */
void rp_tracked_take(const struct rp_tracked *t, uintptr_t from, uint8_t *to, size_t size);

/* Makes a store of the program public: all words of which it changed any, or if it is known to be
 * made (`all`) every word. Returns false if it changed none. */
bool rp_tracked_give(const struct rp_tracked *t, uintptr_t from, size_t size, bool all);

/* Makes public what code that is not tracked stored. */
void rp_tracked_give_untold(const struct rp_tracked *t, uintptr_t from, size_t size);

#endif
