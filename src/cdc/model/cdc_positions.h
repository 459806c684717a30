/* SPDX-License-Identifier: MIT */
/* The messages of a table of Clock Delta Compression, as they arrive at the rank that replays it:
 * which message has which position in the reference order, and when that is certain. Without MPI.
 */
#ifndef RP_CDC_POSITIONS_H
#define RP_CDC_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cdc/codec/cdc.h"

struct rp_cdc_position {
    uint64_t clock;
    int32_t rank;
    void *message; /* belongs to the caller; NULL: the program has received it */
};

struct rp_cdc_positions {
    const struct rp_cdc_table *table; /* NULL: none */
    struct rp_cdc_position *at;       /* in the reference order */
    size_t count, room;
    bool *ended;     /* by point of the epoch line: whether its message has arrived */
    bool is_broken;  /* a message arrived in front of one that the program has received: a position
                        was wrongly taken for certain */
    bool is_crowded; /* more messages arrived than the table has: the record never received one of
                        them */
};

/* Begins a table: none of its messages has arrived. `table` must stay where it is until the next
 * one begins. All zeros are a valid `positions` before the first call. */
void rp_cdc_positions_begin(struct rp_cdc_positions *positions, const struct rp_cdc_table *table);
void rp_cdc_positions_free(struct rp_cdc_positions *positions);

/* Returns whether the message is not above the table's epoch line, so that it may belong to it. */
bool rp_cdc_positions_within_epoch_line(const struct rp_cdc_positions *positions, uint64_t clock,
                                        int32_t rank);

/* Adds a message that has arrived. */
void rp_cdc_positions_add(struct rp_cdc_positions *positions, uint64_t clock, int32_t rank,
                          void *message);

/* Marks a message that the program has received. Does nothing if it is not in the table. */
void rp_cdc_positions_deliver(struct rp_cdc_positions *positions, uint64_t clock, int32_t rank);

/* Returns the clock of the message that has this position now; RP_NEVER: too few have arrived. */
uint64_t rp_cdc_positions_clock(const struct rp_cdc_positions *positions, uint32_t position);

/* Returns the message that has this position for certain, or NULL if that is not certain yet.
 * `bounds` (cdc_lower_bound.h) and `under_way`, whether messages of a rank are in flight to this
 * one, are by rank. */
void *rp_cdc_positions_find(const struct rp_cdc_positions *positions, uint32_t position,
                            const uint64_t *bounds, const bool *under_way);

/* Returns whether all messages of the table have arrived; bounds are not needed then. */
bool rp_cdc_positions_are_full(const struct rp_cdc_positions *positions);

#endif
