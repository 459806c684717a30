/* SPDX-License-Identifier: MIT */
/*
 * The lower bound of the clocks of messages that are still to be sent, for a replay by clocks:
 * section 3.6 and axiom 1 (iii) of Clock Delta Compression. Without MPI.
 */
#ifndef RP_CDC_LOWER_BOUND_H
#define RP_CDC_LOWER_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RP_NEVER UINT64_MAX

struct rp_cdc_bound_rank {
    uint64_t clock;      /* its clock; RP_NEVER: it has finished, and sends no more */
    uint64_t next_clock; /* the clock of the message that it would receive if no other arrived;
                            RP_NEVER: it has none */
    bool waits; /* it does nothing before it receives a message, and none is in flight to it */
};

/* Sets bounds[r] for each of the `count` ranks r, such that r sends no message with a smaller clock
 * from now on. */
void rp_cdc_lower_bounds_find(const struct rp_cdc_bound_rank *ranks, size_t count,
                              uint64_t *bounds);

#endif
