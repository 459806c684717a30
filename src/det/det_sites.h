/* SPDX-License-Identifier: MIT */
/* Where the program makes its calls. */
#ifndef RP_DET_SITES_H
#define RP_DET_SITES_H

#include "det/det_state.h"

void rp_det_sites_start(void);

/* The number of the place of the call that the program is in, among those of this rank; UINT32_MAX:
 * it is in none. */
uint32_t rp_det_site(void);

/* Appends " (FILE:LINE)" of a site of a rank, as far as it is known; and the MPI function. */
void rp_det_put_place(struct rp_buffer *text, uint32_t rank, uint32_t site);
void rp_det_put_function(struct rp_buffer *text, uint32_t rank, uint32_t site);

#endif
