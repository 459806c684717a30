/* SPDX-License-Identifier: MIT */
/* How often each of many numbers was seen. */
#ifndef RP_TALLY_H
#define RP_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rp_tally_entry {
    uint64_t key;
    uint64_t count; /* 0: no entry */
};

struct rp_tally {
    struct rp_tally_entry *entries; /* `room` of them, in no order */
    size_t room, used;
    bool failed; /* an allocation failed: something is not counted */
};

void rp_tally_add(struct rp_tally *tally, uint64_t key);
void rp_tally_clear(struct rp_tally *tally);
void rp_tally_free(struct rp_tally *tally);

#endif
