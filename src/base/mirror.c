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

/* The first bytes of a word; the others are 0. */
static uint64_t load(const uint8_t *memory, size_t width)
{
    uint64_t value = 0;

    memcpy(&value, memory, width);
    return value;
}

/* How much is taken at once: 8, or what is aligned and left of 4, 2 and 1. */
static size_t width_at(const struct rp_mirror *m, size_t at, size_t end)
{
    size_t width = WORD;

    while ((uintptr_t)(m->public + at) % width != 0 || end - at < width)
        width /= 2;
    return width;
}

typedef uint32_t __attribute__((may_alias)) half;
typedef uint16_t __attribute__((may_alias)) quarter;

static uint64_t load_public(const uint8_t *memory, size_t width)
{
    uint64_t value = 0;

    if (width == WORD) {
        value = __atomic_load_n((const word *)memory, __ATOMIC_RELAXED);
    } else if (width == sizeof(half)) {
        half there = __atomic_load_n((const half *)memory, __ATOMIC_RELAXED);
        memcpy(&value, &there, width);
    } else if (width == sizeof(quarter)) {
        quarter there = __atomic_load_n((const quarter *)memory, __ATOMIC_RELAXED);
        memcpy(&value, &there, width);
    } else {
        uint8_t there = __atomic_load_n(memory, __ATOMIC_RELAXED);
        memcpy(&value, &there, width);
    }
    return value;
}

/* Out */

/* Stores those bytes of `own` that are `mine`. */
#define MERGE(type)                                                                                                                                          \
    static void merge_##type(uint8_t *public, uint64_t own, uint64_t mine)                                                                                   \
    {                                                                                                                                                        \
        type value, mask, there = __atomic_load_n((type *)public, __ATOMIC_RELAXED);                                                                         \
        memcpy(&value, &own, sizeof value);                                                                                                                  \
        memcpy(&mask, &mine, sizeof mask);                                                                                                                   \
        while (!__atomic_compare_exchange_n((type *)public, &there, (type)((there & ~mask) | (value & mask)), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))     \
            ;                                                                                                                                                \
    }
MERGE(word)
MERGE(half)
MERGE(quarter)

static void word_out(struct rp_mirror *m, size_t at, size_t width)
{
    uint64_t own = load(m->own + at, width), mine = full_bytes(own ^ load(m->shadow + at, width));

    if (mine == 0)
        return;
    if (width == WORD)
        merge_word(m->public + at, own, mine);
    else if (width == sizeof(half))
        merge_half(m->public + at, own, mine);
    else if (width == sizeof(quarter))
        merge_quarter(m->public + at, own, mine);
    else
        __atomic_store_n(m->public + at, m->own[at], __ATOMIC_RELAXED);
    memcpy(m->shadow + at, &own, width);
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

/* The words of a line that others stored, a bit each. */
__attribute__((target("avx512bw"))) static unsigned line_in(struct rp_mirror *m, size_t at)
{
    __m512i there = _mm512_loadu_si512(m->public + at), shadow = _mm512_loadu_si512(m->shadow + at);
    unsigned words = _mm512_cmpneq_epi64_mask(there, shadow);

    if (words && m->own != m->public)
        _mm512_mask_storeu_epi8(m->own + at, _mm512_cmpneq_epi8_mask(there, shadow), there);
    if (words)
        _mm512_storeu_si512(m->shadow + at, there);
    return words;
}

static bool has_lines(void)
{
    return __builtin_cpu_supports("avx512bw");
}
#else
static unsigned line_in(struct rp_mirror *m, size_t at)
{
    (void)m, (void)at;
    return 0;
}

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
        word_out(m, at, width);
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

static bool word_in(struct rp_mirror *m, size_t at, size_t width)
{
    uint64_t there = load_public(m->public + at, width), theirs = full_bytes(there ^ load(m->shadow + at, width));

    if (theirs == 0)
        return false;
    memcpy(m->shadow + at, &there, width);
    if (m->own != m->public) {
        uint64_t own = (load(m->own + at, width) & ~theirs) | (there & theirs);
        memcpy(m->own + at, &own, width);
    }
    return true;
}

struct run {
    size_t first, last; /* last 0: none */
    const uint8_t *now;
    void (*came)(void *, size_t, const uint8_t *, size_t);
    void *data;
};

static void end_run(const struct run *run)
{
    if (run->last)
        run->came(run->data, run->first, run->now + run->first, run->last - run->first);
}

static void add_to_run(struct run *run, size_t at, size_t width)
{
    bool begins = !run->last || at - run->last > GAP;

    if (begins)
        end_run(run);
    run->first = begins ? at : run->first;
    run->last = at + width;
}

static void add_words_to_run(struct run *run, size_t at, unsigned words)
{
    enum { ALL = 0xff };

    if (words == ALL)
        add_to_run(run, at, LINE);
    for (size_t i = 0; i < LINE / WORD && words != ALL; i++)
        if (words >> i & 1)
            add_to_run(run, at + i * WORD, WORD);
}

static void part_in(struct rp_mirror *m, size_t at, size_t end, void (*came)(void *, size_t, const uint8_t *, size_t), void *data)
{
    bool by_lines = !rp_mirror_only_words && has_lines();
    struct run run = {.now = m->own != m->public ? m->own : m->shadow, .came = came, .data = data}; /* the same memory may have changed again */

    for (size_t width; at < end; at += width) {
        if (by_lines && end - at >= LINE && (uintptr_t)(m->public + at) % LINE == 0) {
            width = LINE;
            add_words_to_run(&run, at, line_in(m, at));
            continue;
        }
        width = width_at(m, at, end);
        if (word_in(m, at, width))
            add_to_run(&run, at, width);
    }
    end_run(&run);
}

void rp_mirror_in(struct rp_mirror *m, size_t at, size_t length, void (*came)(void *, size_t, const uint8_t *, size_t), void *data)
{
    for (size_t end = at + length, part; at < end; at += part) {
        part = PAGE - at % PAGE < end - at ? PAGE - at % PAGE : end - at;
        if (memcmp(m->public + at, m->shadow + at, part) != 0)
            part_in(m, at, at + part, came, data);
    }
}
