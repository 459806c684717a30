/* SPDX-License-Identifier: MIT */
/* The reference order of messages (Clock Delta Compression, definition 6): by clock, then by the
 * sender's rank. Equal messages keep their order in the array. */
#ifndef RP_REFERENCE_ORDER_H
#define RP_REFERENCE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rp_row_message {
    uint64_t clock;
    int32_t rank;
    uint32_t position; /* belongs to the caller */
};

/* Returns whether `one` comes before `other` and is not equal to it. */
static inline bool rp_row_message_before(const struct rp_row_message *one,
                                         const struct rp_row_message *other)
{
    return one->clock != other->clock ? one->clock < other->clock : one->rank < other->rank;
}

/* Sorts `count` messages; `spare` has room for as many. Takes linear time for what is already
 * sorted. */
void rp_reference_sort(struct rp_row_message *messages, struct rp_row_message *spare, size_t count);

#endif
