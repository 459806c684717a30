/* SPDX-License-Identifier: MIT */
/* Memory at addresses that depend only on the earlier calls of these functions. Two runs of a
 * process that make the same calls get the same addresses, so that pointers from one run are valid
 * in the other. */
#ifndef RP_FIXED_ADDRESS_H
#define RP_FIXED_ADDRESS_H

#include <stddef.h>

/* Returns `size` bytes of zeros at the beginning of a page. Returns NULL if there is no memory, or
 * if something else is at that address. Only one thread may call at a time. */
void *rp_fixed_take(size_t size);
void rp_fixed_give(void *memory, size_t size);

#endif
