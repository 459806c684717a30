/* SPDX-License-Identifier: MIT */
/* Loads from window memory by a program that reprise-cc --track compiled (window/tracking.h). */
#ifndef RP_PARTIAL_TRACKING_H
#define RP_PARTIAL_TRACKING_H

#include "partial/partial_areas.h"
#include "partial/partial_tracked_calls.h"
#include "window/shadow.h"

enum rp_status rp_track_record(const char *directory, uint64_t run, int rank, int ranks,
                               struct rp_problem *why);
enum rp_status rp_track_follow(const char *directory, uint64_t run, int rank, int ranks,
                               struct rp_problem *why);
void rp_track_check_end(void);
uint64_t rp_track_close(void);  /* bytes written */
bool rp_tracked(void);          /* the program was compiled so, and if it is fed, recorded so */
bool rp_tracked_in_place(void); /* and others store into the memory that it works on */

/* Memory becomes part of a window, and is so no longer. Recording, its shadow: what is in it now if
 * that is the program's own (`is_known`), else zeros. */
uint8_t *rp_track_add(void *memory, size_t size, bool is_known);
void rp_track_remove(const void *memory, size_t size);
/* Recording: the same of parted memory, if the program calls. The shadow and public memory are the
 * caller's. */
void rp_track_part(const struct rp_shadow *memory);
/* The program's last store is public from here on. */
static inline void rp_track_settle(void)
{
    if (rp_tracking.is_parted)
        rp_track_settle_now();
}

/* Recording: what is there now, which MPI gave, is written down by an entry; the bytes to be
 * written, valid until the next call. */
const void *rp_track_taken(const void *bytes, size_t size);
bool rp_track_touches(const void *at, size_t size);
/* How far the shadow is; false: this is not all in one window's memory. */
bool rp_track_to_shadow(const void *at, size_t size, ptrdiff_t *distance);
/* Recording: a message was unpacked; what of it is in window memory goes into the shadow too, or if
 * memory is parted, out. */
void rp_track_unpacked(const struct rp_area *area, int elements, const uint8_t *packed, int length);

#endif
