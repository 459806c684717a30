/* SPDX-License-Identifier: MIT */
/* Blocks are kept in the order of their addresses. The static data is a block like any other. */
#include "shmem/symmetric.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "window/shadow.h"
#include "partial/partial.h"
#include "reprise.h"

struct rp_symmetric_range rp_symmetric_heap, rp_symmetric_data;

struct block {
    struct rp_shadow memory;
    bool is_small;
};

static struct block *blocks;
static size_t block_count, room;

static const struct rp_function f_symmetric = {RP_SYMMETRIC_NUMBER, "symmetric"};
enum { IN_DATA = 1, IN_HEAP };

static bool is_within(const struct rp_symmetric_range *range, uintptr_t at)
{
    return at - range->from < range->to - range->from;
}

void *rp_symmetric_own(void *public)
{
    uintptr_t at = (uintptr_t) public;

    if (is_within(&rp_symmetric_heap, at - (uintptr_t)rp_symmetric_heap.shift))
        at -= (uintptr_t)rp_symmetric_heap.shift;
    else if (is_within(&rp_symmetric_data, at - (uintptr_t)rp_symmetric_data.shift))
        at -= (uintptr_t)rp_symmetric_data.shift;
    return (void *)at;
}

int64_t rp_symmetric_number(const volatile void *own)
{
    uintptr_t at = (uintptr_t)own;

    if (is_within(&rp_symmetric_heap, at))
        return (int64_t)(at - rp_symmetric_heap.from) << 2 | IN_HEAP;
    return is_within(&rp_symmetric_data, at) ? (int64_t)(at - rp_symmetric_data.from) << 2 | IN_DATA
                                             : 0;
}

/* The first block that ends behind an address. */
static size_t place_of(uintptr_t at)
{
    size_t low = 0, high = block_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)blocks[middle].memory.own + blocks[middle].memory.size <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct block *block_at(const void *own)
{
    size_t i = place_of((uintptr_t)own);

    return i < block_count && (uintptr_t)blocks[i].memory.own <= (uintptr_t)own ? &blocks[i] : NULL;
}

/* The smallest, as many as have so many bytes together. */
static void choose_small(void)
{
    enum { FEW_BYTES = 1 << 16 };
    size_t limit = 0;

    for (size_t next = 8; next <= FEW_BYTES; next *= 2) {
        size_t bytes = 0;
        for (size_t i = 0; i < block_count && bytes <= FEW_BYTES; i++)
            bytes += blocks[i].memory.size <= next ? blocks[i].memory.size : 0;
        if (bytes > FEW_BYTES)
            break;
        limit = next;
    }
    for (size_t i = 0; i < block_count; i++)
        blocks[i].is_small = blocks[i].memory.size <= limit;
}

static uint8_t *make_shadow(size_t size)
{
    uint8_t *shadow = calloc(1, size + 1);

    if (!shadow)
        rp_bug(__FILE__, __LINE__, "out of memory");
    return shadow;
}

void rp_symmetric_add(void *own, size_t size, uint8_t *shadow)
{
    size_t at = place_of((uintptr_t)own);

    if (size == 0)
        return;
    if (block_count == room) {
        room = room ? 2 * room : 64;
        blocks = realloc(blocks, room * sizeof *blocks);
        if (!blocks)
            rp_bug(__FILE__, __LINE__, "out of memory");
    }
    memmove(&blocks[at + 1], &blocks[at], (block_count++ - at) * sizeof *blocks);
    if (!shadow)
        memset(own, 0, size);
    if (!shadow && !rp_partial.is_feeding)
        shadow = make_shadow(size);
    blocks[at] = (struct block){
        .memory = {.own = own, .public = rp_symmetric_public(own), .shadow = shadow, .size = size}};
    choose_small();
}

