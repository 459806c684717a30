/* SPDX-License-Identifier: MIT */
/* Byte strings with numbers: each has the number of strings that were there before it. */
#ifndef RP_INTERN_H
#define RP_INTERN_H

#include "base/buffer.h"

struct rp_intern {
    struct rp_buffer bytes; /* of all strings, one after another */
    struct rp_buffer ends;  /* u64: where each ends */
    uint32_t *slots;        /* number + 1, by hash */
    size_t room;
    uint32_t count;
};

/* Sets *number to the number of this string, which is added if it is new. Returns false without
 * memory. */
bool rp_intern_add(struct rp_intern *set, const void *bytes, size_t length, uint32_t *number);
void rp_intern_free(struct rp_intern *set);

#endif
