/* SPDX-License-Identifier: MIT */
/* Gives keys (sites, ranks) numbers from 0 on, in the order in which they are first asked for. An
 * open hash table that is never more than half full. */
#ifndef RP_NUMBERING_H
#define RP_NUMBERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rp_numbering {
    uint32_t *slots; /* number + 1 */
    uint32_t *keys;  /* by number */
    size_t mask;
    uint32_t count;
};

/* Prepares for at most `most` different keys. Returns false if there is no memory. */
bool rp_numbering_init(struct rp_numbering *numbering, size_t most);
void rp_numbering_free(struct rp_numbering *numbering);

/* Returns the number of `key`. A new key gets the number that `count` was before the call. */
uint32_t rp_numbering_of(struct rp_numbering *numbering, uint32_t key);

#endif
