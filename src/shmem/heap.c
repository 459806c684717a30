/* SPDX-License-Identifier: MIT */
/*
 * The symmetric heap, contexts, and questions: the functions that are written by hand, for both
 * sides. Allocation is collective, so changes pass as in a barrier. An entry of it says where the
 * block is, which is the same place when the PE is fed, and what others have in it already.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "reprise.h"
#include "shmem/sides.h"

/* Their numbers are behind those of the generated ones. */
enum { FIRST = 4000 };
#define FUNCTION(offset, name)                                                                     \
    static const struct rp_function f_##name = {FIRST + (offset), "shmem_" #name}
FUNCTION(0, malloc);
FUNCTION(1, calloc);
FUNCTION(2, align);
FUNCTION(3, realloc);
FUNCTION(4, free);
FUNCTION(5, malloc_with_hint);
FUNCTION(6, ctx_create);
FUNCTION(7, ctx_destroy);
FUNCTION(8, query_thread);
FUNCTION(9, info_get_version);
FUNCTION(10, info_get_name);
FUNCTION(11, pe_accessible);
FUNCTION(12, addr_accessible);

/* Allocation */

static void before_allocation(void)
{
    rp_symmetric_out(RP_LOOK_ALL);
    rp_data_off++;
}

/* `old`: what the program had in the block before, `kept` bytes of it, taken over; NULL: a new
 * one. */
static void new_block(void *own, size_t size, uint8_t *old, size_t kept)
{
    uint8_t *shadow = old ? calloc(1, size + 1) : NULL;

    if (!shadow) {
        rp_symmetric_add(own, size, NULL);
        return;
    }
    memcpy(shadow, old, kept);
    memcpy(own, shadow, size);
    free(old);
    rp_symmetric_add(own, size, shadow);
}

/* The entry up to the place; NULL: there is no block, and nothing follows. */
static void *put_place(const struct rp_function *f, uint32_t numbers, void *public)
{
    void *own = public ? rp_symmetric_own(public) : NULL;

    rp_data_off--;
    if (public && own == public) {
        rp_error("%s: the symmetric heap has memory where it was not expected", f->name);
        rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
    }
    rp_symmetric_in(RP_LOOK_ALL);
    rp_partial_record_begin(f, true, rp_shmem_check(numbers), 0);
    rp_partial_record_number(own ? (uintptr_t)own - rp_symmetric_heap.from + 1 : 0);
    if (!own)
        rp_partial_record_end();
    return own;
}

static void *take_place(const struct rp_function *f, uint32_t numbers, size_t size)
{
    rp_partial_feed_begin(f, true, rp_shmem_check(numbers));
    uint64_t at = rp_partial_feed_number(), all = rp_symmetric_heap.to - rp_symmetric_heap.from;
    rp_partial_feed_end();
    if (at > 0 && (at - 1 >= all || size > all - (at - 1))) {
        rp_error("not the recorded run: %s was given memory that is not of the symmetric heap",
                 f->name);
        rp_data_end_job(REPRISE_EXIT_DIVERGED);
    }
    return at > 0 ? (void *)(rp_symmetric_heap.from + at - 1) : NULL;
}

/* The rest of the entry. */
static void *fill_block(void *own, size_t size, uint8_t *old, size_t kept)
{
    new_block(own, size, old, kept);
    if (rp_partial.is_feeding) {
        rp_symmetric_take();
        rp_partial_feed_end();
    } else {
        rp_symmetric_put(own);
        rp_partial_record_end();
    }
    return own;
}

static void *allocated(const struct rp_function *f, uint32_t numbers, void *public, size_t size)
{
    void *own = put_place(f, numbers, public);

    return own ? fill_block(own, size, NULL, 0) : NULL;
}

static void *allocate_feeding(const struct rp_function *f, uint32_t numbers, size_t size)
{
    void *own = take_place(f, numbers, size);

    return own ? fill_block(own, size, NULL, 0) : NULL;
}

void *rp_shmem_malloc(void *(*real)(size_t), size_t size)
{
    uint32_t numbers = rp_check(0, (int64_t)size);

    if (rp_partial.is_feeding)
        return allocate_feeding(&f_malloc, numbers, size);
    before_allocation();
    return allocated(&f_malloc, numbers, real(size), size);
}

void *rp_shmem_malloc_with_hint(void *(*real)(size_t, long), size_t size, long hint)
{
    uint32_t numbers = rp_check(rp_check(0, (int64_t)size), hint);

    if (rp_partial.is_feeding)
        return allocate_feeding(&f_malloc_with_hint, numbers, size);
    before_allocation();
    return allocated(&f_malloc_with_hint, numbers, real(size, hint), size);
}

void *rp_shmem_calloc(void *(*real)(size_t, size_t), size_t count, size_t size)
{
    uint32_t numbers = rp_check(rp_check(0, (int64_t)count), (int64_t)size);

    if (rp_partial.is_feeding)
        return allocate_feeding(&f_calloc, numbers, count * size);
    before_allocation();
    return allocated(&f_calloc, numbers, real(count, size), count * size);
}

void *rp_shmem_align(void *(*real)(size_t, size_t), size_t align, size_t size)
{
    uint32_t numbers = rp_check(rp_check(0, (int64_t)align), (int64_t)size);

    if (rp_partial.is_feeding)
        return allocate_feeding(&f_align, numbers, size);
    before_allocation();
    return allocated(&f_align, numbers, real(align, size), size);
}

