/* SPDX-License-Identifier: MIT */
/* A program that calls none of the compound functions does not pay for this library. */
#ifndef RP_BYPASS_H
#define RP_BYPASS_H

#include <stdbool.h>

/* A compound function is called after all, by a file that was loaded late: all calls enter this
 * library again. */
void rp_bypass_end(void);

/* Returns whether calls went past this library once, so that it does not know of all requests. */
bool rp_bypass_was_open(void);

#endif
