/* SPDX-License-Identifier: MIT */
/* Numbers keys (sites, ranks) from 0 in the order in which they are asked for: an open hash, never
 * more than half full. */
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

/* For at most so many different keys. */
bool rp_numbering_init(struct rp_numbering *numbering, size_t most);
void rp_numbering_free(struct rp_numbering *numbering);

/* The key's number; `count` as it was before the call if it is a new one. */
uint32_t rp_numbering_of(struct rp_numbering *numbering, uint32_t key);

#endif
