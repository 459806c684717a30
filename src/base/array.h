/* SPDX-License-Identifier: MIT */
/* Arrays that grow by one element at a time. */
#ifndef RP_ARRAY_H
#define RP_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Makes room for one more than `count` elements of this size; false, and nothing is changed, if
 * there is no memory. The room is not kept anywhere: it is the next power of two, so an array must
 * have grown by this alone. */
static inline bool rp_array_grow(void **array, size_t count, size_t size)
{
    if (count & (count - 1))
        return true;
    void *more = realloc(*array, (count ? 2 * count : 1) * size);

    if (more)
        *array = more;
    return more != NULL;
}

#endif
