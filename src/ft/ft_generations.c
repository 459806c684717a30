/* SPDX-License-Identifier: MIT */
/* The last checkpoints of a rank. */
#include "ft/ft_generations.h"

#include <stdlib.h>
#include <string.h>

#include "ft/ft_abort.h"

struct rp_ft_checkpoint rp_ft_own[RP_FT_GENERATIONS] = {{.generation = -1}, {.generation = -1}};

struct rp_ft_checkpoint *rp_ft_checkpoint_find(struct rp_ft_checkpoint list[RP_FT_GENERATIONS],
                                               int64_t generation)
{
    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        if (list[i].generation == generation)
            return &list[i];
    return NULL;
}

struct rp_ft_checkpoint *rp_ft_checkpoint_slot(struct rp_ft_checkpoint list[RP_FT_GENERATIONS],
                                               int64_t generation)
{
    struct rp_ft_checkpoint *slot = rp_ft_checkpoint_find(list, generation);

    if (!slot) {
        slot = &list[0];
        for (int i = 1; i < RP_FT_GENERATIONS; i++)
            if (list[i].generation < slot->generation)
                slot = &list[i];
    }
    return slot;
}

void rp_ft_checkpoint_put(struct rp_ft_checkpoint list[RP_FT_GENERATIONS], int64_t generation,
                          const void *blob, size_t bytes)
{
    struct rp_ft_checkpoint *slot = rp_ft_checkpoint_slot(list, generation);

    if (slot->bytes != bytes) {
        free(slot->blob);
        slot->blob = rp_ft_alloc(bytes);
    }
    slot->generation = generation;
    slot->bytes = bytes;
    memcpy(slot->blob, blob, bytes);
}

void rp_ft_checkpoint_drop_after(struct rp_ft_checkpoint list[RP_FT_GENERATIONS],
                                 int64_t generation)
{
    for (int i = 0; i < RP_FT_GENERATIONS; i++)
        if (list[i].generation > generation) {
            free(list[i].blob);
            list[i] = (struct rp_ft_checkpoint){.generation = -1};
        }
}
