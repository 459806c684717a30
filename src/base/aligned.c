/* SPDX-License-Identifier: MIT */
/* The address that malloc returned is stored in front of the aligned memory. */
#include "base/aligned.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *rp_aligned_new(size_t alignment, size_t size)
{
    size_t more = alignment + sizeof(void *);
    char *begin = size <= SIZE_MAX - more ? malloc(size + more) : NULL;

    if (!begin)
        return NULL;
    char *memory = begin + more - (uintptr_t)(begin + more) % alignment;
    memcpy(memory - sizeof begin, &begin, sizeof begin);
    return memory;
}

__attribute__((weak)) void rp_free_as_it_is(void *memory)
{
    free(memory);
}

void rp_aligned_free(void *memory)
{
    char *begin;

    if (!memory)
        return;
    memcpy(&begin, (char *)memory - sizeof begin, sizeof begin);
    rp_free_as_it_is(begin);
}
