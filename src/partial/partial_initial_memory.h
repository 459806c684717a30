/* SPDX-License-Identifier: MIT */
/* The content that the program's own memory has when it becomes part of a window. It is in an entry
 * `found` (rp_f_found) before the entry of the call. */
#ifndef RP_PARTIAL_INITIAL_MEMORY_H
#define RP_PARTIAL_INITIAL_MEMORY_H

#include "partial/partial_state.h"

extern RP_HIDDEN const struct rp_function rp_f_found;

/* Recording: puts the entry. */
void rp_initial_memory_put(const void *memory, size_t size);

/* Feeding, before the entry of the call is taken: this memory; and behind it, that there is none.
 */
void rp_initial_memory_expect(void *memory, size_t size);
void rp_initial_memory_over(void);
/* Takes the entry. */
void rp_partial_feed_found(void);

#endif
