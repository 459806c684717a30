/* SPDX-License-Identifier: MIT */
/* Aligned memory from malloc: what some allocators say of the size of memory that they aligned
 * themselves is not to be relied upon, and preload/zero_on_free.c does. */
#ifndef RP_ALIGNED_H
#define RP_ALIGNED_H

#include <stddef.h>

/* `alignment` is a power of two. NULL without memory. */
void *rp_aligned_new(size_t alignment, size_t size);

/* It is not made zero before, which takes too long for copies of messages. */
void rp_aligned_free(void *memory);

/* The C library's free, in libraries that have another in its place, too. */
void rp_free_as_it_is(void *memory);

#endif
