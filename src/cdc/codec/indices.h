/* SPDX-License-Identifier: MIT */
/*
 * Which index in its array a message's request has, guessed from the messages of the same table
 * before it: that of the last message of the same rank; of a rank's first message, one more than
 * the message before, whoever sent it; -1 if that had none, or if there is none before. cdc stores
 * an index only where the guess is wrong.
 */
#ifndef RP_INDICES_H
#define RP_INDICES_H

#include "cdc/codec/numbering.h"

struct rp_indices {
    struct rp_numbering ranks;
    int32_t *last; /* by number of the rank */
    int32_t before;
};

/* For at most so many messages. */
bool rp_indices_init(struct rp_indices *indices, size_t messages);
void rp_indices_free(struct rp_indices *indices);

/* The guess for the next message, which this rank sent; then what it really was. */
int32_t rp_indices_guess(struct rp_indices *indices, int32_t rank);
void rp_indices_tell(struct rp_indices *indices, int32_t rank, int32_t index);

#endif
