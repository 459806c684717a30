/* SPDX-License-Identifier: MIT */
/* MPI_Wait, MPI_Test and their families. */
#ifndef RP_PARTIAL_COMPLETION_H
#define RP_PARTIAL_COMPLETION_H

#include "partial/partial_state.h"
#include "preload/completion_call.h"

/* Both return what the call returns. */
int rp_partial_record_complete(const struct rp_next *next, const struct rp_function *function,
                               const struct rp_completion *c);
int rp_partial_feed_complete(const struct rp_function *function, const struct rp_completion *c);

#endif
