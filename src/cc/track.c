/* SPDX-License-Identifier: MIT */
/* What tracked code and a recording share. Linked into every program and shared library that
 * reprise-cc --track makes. */
#include "window/tracking.h"

static const int always = 1;

__attribute__((visibility("default"))) struct reprise_track reprise_track;
__attribute__((visibility("default"))) __thread const int *reprise_track_off = &always;
__attribute__((visibility("default"))) const size_t reprise_track_size =
    sizeof(struct reprise_track);
