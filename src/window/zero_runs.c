/* SPDX-License-Identifier: MIT */
#include "window/zero_runs.h"

#include <string.h>

enum { WORD = sizeof(uint64_t), PAGE = 4096 };

/* A word, or what is of one at the ends. */
static size_t piece_at(const uint8_t *at, size_t left)
{
    size_t rest = WORD - (uintptr_t)at % WORD;

    return rest < left ? rest : left;
}

static bool is_zero(const uint8_t *at, size_t length)
{
    uint64_t word = 0;

    memcpy(&word, at, length);
    return word == 0;
}

void rp_zero_runs_find(struct rp_buffer *zeros, const void *memory, size_t size)
{
    const uint8_t *bytes = memory;
    size_t written = 0, first = 0; /* zeros are from `first` to `at` */

    for (size_t at = 0, piece; at < size; at += piece) {
        piece = piece_at(bytes + at, size - at);
        if (is_zero(bytes + at, piece) && at + piece < size)
            continue;
        size_t end = is_zero(bytes + at, piece) ? size : at;
        if (end > first) {
            rp_buffer_varint(zeros, first - written);
            rp_buffer_varint(zeros, end - first);
            written = end;
        }
        first = at + piece;
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

bool rp_zero_runs_set(struct rp_view *zeros, void *memory, size_t size)
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
