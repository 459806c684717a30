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
bool rp_tracked(void);          /* the program is tracked, and if it is fed, was when recorded */
bool rp_tracked_in_place(void); /* it is, and others store into the memory that it works on */

/* Note that memory becomes part of a window, and is no longer. Recording, rp_track_add returns the
 * shadow of the memory: a copy of its content if that is the program's own (`is_known`), else
 * zeros. */
uint8_t *rp_track_add(void *memory, size_t size, bool is_known);
void rp_track_remove(const void *memory, size_t size);
/* Recording: notes that memory becomes part of a window of a program that is tracked by calls,
 * whose own and public memory are apart. The caller owns the shadow and the public memory. */
void rp_track_part(const struct rp_shadow *memory);
/* Makes the program's last store public. */
static inline void rp_track_settle(void)
{
    if (rp_tracking.is_parted)
        rp_track_settle_now();
}

/* Recording: MPI put these bytes there, and an entry is about to have them. Returns the bytes to
 * write, valid until the next call. */
const void *rp_track_taken(const void *bytes, size_t size);
bool rp_track_touches(const void *at, size_t size);
/* Sets *distance to the distance from the memory to its shadow. Returns false if the memory is not
 * wholly in that of one window. */
bool rp_track_to_shadow(const void *at, size_t size, ptrdiff_t *distance);
/* Recording: a message was unpacked into `area`. Copies the part of it that is in window memory
 * into the shadow too, or makes it public if own and public memory are apart. */
void rp_track_unpacked(const struct rp_area *area, int64_t count, const uint8_t *packed,
                       size_t length);

#endif
