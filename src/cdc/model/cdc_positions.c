/* SPDX-License-Identifier: MIT */
/*
 * A position is certain (axiom 1 of Clock Delta Compression) if no message of the table that is
 * still to arrive belongs before it. That holds if all messages have arrived; or if, for each
 * sender of the table, its last message, the one on the epoch line, has arrived, or none of its
 * messages is in flight and all that it sends from now on have greater clocks.
 *
 * Messages that the program has received stay in the list, since they count in the positions of the
 * others. Messages usually arrive in the order of their clocks, so they are inserted from the end.
 */
#include "cdc/model/cdc_positions.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "cdc/model/cdc_lower_bound.h"

static void *need(void *memory)
{
    if (!memory)
        rp_bug(__FILE__, __LINE__, "out of memory for the order of messages");
    return memory;
}

void rp_cdc_positions_begin(struct rp_cdc_positions *places, const struct rp_cdc_table *table)
{
    places->table = table;
    places->count = 0;
    free(places->ended);
    places->ended = need(calloc(table->epoch_count + 1, sizeof *places->ended));
}

void rp_cdc_positions_free(struct rp_cdc_positions *places)
{
    free(places->ended);
    free(places->at);
    *places = (struct rp_cdc_positions){0};
}

/* Returns the sender's point of the epoch line, or NULL if the table has none of its messages. */
static const struct rp_cdc_clock *epoch_of(const struct rp_cdc_table *table, int32_t rank)
{
    size_t low = 0, high = table->epoch_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table->epoch[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->epoch_count && table->epoch[low].rank == rank ? &table->epoch[low] : NULL;
}

bool rp_cdc_positions_allow(const struct rp_cdc_positions *places, uint64_t clock, int32_t rank)
{
    const struct rp_cdc_clock *epoch = places->table ? epoch_of(places->table, rank) : NULL;

    return epoch && clock <= epoch->clock;
}

static bool is_before(uint64_t clock, int32_t rank, const struct rp_cdc_position *other)
{
    return clock < other->clock || (clock == other->clock && rank < other->rank);
}

static void make_room(struct rp_cdc_positions *places)
{
    if (places->count < places->room)
        return;
    places->room = places->room ? places->room * 2 : 64;
    places->at = need(realloc(places->at, places->room * sizeof *places->at));
}

void rp_cdc_positions_add(struct rp_cdc_positions *places, uint64_t clock, int32_t rank,
                          void *message)
{
    const struct rp_cdc_clock *epoch = epoch_of(places->table, rank);
    size_t at = places->count;

    make_room(places);
    for (; at > 0 && is_before(clock, rank, &places->at[at - 1]); at--)
        places->is_broken |= !places->at[at - 1].message;
    memmove(&places->at[at + 1], &places->at[at], (places->count - at) * sizeof *places->at);
    places->at[at] = (struct rp_cdc_position){clock, rank, message};
    places->count++;
    places->is_crowded |= places->count > places->table->message_count;
    if (epoch && clock == epoch->clock)
        places->ended[epoch - places->table->epoch] = true;
}

void rp_cdc_positions_give(struct rp_cdc_positions *places, uint64_t clock, int32_t rank)
{
    size_t low = 0, high = places->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (is_before(clock, rank, &places->at[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    if (low > 0 && places->at[low - 1].clock == clock && places->at[low - 1].rank == rank)
        places->at[low - 1].message = NULL;
}

uint64_t rp_cdc_positions_clock(const struct rp_cdc_positions *places, uint32_t place)
{
    return place < places->count ? places->at[place].clock : RP_NEVER;
}

bool rp_cdc_positions_are_full(const struct rp_cdc_positions *places)
{
    return places->table && places->count == places->table->message_count;
}

/* Returns whether no further message of the sender of this point can belong before the place. */
static bool is_past(const struct rp_cdc_positions *places, size_t point,
                    const struct rp_cdc_position *place, const uint64_t *bounds,
                    const bool *under_way)
{
    int32_t rank = places->table->epoch[point].rank;

    return !under_way[rank] && (places->ended[point] || !is_before(bounds[rank], rank, place));
}

void *rp_cdc_positions_find(const struct rp_cdc_positions *places, uint32_t place,
                            const uint64_t *bounds, const bool *under_way)
{
    if (place >= places->count)
        return NULL;
    for (size_t i = 0; !rp_cdc_positions_are_full(places) && i < places->table->epoch_count; i++)
        if (!is_past(places, i, &places->at[place], bounds, under_way))
            return NULL;
    return places->at[place].message;
}
