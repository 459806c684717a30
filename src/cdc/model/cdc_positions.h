/* SPDX-License-Identifier: MIT */
/* The messages of a table of clock delta compression as they come to the rank that replays it:
 * which one has which place, and when that is certain. No MPI. */
#ifndef RP_CDC_POSITIONS_H
#define RP_CDC_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cdc/codec/cdc.h"

struct rp_cdc_position {
    uint64_t clock;
    int32_t rank;
    void *message; /* the caller's; NULL: it was given to the program */
};

struct rp_cdc_positions {
    const struct rp_cdc_table *table; /* NULL: none */
    struct rp_cdc_position *at;       /* in the reference order */
    size_t count, room;
    bool *ended;     /* by point of the epoch line: that message is here */
    bool is_broken;  /* a message came in front of one that had been given: what was certain was not
                      */
    bool is_crowded; /* more came than the table has: one was never received in the record */
};

/* Nothing has come yet of this table, which must stay where it is until the next one begins. Zeros
 * are a valid `places` to begin with. */
void rp_cdc_positions_begin(struct rp_cdc_positions *places, const struct rp_cdc_table *table);
void rp_cdc_positions_free(struct rp_cdc_positions *places);

/* Whether the epoch line allows that the message is one of the table. */
bool rp_cdc_positions_allow(const struct rp_cdc_positions *places, uint64_t clock, int32_t rank);

/* It has come. */
void rp_cdc_positions_add(struct rp_cdc_positions *places, uint64_t clock, int32_t rank,
                          void *message);

/* It was given to the program. Nothing happens if it is not of the table. */
void rp_cdc_positions_give(struct rp_cdc_positions *places, uint64_t clock, int32_t rank);

/* The clock of the message that has this place as things are; RP_NEVER: too few have come. */
uint64_t rp_cdc_positions_clock(const struct rp_cdc_positions *places, uint32_t place);

/* The message that has this place for certain; NULL: not yet. `bounds` and `under_way` are by rank
 * (bounds.h). */
void *rp_cdc_positions_find(const struct rp_cdc_positions *places, uint32_t place,
                            const uint64_t *bounds, const bool *under_way);

/* Whether that needs no bounds: all messages of the table are here. */
bool rp_cdc_positions_are_full(const struct rp_cdc_positions *places);

#endif
