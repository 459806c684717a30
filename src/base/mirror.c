/* SPDX-License-Identifier: MIT */
#include "base/mirror.h"

#include <stdbool.h>
#include <string.h>

enum { WORD = sizeof(uint64_t), PAGE = 4096, GAP = 8 };
typedef uint64_t __attribute__((may_alias)) word;

/* 0xff for each byte that is not 0. */
static uint64_t full_bytes(uint64_t x)
{
    x = (x | x >> 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    x = (x | x >> 2) & UINT64_C(0x0303030303030303);
    x = (x | x >> 1) & UINT64_C(0x0101010101010101);
    return x * 255;
}

static uint64_t load(const uint8_t *memory)
{
    uint64_t value;

    memcpy(&value, memory, sizeof value);
    return value;
}

/* How much is taken at once. */
static size_t width_at(const struct rp_mirror *m, size_t at, size_t end)
{
    return (uintptr_t)(m->public + at) % WORD == 0 && end - at >= WORD ? WORD : 1;
}

/* Out */

static void word_out(struct rp_mirror *m, size_t at)
{
    uint64_t own = load(m->own + at), mine = full_bytes(own ^ load(m->shadow + at));
    word *public = (word *)(m->public + at);

    if (mine == 0)
        return;
    for (uint64_t there = __atomic_load_n(public, __ATOMIC_RELAXED);
         !__atomic_compare_exchange_n(public, &there, (there & ~mine) | (own & mine), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);)
        ;
    memcpy(m->shadow + at, &own, sizeof own);
}

static void part_out(struct rp_mirror *m, size_t at, size_t end)
{
    for (size_t width; at < end; at += width) {
        width = width_at(m, at, end);
        if (width == WORD)
            word_out(m, at);
        else if (m->own[at] != m->shadow[at])
            m->public[at] = m->shadow[at] = m->own[at];
    }
}

void rp_mirror_out(struct rp_mirror *m, size_t at, size_t length)
{
    if (m->own == m->public)
        return;
    for (size_t end = at + length, part; at < end; at += part) {
        part = PAGE - at % PAGE < end - at ? PAGE - at % PAGE : end - at;
        if (memcmp(m->own + at, m->shadow + at, part) != 0)
            part_out(m, at, at + part);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* In */

static bool word_in(struct rp_mirror *m, size_t at)
{
    uint64_t there = __atomic_load_n((const word *)(m->public + at), __ATOMIC_RELAXED), theirs = full_bytes(there ^ load(m->shadow + at));

    if (theirs == 0)
        return false;
    memcpy(m->shadow + at, &there, sizeof there);
    if (m->own != m->public) {
        uint64_t own = (load(m->own + at) & ~theirs) | (there & theirs);
        memcpy(m->own + at, &own, sizeof own);
    }
    return true;
}

static bool byte_in(struct rp_mirror *m, size_t at)
{
    uint8_t there = __atomic_load_n(m->public + at, __ATOMIC_RELAXED);

    if (there == m->shadow[at])
        return false;
    m->shadow[at] = there;
    if (m->own != m->public)
        m->own[at] = there;
    return true;
}

static void part_in(struct rp_mirror *m, size_t at, size_t end, void (*came)(void *, size_t, const uint8_t *, size_t), void *data)
{
    const uint8_t *now = m->own != m->public ? m->own : m->shadow; /* the same memory may have changed again */
    size_t first = 0, last = 0; /* of the run; last 0: none */

    for (size_t width; at < end; at += width) {
        width = width_at(m, at, end);
        if (!(width == WORD ? word_in(m, at) : byte_in(m, at)))
            continue;
        if (last && at - last > GAP)
            came(data, first, now + first, last - first);
        if (!last || at - last > GAP)
            first = at;
        last = at + width;
    }
    if (last)
        came(data, first, now + first, last - first);
}

void rp_mirror_in(struct rp_mirror *m, size_t at, size_t length, void (*came)(void *, size_t, const uint8_t *, size_t), void *data)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (size_t end = at + length, part; at < end; at += part) {
        part = PAGE - at % PAGE < end - at ? PAGE - at % PAGE : end - at;
        if (memcmp(m->public + at, m->shadow + at, part) != 0)
            part_in(m, at, at + part, came, data);
    }
}
