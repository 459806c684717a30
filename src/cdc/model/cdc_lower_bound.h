/* SPDX-License-Identifier: MIT */
/*
 * What clocks messages can have that are still to be sent, for a replay by clocks: the lower bound
 * of section 3.6 and axiom 1 (iii) of Clock Delta Compression. No MPI.
 */
#ifndef RP_CDC_LOWER_BOUND_H
#define RP_CDC_LOWER_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RP_NEVER UINT64_MAX

struct rp_cdc_bound_rank {
    uint64_t clock; /* RP_NEVER: it has finished, and sends no more */
    uint64_t least; /* the clock of the message that it would be given if no other came; RP_NEVER:
                       it has none */
    bool waits;     /* it does nothing before it is given a message, and none is under way to it */
};

/* By rank: no message that it sends from now on has a smaller clock. */
void rp_cdc_lower_bounds_find(const struct rp_cdc_bound_rank *ranks, size_t count,
                              uint64_t *bounds);

#endif
