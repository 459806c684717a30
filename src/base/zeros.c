/* SPDX-License-Identifier: MIT */
#include "base/zeros.h"

#include <string.h>

enum { WORD = sizeof(uint64_t), PAGE = 4096 };

static bool is_zero_word(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, WORD);
    return word == 0;
}

void rp_zeros_find(struct rp_buffer *zeros, const void *memory, size_t size)
{
    const uint8_t *bytes = memory;

    for (size_t at = 0, told = 0; size - at >= WORD;) {
        if (!is_zero_word(bytes + at)) {
            at += WORD;
            continue;
        }
        size_t first = at;
        while (first > told && bytes[first - 1] == 0)
            first--;
        while (size - at >= WORD && is_zero_word(bytes + at))
            at += WORD;
        while (at < size && bytes[at] == 0)
            at++;
        rp_buffer_varint(zeros, first - told);
        rp_buffer_varint(zeros, at - first);
        told = at;
    }
}

static void set(uint8_t *at, size_t size)
{
    static const uint8_t zeros[PAGE];

    for (size_t part; size > 0; at += part, size -= part) {
        part = size < PAGE ? size : PAGE;
        if (memcmp(at, zeros, part) != 0)
            memset(at, 0, part);
    }
}

bool rp_zeros_set(struct rp_view *zeros, void *memory, size_t size)
{
    for (size_t at = 0; zeros->at < zeros->end;) {
        uint64_t skip = rp_view_varint(zeros), count = rp_view_varint(zeros);
        if (zeros->failed || skip > size - at || count > size - at - skip)
            return false;
        set((uint8_t *)memory + at + skip, (size_t)count);
        at += (size_t)(skip + count);
    }
    return true;
}
