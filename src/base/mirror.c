/* SPDX-License-Identifier: MIT */
#include "base/mirror.h"

#include <stdbool.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { WORD = sizeof(uint64_t), LINE = 64, PAGE = 4096, GAP = 8 };
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

/* As many lines from here as there are; where the processor cannot store some bytes of a line alone, none. A word at a time takes ten times as long. */
#ifdef __x86_64__
__attribute__((target("avx512bw"))) static size_t lines_out(struct rp_mirror *m, size_t at, size_t end)
{
    size_t first = at;

    for (; end - at >= LINE; at += LINE) {
        __m512i own = _mm512_loadu_si512(m->own + at);
        __mmask64 mine = _mm512_cmpneq_epi8_mask(own, _mm512_loadu_si512(m->shadow + at));
        if (mine) {
            _mm512_mask_storeu_epi8(m->public + at, mine, own);
            _mm512_storeu_si512(m->shadow + at, own);
        }
    }
    return at - first;
}

static bool has_lines(void)
{
    return __builtin_cpu_supports("avx512bw");
}
#else
static size_t lines_out(struct rp_mirror *m, size_t at, size_t end)
{
    (void)m, (void)at, (void)end;
    return 0;
}

static bool has_lines(void)
{
    return false;
}
#endif

bool rp_mirror_only_words;

static void part_out(struct rp_mirror *m, size_t at, size_t end)
{
    bool by_lines = !rp_mirror_only_words && has_lines();

    for (size_t width; at < end; at += width) {
        if (by_lines && (uintptr_t)(m->public + at) % LINE == 0 && (width = lines_out(m, at, end)) > 0)
            continue;
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
    for (size_t end = at + length, part; at < end; at += part) {
        part = PAGE - at % PAGE < end - at ? PAGE - at % PAGE : end - at;
        if (memcmp(m->public + at, m->shadow + at, part) != 0)
            part_in(m, at, at + part, came, data);
    }
}
