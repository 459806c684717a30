/* SPDX-License-Identifier: MIT */
/* A determinant says which message a task executed at which place; lists of them. */
#ifndef RP_TASK_DETERMINANT_H
#define RP_TASK_DETERMINANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "match/message_id.h"

struct rp_determinant {
    uint32_t task;
    uint64_t place; /* at the task: how many events were before it */
    struct rp_message_id id;
};

/* All zero is empty. */
struct rp_determinants {
    struct rp_determinant *list;
    size_t count, room;
};

/* Appends. Without memory the process aborts. */
void rp_determinants_add(struct rp_determinants *list, const struct rp_determinant *one);

/* Into a list of one task that is in the order of places. False: the list has that place. */
bool rp_determinants_insert(struct rp_determinants *list, const struct rp_determinant *one);

/* Forgets the first `count`; all, if there are fewer. Returns how many it forgot. */
size_t rp_determinants_drop(struct rp_determinants *list, uint64_t count);

/* As bytes, in parcels and in records (docs/format.md, section 11). Get returns false for bytes
 * that are no determinant. */
void rp_determinant_put(struct rp_buffer *out, const struct rp_determinant *one);
bool rp_determinant_get(struct rp_view *in, struct rp_determinant *one);

#endif
