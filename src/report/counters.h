/* SPDX-License-Identifier: MIT */
/* How often each of many numbers was seen. */
#ifndef RP_COUNTERS_H
#define RP_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rp_counter {
    uint64_t key;
    uint64_t count; /* 0: no entry */
};

struct rp_counters {
    struct rp_counter *entries; /* `room` of them, in no order */
    size_t room, used;
    bool failed; /* an allocation failed: something is not counted */
};

void rp_counters_add(struct rp_counters *tally, uint64_t key);
void rp_counters_clear(struct rp_counters *tally);
void rp_counters_free(struct rp_counters *tally);

#endif
