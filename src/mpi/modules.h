/* SPDX-License-Identifier: MIT */
/* Who stands behind us, and what is kept of it. */
#ifndef RP_MODULES_H
#define RP_MODULES_H

#include <stdbool.h>

/* Whether our calls go straight to the MPI library: no other tool stands between. To be asked when the real functions have been found. */
bool rp_next_is_the_library(void);

/* Keeps the component by which Open MPI 4 speaks to its launcher, once MPI is there: MPI_Finalize unloads it while its own thread may still call it, and the program dies of that, once in hundreds of runs. */
void rp_keep_component(void);

#endif
