/* SPDX-License-Identifier: MIT */
#include "window/shadow.h"

#include <stdbool.h>
#include <string.h>

#include "window/byte_planes.h"
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { WORD = sizeof(uint64_t), LINE = 64, PAGE = RP_MIRROR_RUN, GAP = 8 };
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
static size_t width_at(const struct rp_shadow *m, size_t at, size_t end)
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

/* Pages of public memory: so a page begins with a line. */
static size_t rest_of_page(const struct rp_shadow *m, size_t at, size_t end)
{
    size_t rest = PAGE - (uintptr_t)(m->public + at) % PAGE;

    return rest < end - at ? rest : end - at;
}

static uint8_t *stored_at(const struct rp_shadow *m, size_t at)
{
    return m->stored + ((uintptr_t)(m->public + at) / LINE - (uintptr_t)m->public / LINE);
}

size_t rp_shadow_lines(size_t size)
{
    return size / LINE + 2;
}

struct rp_shadow rp_shadow_part(const struct rp_shadow *m, size_t at, size_t size)
{
    return (struct rp_shadow){m->own + at, m->public + at, m->shadow + at, size,
                              m->stored ? stored_at(m, at) : NULL};
}

/* Processors fetch ahead, but not over the end of a page. */
static void fetch(const uint8_t *at)
{
    for (size_t i = 0; i < 4; i++)
        __builtin_prefetch(at + i * LINE);
}

/* Out */

/* Stores the bytes of `own` that the mask `own_bytes` selects. */
#define MERGE(type)                                                                                \
    static void merge_##type(uint8_t *public, uint64_t own, uint64_t own_bytes)                    \
    {                                                                                              \
        type value, mask, there = __atomic_load_n((type *)public, __ATOMIC_RELAXED);               \
        memcpy(&value, &own, sizeof value);                                                        \
        memcpy(&mask, &own_bytes, sizeof mask);                                                    \
        while (!__atomic_compare_exchange_n((type *)public, &there,                                \
                                            (type)((there & ~mask) | (value & mask)), true,        \
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))                   \
            ;                                                                                      \
    }
MERGE(word)
MERGE(half)
MERGE(quarter)

static void word_out(struct rp_shadow *m, size_t at, size_t width)
{
    uint64_t own = load(m->own + at, width),
             own_bytes = full_bytes(own ^ load(m->shadow + at, width));

    if (own_bytes == 0)
        return;
    if (width == WORD && own_bytes == UINT64_MAX)
        __atomic_store_n((word *)(m->public + at), own, __ATOMIC_RELAXED);
    else if (width == WORD)
        merge_word(m->public + at, own, own_bytes);
    else if (width == sizeof(half))
        merge_half(m->public + at, own, own_bytes);
    else if (width == sizeof(quarter))
        merge_quarter(m->public + at, own, own_bytes);
    else
        __atomic_store_n(m->public + at, m->own[at], __ATOMIC_RELAXED);
    memcpy(m->shadow + at, &own, width);
    if (m->stored)
        *stored_at(m, at) = 1;
}

/* As many lines from here as there are; where the processor cannot store some bytes of a line
 * alone, none. A word at a time takes ten times as long. */
#ifdef __x86_64__
__attribute__((target("avx512bw"))) static size_t lines_out(struct rp_shadow *m, size_t at,
                                                            size_t end)
{
    enum {
        AHEAD = 8 * LINE
    }; /* memory that is only stored to is not fetched by itself before it is */
    size_t first = at;
    uint8_t *stored = m->stored ? stored_at(m, at) : NULL;

    for (; end - at >= LINE; at += LINE) {
        __m512i own = _mm512_loadu_si512(m->own + at);
        __mmask64 own_bytes = _mm512_cmpneq_epi8_mask(own, _mm512_loadu_si512(m->shadow + at));
        if (own_bytes) {
            __builtin_prefetch(m->public + at + AHEAD); /* likely to change, too */
            _mm512_mask_storeu_epi8(m->public + at, own_bytes, own);
            _mm512_storeu_si512(m->shadow + at, own);
            if (stored)
                stored[(at - first) / LINE] = 1;
        }
    }
    return at - first;
}

/* Finds the first of these lines in which others stored, and copies it in. Returns where it is, or
 * `end` if there is none; sets a bit for each byte that they stored. */
__attribute__((target("avx512bw"))) static size_t line_in(struct rp_shadow *m, size_t at,
                                                          size_t end, uint64_t *theirs)
{
    for (; at < end; at += LINE) {
        __m512i there = _mm512_loadu_si512(m->public + at),
                shadow = _mm512_loadu_si512(m->shadow + at);
        *theirs = _mm512_cmpneq_epi8_mask(there, shadow);
        if (*theirs == 0)
            continue;
        if (m->stored && _mm512_cmpneq_epi8_mask(_mm512_loadu_si512(m->own + at), shadow))
            *stored_at(m, at) = 1;
        if (m->own != m->public)
            _mm512_mask_storeu_epi8(m->own + at, *theirs, there);
        _mm512_storeu_si512(m->shadow + at, there);
        break;
    }
    return at;
}

static bool has_lines(void)
{
    return __builtin_cpu_supports("avx512bw");
}
#else
static size_t line_in(struct rp_shadow *m, size_t at, size_t end, uint64_t *theirs)
{
    (void)m, (void)at, (void)theirs;
    return end;
}

static size_t lines_out(struct rp_shadow *m, size_t at, size_t end)
{
    (void)m, (void)at, (void)end;
    return 0;
}

static bool has_lines(void)
{
    return false;
}
#endif

