/* SPDX-License-Identifier: MIT */
/* The counter. Linked into every program and shared library that reprise-cc makes. */
#include "cc/ticks.h"

__attribute__((visibility("default"), aligned(REPRISE_PAGE))) __thread struct reprise_ticks reprise_ticks;

/* Counting without a plugin: the compiler calls this at every basic block (-fsanitize-coverage=trace-pc). Weak: a fuzzer brings its own. */
__attribute__((visibility("hidden"), weak)) void __sanitizer_cov_trace_pc(void)
{
    enum { instructions = 6 }; /* of a block, about */
    reprise_ticks.count += instructions;
}
