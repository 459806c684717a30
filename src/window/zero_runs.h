/* SPDX-License-Identifier: MIT */
/* The runs of zeros in memory, as varints in turn: how many bytes are not zero, then how many zero
 * bytes follow. Only whole aligned words of eight bytes count as zeros, and parts of a word at the
 * ends: single zero bytes may belong to an address. */
#ifndef RP_ZERO_RUNS_H
#define RP_ZERO_RUNS_H

#include <stdbool.h>

#include "base/buffer.h"

void rp_zero_runs_find(struct rp_buffer *zeros, const void *memory, size_t size);

/* Fills the runs of `zeros` in memory with zeros. Returns false if `zeros` is malformed, or a run
 * ends behind `size` bytes. Does not write to pages that are zero already. */
bool rp_zero_runs_set(struct rp_view *zeros, void *memory, size_t size);

#endif
