/* SPDX-License-Identifier: MIT */
/* Who stands behind us. */
#ifndef RP_MODULES_H
#define RP_MODULES_H

#include <stdbool.h>

/* Whether our calls go straight to the MPI library: no other tool stands between. To be asked when
 * the real functions have been found. */
bool rp_next_is_the_library(void);

#endif
