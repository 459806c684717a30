/* SPDX-License-Identifier: MIT */
/* Aligned memory that is made from malloc. aligned_alloc and its like are not used: some allocators
 * report a wrong size for such memory, and preload/zero_on_free.c relies on the size. */
#ifndef RP_ALIGNED_H
#define RP_ALIGNED_H

#include <stddef.h>

/* Returns `size` bytes at a multiple of `alignment`, a power of two; rp_aligned_free frees them.
 * Returns NULL if there is no memory. */
void *rp_aligned_new(size_t alignment, size_t size);

/* Frees memory from rp_aligned_new, or does nothing for NULL. The bytes are not set to zero first,
 * even where free does that: it would take too long for large buffers. */
void rp_aligned_free(void *memory);

/* Calls the C library's free, also in libraries that replace free. */
void rp_free_as_it_is(void *memory);

#endif
