/* SPDX-License-Identifier: MIT */
/* The last checkpoints of a rank. Their numbers are generations: 0, 1, ... */
#ifndef RP_FT_GENERATIONS_H
#define RP_FT_GENERATIONS_H

#include <stddef.h>
#include <stdint.h>

struct rp_ft_checkpoint {
    int64_t generation; /* -1: none */
    size_t bytes;
    uint8_t *blob; /* owned */
};

enum { RP_FT_GENERATIONS = 2 };

/* Those of this rank. */
extern struct rp_ft_checkpoint rp_ft_own[RP_FT_GENERATIONS];

/* Returns the one of this generation, or NULL. */
struct rp_ft_checkpoint *rp_ft_checkpoint_find(struct rp_ft_checkpoint list[RP_FT_GENERATIONS],
                                               int64_t generation);

/* Returns the place of this generation in the list, or of the oldest. */
struct rp_ft_checkpoint *rp_ft_checkpoint_slot(struct rp_ft_checkpoint list[RP_FT_GENERATIONS],
                                               int64_t generation);

/* Copies a checkpoint into that place. */
void rp_ft_checkpoint_put(struct rp_ft_checkpoint list[RP_FT_GENERATIONS], int64_t generation,
                          const void *blob, size_t bytes);

/* Frees those that are later than this generation; -1: all. */
void rp_ft_checkpoint_drop_after(struct rp_ft_checkpoint list[RP_FT_GENERATIONS],
                                 int64_t generation);

#endif