void rp_symmetric_remove(void *own)
{
    struct block *b = block_at(own);

    if (!b || b->memory.own != own)
        return;
    free(b->memory.shadow);
    memmove(b, b + 1, (size_t)(blocks + --block_count - b) * sizeof *blocks);
    choose_small();
}

size_t rp_symmetric_size(void *own)
{
    const struct block *b = block_at(own);

    return b && b->memory.own == own ? b->memory.size : 0;
}

/* Recording */

struct incoming {
    struct block *block;
    bool begun;
};

static void put_run(void *data, size_t at, const uint8_t *bytes, size_t length, unsigned lanes)
{
    struct incoming *incoming = data;
    uintptr_t address = (uintptr_t)incoming->block->memory.own + at;
    bool in_heap = is_within(&rp_symmetric_heap, address);

    (void)lanes;
    if (!incoming->begun)
        rp_data_begin(rp_partial.writer, f_symmetric.number, f_symmetric.name);
    incoming->begun = true;
    rp_partial_record_number(in_heap ? IN_HEAP : IN_DATA);
    rp_partial_record_number(address - (in_heap ? rp_symmetric_heap.from : rp_symmetric_data.from));
    rp_data_put_content(rp_partial.writer, bytes, length);
}

static void end_entry(const struct incoming *incoming)
{
    if (!incoming->begun)
        return;
    rp_partial_record_number(0);
    rp_partial_record_end();
}

void rp_symmetric_out(enum rp_look look)
{
    for (struct block *b = blocks; b < blocks + block_count; b++)
        if (b->is_small || look == RP_LOOK_ALL)
            rp_shadow_out(&b->memory, 0, b->memory.size);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void rp_symmetric_in(enum rp_look look)
{
    struct incoming incoming = {0};

    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (struct block *b = blocks; b < blocks + block_count; b++)
        if (b->is_small || look == RP_LOOK_ALL) {
            incoming.block = b;
            rp_shadow_in(&b->memory, 0, b->memory.size, put_run, &incoming);
        }
    end_entry(&incoming);
}

void rp_symmetric_put(void *own)
{
    struct incoming incoming = {.block = block_at(own), .begun = true};

    if (incoming.block)
        rp_shadow_in(&incoming.block->memory, 0, incoming.block->memory.size, put_run, &incoming);
    rp_partial_record_number(0);
}

/* The part of a range that is in its block. */
static size_t clip(const struct block *b, const void *own, size_t length)
{
    size_t at = (size_t)((const uint8_t *)own - b->memory.own);

    return length < b->memory.size - at ? length : b->memory.size - at;
}

void rp_symmetric_range_out(const void *own, size_t length)
{
    struct block *b = block_at(own);

    if (b)
        rp_shadow_out(&b->memory, (size_t)((const uint8_t *)own - b->memory.own),
                      clip(b, own, length));
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void rp_symmetric_range_in(const void *own, size_t length)
{
    struct incoming incoming = {.block = block_at(own)};

    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (incoming.block)
        rp_shadow_in(&incoming.block->memory,
                     (size_t)((const uint8_t *)own - incoming.block->memory.own),
                     clip(incoming.block, own, length), put_run, &incoming);
    end_entry(&incoming);
}

/* Feeding */

void rp_symmetric_take(void)
{
    for (uint64_t where; (where = rp_partial_feed_number()) != 0;) {
        uint64_t at = rp_partial_feed_number();
        size_t length;
        const uint8_t *content = rp_data_get_content(rp_partial.reader, &length);
        const struct rp_symmetric_range *range =
            where == IN_HEAP ? &rp_symmetric_heap : &rp_symmetric_data;
        if (!content)
            return; /* the caller reports why */
        if (where > IN_HEAP || at > range->to - range->from ||
            length > range->to - range->from - at) {
            rp_error("not the recorded run: others wrote into symmetric memory that is not there");
            rp_data_end_job(REPRISE_EXIT_DIVERGED);
        }
        memcpy((void *)(range->from + at), content, length);
    }
}
