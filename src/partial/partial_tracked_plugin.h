/* SPDX-License-Identifier: MIT */
/* Programs that are tracked by a plugin. */
#ifndef RP_PARTIAL_TRACKED_PLUGIN_H
#define RP_PARTIAL_TRACKED_PLUGIN_H

#include "partial/partial_tracked_loads.h"

/* Sets the functions that the program's code calls. */
void rp_track_by_plugin(struct reprise_track *track);

/* Copies into the shadows the bytes that were stored at `at`, or that MPI put there. */
void rp_track_set_shadows(const void *at, const uint8_t *value, size_t size);

#endif
