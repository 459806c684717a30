/* SPDX-License-Identifier: MIT */
/* The counter. Linked into every program and shared library that reprise-cc makes. */
#include "cc/ticks.h"

__attribute__((visibility("default"),
               aligned(REPRISE_PAGE))) __thread struct reprise_ticks reprise_ticks;
