/* SPDX-License-Identifier: MIT */
/* The reference order of messages (definition 6 of the paper): by clock, then by rank of the
 * sender; equal ones stay in the order in which they were given. */
#ifndef RP_REFERENCE_ORDER_H
#define RP_REFERENCE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rp_row_message {
    uint64_t clock;
    int32_t rank;
    uint32_t place; /* the caller's own */
};

/* Whether `one` comes before `other`, and is not equal. */
static inline bool rp_row_message_before(const struct rp_row_message *one,
                                         const struct rp_row_message *other)
{
    return one->clock != other->clock ? one->clock < other->clock : one->rank < other->rank;
}

/* Sorts; `spare` has room for as many. Linear in what is sorted already. */
void rp_reference_sort(struct rp_row_message *messages, struct rp_row_message *spare, size_t count);

#endif
