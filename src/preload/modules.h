/* SPDX-License-Identifier: MIT */
/* Which library our calls reach. */
#ifndef RP_MODULES_H
#define RP_MODULES_H

#include <stdbool.h>

/* Returns whether our calls go straight to the MPI library, with no other tool between. To be
 * called when the real functions have been looked up. */
bool rp_next_is_the_library(void);

#endif
