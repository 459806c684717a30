/* SPDX-License-Identifier: MIT */
#include "cdc/codec/indices.h"

#include <stdlib.h>
#include <string.h>

#include "event/event.h"

/* No message of the rank is known yet. */
enum { UNKNOWN = -2 };

bool rp_indices_init(struct rp_indices *indices, size_t messages)
{
    indices->before = RP_NO_INDEX;
    indices->last = malloc((messages + 1) * sizeof *indices->last);
    if (indices->last && rp_numbering_init(&indices->ranks, messages))
        return true;
    free(indices->last);
    memset(indices, 0, sizeof *indices);
    return false;
}

void rp_indices_free(struct rp_indices *indices)
{
    rp_numbering_free(&indices->ranks);
    free(indices->last);
    memset(indices, 0, sizeof *indices);
}

static int32_t *last_of(struct rp_indices *indices, int32_t rank)
{
    uint32_t count = indices->ranks.count,
             number = rp_numbering_of(&indices->ranks, (uint32_t)rank);

    if (number == count)
        indices->last[number] = UNKNOWN;
    return &indices->last[number];
}

int32_t rp_indices_guess(struct rp_indices *indices, int32_t rank)
{
    int32_t last = *last_of(indices, rank);

    if (last != UNKNOWN)
        return last;
    return indices->before == RP_NO_INDEX || indices->before == INT32_MAX ? RP_NO_INDEX
                                                                          : indices->before + 1;
}

void rp_indices_tell(struct rp_indices *indices, int32_t rank, int32_t index)
{
    *last_of(indices, rank) = index;
    indices->before = index;
}
