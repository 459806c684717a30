/* SPDX-License-Identifier: MIT */
/*
 * Guesses the index of a message's request in the call's array, from the messages of the same table
 * before it. The guess is the index of the last message from the same rank. For a rank's first
 * message it is one more than the index of the previous message, whoever sent it; or -1 if that
 * message had none, or if there is none before. cdc stores an index only where the guess is wrong.
 */
#ifndef RP_INDICES_H
#define RP_INDICES_H

#include "cdc/codec/numbering.h"

struct rp_indices {
    struct rp_numbering ranks;
    int32_t *last; /* by number of the rank */
    int32_t before;
};

/* Prepares for at most `messages` messages. Returns false if there is no memory. */
bool rp_indices_init(struct rp_indices *indices, size_t messages);
void rp_indices_free(struct rp_indices *indices);

/* rp_indices_guess returns the guess for the next message, which `rank` sent. Then rp_indices_tell
 * takes the real index. */
int32_t rp_indices_guess(struct rp_indices *indices, int32_t rank);
void rp_indices_tell(struct rp_indices *indices, int32_t rank, int32_t index);

#endif
