/* SPDX-License-Identifier: MIT */
/* The messages of a table of clock delta compression as they come to the rank that replays it:
 * which one has which place, and when that is certain. No MPI. */
#ifndef RP_PLACES_H
#define RP_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/cdc.h"

struct rp_place {
    uint64_t clock;
    int32_t rank;
    void *message; /* the caller's; NULL: it was given to the program */
};

struct rp_places {
    const struct rp_cdc_table *table; /* NULL: none */
    struct rp_place *at;              /* in the reference order */
    size_t count, room;
    bool *ended;     /* by point of the epoch line: that message is here */
    bool is_broken;  /* a message came in front of one that had been given: what was certain was not
                      */
    bool is_crowded; /* more came than the table has: one was never received in the record */
};

/* Nothing has come yet of this table, which must stay where it is until the next one begins. Zeros
 * are a valid `places` to begin with. */
void rp_places_begin(struct rp_places *places, const struct rp_cdc_table *table);
void rp_places_free(struct rp_places *places);

/* Whether the epoch line allows that the message is one of the table. */
bool rp_places_allow(const struct rp_places *places, uint64_t clock, int32_t rank);

/* It has come. */
void rp_places_add(struct rp_places *places, uint64_t clock, int32_t rank, void *message);

/* It was given to the program. Nothing happens if it is not of the table. */
void rp_places_give(struct rp_places *places, uint64_t clock, int32_t rank);

/* The clock of the message that has this place as things are; RP_NEVER: too few have come. */
uint64_t rp_places_clock(const struct rp_places *places, uint32_t place);

/* The message that has this place for certain; NULL: not yet. `bounds` and `under_way` are by rank
 * (bounds.h). */
void *rp_places_find(const struct rp_places *places, uint32_t place, const uint64_t *bounds,
                     const bool *under_way);

/* Whether that needs no bounds: all messages of the table are here. */
bool rp_places_are_full(const struct rp_places *places);

#endif
