/* SPDX-License-Identifier: MIT */
/*
 * qsort of the C library sorts large arrays in memory that it frees as it is, where the program
 * would then find our data (zero_on_free.c). So our libraries sort by merging runs in memory of
 * their own: the linker puts this function in place of qsort (--wrap). As there, the order of equal
 * elements stays.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/visibility.h"

typedef int comparison(const void *one, const void *other);

extern __attribute__((visibility("default"))) void __real_qsort(void *base, size_t count,
                                                                size_t size, comparison *compare);
RP_HIDDEN void __wrap_qsort(void *base, size_t count, size_t size, comparison *compare);

/* Merges [from, middle) and [middle, to), which are sorted, into `out`. Places are in bytes. */
static void merge(const char *in, char *out, size_t from, size_t middle, size_t to, size_t size,
                  comparison *compare)
{
    size_t left = from, right = middle;

    for (size_t at = from; at < to; at += size) {
        bool takes_left = left < middle && (right >= to || compare(in + left, in + right) <= 0);
        size_t *next = takes_left ? &left : &right;
        memcpy(out + at, in + *next, size);
        *next += size;
    }
}

static bool is_sorted(const char *base, size_t bytes, size_t size, comparison *compare)
{
    for (size_t at = size; at < bytes; at += size)
        if (compare(base + at - size, base + at) > 0)
            return false;
    return true;
}

void __wrap_qsort(void *base, size_t count, size_t size, comparison *compare)
{
    size_t bytes = count * size;
    char *in = base, *out;

    if (is_sorted(base, bytes, size, compare))
        return;
    char *memory = out = malloc(bytes);
    if (!memory) {
        __real_qsort(base, count, size, compare);
        return;
    }
    for (size_t run = size; run < bytes; run *= 2) {
        for (size_t from = 0; from < bytes; from += 2 * run) {
            size_t middle = from + run < bytes ? from + run : bytes,
                   to = middle + run < bytes ? middle + run : bytes;
            merge(in, out, from, middle, to, size, compare);
        }
        char *sorted = out;
        out = in;
        in = sorted;
    }
    if (in != base)
        memcpy(base, in, bytes);
    free(memory);
}