bool rp_shadow_only_words;

static bool by_lines(void)
{
    return !rp_shadow_only_words && has_lines();
}

static void part_out(struct rp_shadow *m, size_t at, size_t end)
{
    for (size_t width; at < end; at += width) {
        if (by_lines() && (uintptr_t)(m->public + at) % LINE == 0 &&
            (width = lines_out(m, at, end)) > 0)
            continue;
        width = width_at(m, at, end);
        word_out(m, at, width);
    }
}

void rp_shadow_out(struct rp_shadow *m, size_t at, size_t length)
{
    if (m->own == m->public)
        return;
    if (by_lines()) {
        part_out(m, at, at + length);
        return;
    }
    for (size_t end = at + length, part; at < end; at += part) {
        part = rest_of_page(m, at, end);
        fetch(m->own + at + part);
        fetch(m->shadow + at + part);
        if (memcmp(m->own + at, m->shadow + at, part) != 0)
            part_out(m, at, at + part);
    }
}

/* In */

/* The bytes of a word that others stored, a bit each. */
static uint64_t word_in(struct rp_shadow *m, size_t at, size_t width)
{
    uint64_t there = load_public(m->public + at, width),
             theirs = full_bytes(there ^ load(m->shadow + at, width)), bits = 0;

    if (theirs == 0)
        return 0;
    memcpy(m->shadow + at, &there, width);
    if (m->own != m->public) {
        uint64_t own = (load(m->own + at, width) & ~theirs) | (there & theirs);
        memcpy(m->own + at, &own, width);
    }
    for (size_t i = 0; i < width; i++)
        bits |= (uint64_t)(((const uint8_t *)&theirs)[i] & 1) << i;
    return bits;
}

struct run {
    size_t first, last; /* last 0: none */
    unsigned lanes;
    bool whole; /* all lanes, since the program stored there, too */
    const struct rp_shadow *mirror;
    const uint8_t *now;
    rp_shadow_changed *changed;
    void *data;
};

static void end_run(const struct run *run)
{
    if (run->last)
        run->changed(run->data, run->first, run->now + run->first, run->last - run->first,
                     run->lanes);
}

static void add_to_run(struct run *run, size_t at, size_t width, unsigned lanes)
{
    bool whole = !run->mirror->stored || *stored_at(run->mirror, at);
    bool begins = !run->last || at - run->last > GAP || whole != run->whole;

    if (begins) {
        end_run(run);
        run->first = at;
        run->lanes = 0;
    }
    run->whole = whole;
    run->lanes |= whole ? RP_LANES_ALL : lanes;
    run->last = at + width;
}

static void add_line_to_run(struct run *run, size_t at, uint64_t theirs)
{
    if (full_bytes(theirs) == UINT64_MAX) { /* some of each word */
        theirs |= theirs >> 32;
        theirs |= theirs >> 16;
        add_to_run(run, at, LINE, (theirs | theirs >> 8) & RP_LANES_ALL);
        return;
    }
    for (size_t i = 0; i < LINE / WORD; i++) {
        unsigned lanes = theirs >> i * WORD & RP_LANES_ALL;
        if (lanes)
            add_to_run(run, at + i * WORD, WORD, lanes);
    }
}

/* What the program stored is known when it goes out; it may not have gone yet. */
static void mark_stored(struct rp_shadow *m, size_t at, size_t end)
{
    if (!m->stored || memcmp(m->own + at, m->shadow + at, end - at) == 0)
        return;
    for (size_t part; at < end; at += part) {
        part = LINE - (uintptr_t)(m->public + at) % LINE;
        part = part < end - at ? part : end - at;
        if (memcmp(m->own + at, m->shadow + at, part) != 0)
            *stored_at(m, at) = 1;
    }
}

static void words_in(struct rp_shadow *m, size_t at, size_t end, struct run *run)
{
    if (memcmp(m->public + at, m->shadow + at, end - at) == 0)
        return;
    mark_stored(m, at, end);
    for (size_t width; at < end; at += width) {
        width = width_at(m, at, end);
        uint64_t theirs = word_in(m, at, width);
        if (theirs)
            add_to_run(run, at, width, width == WORD ? (unsigned)theirs : RP_LANES_ALL);
    }
}

static void lines_in(struct rp_shadow *m, size_t at, size_t end, struct run *run)
{
    for (uint64_t theirs; (at = line_in(m, at, end, &theirs)) < end; at += LINE)
        add_line_to_run(run, at, theirs);
}

static void part_in(struct rp_shadow *m, size_t at, size_t end, rp_shadow_changed *changed,
                    void *data)
{
    struct run run = {.mirror = m,
                      .now = m->own != m->public ? m->own : m->shadow,
                      .changed = changed,
                      .data = data}; /* the same memory may have changed again */
    size_t lines =
        at + (LINE - (uintptr_t)(m->public + at) % LINE) % LINE; /* where the first one begins */

    if (by_lines() && lines < end) {
        size_t rest = end - (end - lines) % LINE;
        words_in(m, at, lines, &run);
        lines_in(m, lines, rest, &run);
        at = rest;
    }
    words_in(m, at, end, &run);
    end_run(&run);
}

void rp_shadow_in(struct rp_shadow *m, size_t at, size_t length, rp_shadow_changed *changed,
                  void *data)
{
    for (size_t end = at + length, part; at < end; at += part) {
        part = rest_of_page(m, at, end);
        fetch(m->public + at + part);
        fetch(m->shadow + at + part);
        part_in(m, at, at + part, changed, data);
    }
}
