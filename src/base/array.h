/* SPDX-License-Identifier: MIT */
/* Arrays that grow by one element at a time. */
#ifndef RP_ARRAY_H
#define RP_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Makes room for one more element of `size` bytes behind the `count` elements of *array. Returns
 * false and changes nothing if there is no memory. The capacity is stored nowhere: it is the next
 * power of two, so an array must have grown by this function alone. */
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
