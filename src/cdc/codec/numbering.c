/* SPDX-License-Identifier: MIT */
#include "cdc/codec/numbering.h"

#include <stdlib.h>
#include <string.h>

bool rp_numbering_init(struct rp_numbering *numbering, size_t most)
{
    size_t room = 16;

    while (room < 2 * most)
        room *= 2;
    numbering->slots = calloc(room, sizeof *numbering->slots);
    numbering->keys = malloc((most + 1) * sizeof *numbering->keys);
    numbering->mask = room - 1;
    numbering->count = 0;
    if (numbering->slots && numbering->keys)
        return true;
    rp_numbering_free(numbering);
    return false;
}

void rp_numbering_free(struct rp_numbering *numbering)
{
    free(numbering->slots);
    free(numbering->keys);
    memset(numbering, 0, sizeof *numbering);
}

uint32_t rp_numbering_of(struct rp_numbering *numbering, uint32_t key)
{
    size_t slot = (key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & numbering->mask;

    for (; numbering->slots[slot]; slot = (slot + 1) & numbering->mask)
        if (numbering->keys[numbering->slots[slot] - 1] == key)
            return numbering->slots[slot] - 1;
    numbering->keys[numbering->count] = key;
    numbering->slots[slot] = ++numbering->count;
    return numbering->count - 1;
}
