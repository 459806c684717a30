/* SPDX-License-Identifier: MIT */
/* Programs that are tracked by calls. */
#ifndef RP_PARTIAL_TRACKED_CALLS_H
#define RP_PARTIAL_TRACKED_CALLS_H

#include "partial/partial_tracked_loads.h"

/* Sets the functions that the program's code calls. */
void rp_track_by_calls(struct reprise_track *track);

/* The program's last store is public from here on. */
void rp_track_settle_now(void);

#endif
