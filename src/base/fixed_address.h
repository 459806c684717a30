/* SPDX-License-Identifier: MIT */
/* Memory whose address depends on nothing but what was taken before: so a rank that is run alone
 * has it where it was in the record, and addresses that it gave others and got back still hold. */
#ifndef RP_FIXED_ADDRESS_H
#define RP_FIXED_ADDRESS_H

#include <stddef.h>

/* Zeros, at the beginning of a page. NULL if there is none to be had, or something else stands
 * there. One thread at a time. */
void *rp_fixed_take(size_t size);
void rp_fixed_give(void *memory, size_t size);

#endif
