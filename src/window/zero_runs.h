/* SPDX-License-Identifier: MIT */
/* Where memory is zero: varints in turn, how many bytes are something else, how many behind them
 * are zeros. Only whole aligned words of eight bytes count, and what is of one at the ends: single
 * zeros may be of an address. */
#ifndef RP_ZERO_RUNS_H
#define RP_ZERO_RUNS_H

#include <stdbool.h>

#include "base/buffer.h"

void rp_zero_runs_find(struct rp_buffer *zeros, const void *memory, size_t size);

/* Makes memory zero there. False: `zeros` does not fit. Pages that are zero already are not written
 * to. */
bool rp_zero_runs_set(struct rp_view *zeros, void *memory, size_t size);

#endif
