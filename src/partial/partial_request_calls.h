/* SPDX-License-Identifier: MIT */
/* Receives that the program freed while they were under way: when one is found complete, an entry
 * `freed` (rp_f_freed) tells so. */
#ifndef RP_PARTIAL_REQUEST_CALLS_H
#define RP_PARTIAL_REQUEST_CALLS_H

#include "partial/partial_state.h"

extern RP_HIDDEN const struct rp_function rp_f_freed;

/* Recording: looks for those that are complete, and puts entries of them. */
void rp_partial_requests_settle(void);
/* Recording ends: they are MPI's own again. */
void rp_partial_requests_give_back(void);
/* Feeding: takes an entry `freed`. */
void rp_partial_requests_take_freed(void);

#endif
