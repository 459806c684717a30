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

void rp_cdc_positions_begin(struct rp_cdc_positions *positions, const struct rp_cdc_table *table)
{
    positions->table = table;
    positions->count = 0;
    free(positions->ended);
    positions->ended = need(calloc(table->epoch_count + 1, sizeof *positions->ended));
}

void rp_cdc_positions_free(struct rp_cdc_positions *positions)
{
    free(positions->ended);
    free(positions->at);
    *positions = (struct rp_cdc_positions){0};
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

bool rp_cdc_positions_within_epoch_line(const struct rp_cdc_positions *positions, uint64_t clock,
                                        int32_t rank)
{
    const struct rp_cdc_clock *epoch = positions->table ? epoch_of(positions->table, rank) : NULL;

    return epoch && clock <= epoch->clock;
}

static bool is_before(uint64_t clock, int32_t rank, const struct rp_cdc_position *other)
{
    return clock < other->clock || (clock == other->clock && rank < other->rank);
}

static void make_room(struct rp_cdc_positions *positions)
{
    if (positions->count < positions->room)
        return;
    positions->room = positions->room ? positions->room * 2 : 64;
    positions->at = need(realloc(positions->at, positions->room * sizeof *positions->at));
}

void rp_cdc_positions_add(struct rp_cdc_positions *positions, uint64_t clock, int32_t rank,
                          void *message)
{
    const struct rp_cdc_clock *epoch = epoch_of(positions->table, rank);
    size_t at = positions->count;

    make_room(positions);
    for (; at > 0 && is_before(clock, rank, &positions->at[at - 1]); at--)
        positions->is_broken |= !positions->at[at - 1].message;
    memmove(&positions->at[at + 1], &positions->at[at],
            (positions->count - at) * sizeof *positions->at);
    positions->at[at] = (struct rp_cdc_position){clock, rank, message};
    positions->count++;
    positions->is_crowded |= positions->count > positions->table->message_count;
    if (epoch && clock == epoch->clock)
        positions->ended[epoch - positions->table->epoch] = true;
}

void rp_cdc_positions_deliver(struct rp_cdc_positions *positions, uint64_t clock, int32_t rank)
{
    size_t low = 0, high = positions->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (is_before(clock, rank, &positions->at[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    if (low > 0 && positions->at[low - 1].clock == clock && positions->at[low - 1].rank == rank)
        positions->at[low - 1].message = NULL;
}

uint64_t rp_cdc_positions_clock(const struct rp_cdc_positions *positions, uint32_t position)
{
    return position < positions->count ? positions->at[position].clock : RP_NEVER;
}

bool rp_cdc_positions_are_full(const struct rp_cdc_positions *positions)
{
    return positions->table && positions->count == positions->table->message_count;
}

/* Axiom 1 (iii), LMC: returns whether no further message of the sender of this point can belong
 * before the position. */
static bool is_past(const struct rp_cdc_positions *positions, size_t point,
                    const struct rp_cdc_position *position, const uint64_t *bounds,
                    const bool *under_way)
{
    int32_t rank = positions->table->epoch[point].rank;

    return !under_way[rank] &&
           (positions->ended[point] || !is_before(bounds[rank], rank, position));
}

void *rp_cdc_positions_find(const struct rp_cdc_positions *positions, uint32_t position,
                            const uint64_t *bounds, const bool *under_way)
{
    if (position >= positions->count)
        return NULL;
    for (size_t i = 0; !rp_cdc_positions_are_full(positions) && i < positions->table->epoch_count;
         i++)
        if (!is_past(positions, i, &positions->at[position], bounds, under_way))
            return NULL;
    return positions->at[position].message;
}