/* What the program has in a block that is to be moved: a copy, and the block is gone. */
static uint8_t *take_out(void *block, size_t size, size_t *kept)
{
    size_t before = block ? rp_symmetric_size(block) : 0;
    uint8_t *old = malloc(before + 1);

    if (!old)
        rp_bug(__FILE__, __LINE__, "out of memory");
    *kept = before < size ? before : size;
    if (before > 0)
        memcpy(old, block, before);
    rp_symmetric_remove(block);
    return old;
}

/* If there is no new block, the old one stays, unless it was asked to go. */
void *rp_shmem_realloc(void *(*real)(void *, size_t), void *block, size_t size)
{
    uint32_t numbers = rp_check(rp_check(0, rp_symmetric_number(block)), (int64_t)size);
    size_t kept;
    void *own;

    if (rp_partial.is_feeding) {
        own = take_place(&f_realloc, numbers, size);
    } else {
        before_allocation();
        own = put_place(&f_realloc, numbers, real(block ? rp_symmetric_public(block) : NULL, size));
    }
    if (!own) {
        if (size == 0)
            rp_symmetric_remove(block);
        return NULL;
    }
    uint8_t *old = take_out(block, size, &kept);
    return fill_block(own, size, old, kept);
}

void rp_shmem_free(void (*real)(void *), void *block)
{
    uint32_t numbers = rp_check(0, rp_symmetric_number(block));

    if (!rp_partial.is_feeding) {
        before_allocation();
        rp_symmetric_remove(block);
        real(block ? rp_symmetric_public(block) : NULL);
        rp_data_off--;
        rp_symmetric_in(RP_LOOK_ALL);
        rp_partial_record_begin(&f_free, true, rp_shmem_check(numbers), 0);
        rp_partial_record_end();
        return;
    }
    rp_partial_feed_begin(&f_free, true, rp_shmem_check(numbers));
    rp_partial_feed_end();
    rp_symmetric_remove(block);
}

/* Contexts: feeding, a number. */

int rp_shmem_ctx_create(int (*real)(long, shmem_ctx_t *), long options, shmem_ctx_t *ctx)
{
    static uintptr_t made;
    int rc;

    if (rp_partial.is_feeding) {
        rc = rp_partial_feed_begin(&f_ctx_create, true, rp_shmem_check(rp_check(0, options)));
        rp_partial_feed_end();
        if (rc == 0)
            *ctx = (shmem_ctx_t)(++made * sizeof(void *));
        return rc;
    }
    rp_data_off++;
    rc = real(options, ctx);
    rp_data_off--;
    rp_partial_record_begin(&f_ctx_create, true, rp_shmem_check(rp_check(0, options)), rc);
    rp_partial_record_end();
    return rc;
}

void rp_shmem_ctx_destroy(void (*real)(shmem_ctx_t), shmem_ctx_t ctx)
{
    const void *context = rp_shmem_context(ctx);

    if (!rp_shmem_order(&f_ctx_destroy, 0, true, context))
        return;
    rp_data_off++;
    real(ctx);
    rp_data_off--;
    rp_shmem_ordered(&f_ctx_destroy, 0, true, context);
}

/* Questions */

int rp_shmem_my_pe(int (*real)(void))
{
    (void)real;
    return rp_shmem_me;
}

int rp_shmem_n_pes(int (*real)(void))
{
    (void)real;
    return rp_shmem_pes;
}

static void ask(const struct rp_function *f, uint32_t numbers, void *answer, size_t size)
{
    if (rp_partial.is_feeding) {
        rp_partial_feed_begin(f, true, rp_shmem_check(numbers));
        rp_partial_feed_bytes(answer, size);
        rp_partial_feed_end();
        return;
    }
    rp_partial_record_begin(f, true, rp_shmem_check(numbers), 0);
    rp_partial_record_bytes(answer, size);
    rp_partial_record_end();
}

void rp_shmem_query_thread(void (*real)(int *), int *provided)
{
    if (!rp_partial.is_feeding)
        real(provided);
    ask(&f_query_thread, 0, provided, sizeof *provided);
}

void rp_shmem_info_get_version(void (*real)(int *, int *), int *major, int *minor)
{
    int version[2];

    if (!rp_partial.is_feeding)
        real(&version[0], &version[1]);
    ask(&f_info_get_version, 0, version, sizeof version);
    *major = version[0];
    *minor = version[1];
}

void rp_shmem_info_get_name(void (*real)(char *), char *name)
{
    char text[SHMEM_MAX_NAME_LEN + 1] = "";

    if (!rp_partial.is_feeding)
        real(text);
    ask(&f_info_get_name, 0, text, sizeof text);
    strcpy(name, text);
}

int rp_shmem_pe_accessible(int (*real)(int), int pe)
{
    int is = rp_partial.is_feeding ? 0 : real(pe);

    ask(&f_pe_accessible, rp_check(0, pe), &is, sizeof is);
    return is;
}

int rp_shmem_addr_accessible(int (*real)(const void *, int), const void *addr, int pe)
{
    int is = rp_partial.is_feeding ? 0 : real(rp_symmetric_public(addr), pe);

    ask(&f_addr_accessible, rp_check(rp_check(0, rp_symmetric_number(addr)), pe), &is, sizeof is);
    return is;
}

/* Stores of others through such an address would be seen without any call, and so would ours by
 * them. */
void *rp_shmem_ptr(void *(*real)(const void *, int), const void *addr, int pe)
{
    (void)real;
    return pe == rp_shmem_me ? (void *)addr : NULL;
}
