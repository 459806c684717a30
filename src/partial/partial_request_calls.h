/* SPDX-License-Identifier: MIT */
/* Receives that the program freed while they were under way. When a recording finds one of them
 * complete, it writes an entry `freed` (rp_f_freed). */
#ifndef RP_PARTIAL_REQUEST_CALLS_H
#define RP_PARTIAL_REQUEST_CALLS_H

#include "partial/partial_state.h"

extern RP_HIDDEN const struct rp_function rp_f_freed;

/* Recording: looks for freed receives that are complete, and puts their entries. */
void rp_partial_requests_settle(void);
/* Feeding: takes an entry `freed`. */
void rp_partial_requests_take_freed(void);

#endif
