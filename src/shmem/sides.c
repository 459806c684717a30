/* SPDX-License-Identifier: MIT */
/*
 * Where changes of symmetric memory pass:
 * - what the program stored goes out before calls that order or complete (fence, quiet, unlock),
 * wait or meet; of the small blocks, before every access of a PE's memory, since programs store
 * flags and announce them without a fence;
 * - what others stored comes in after calls that wait or meet, tests that say yes and locks; and
 * after every call that returns something from a PE's memory, by which the program may know what
 * others did (`--allow shmem_late`: of the small blocks only);
 * - an access of the PE's own memory takes and brings its range, at once; and what is not there at
 * once at the next quiet;
 * - all of it besides, but seldom (rp_windows_glance).
 *
 * What came in stands before the entry of the call, so every call after which something comes in
 * has an entry. Updates of other PEs have none: their numbers are part of the check of the next
 * entry.
 */
#include "shmem/sides.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "reprise.h"

static struct rp_shmem_read *reads, **last_read = &reads; /* not complete, the oldest first */
static bool updated_own;                                  /* since the last quiet */

/* Returns which blocks are looked at after a call that returned something from a PE's memory. */
static enum rp_look look_after_result(void)
{
    static int late = -1;

    if (late < 0)
        late = rp_list_has(rp_setting("REPRISE_ALLOW"), "shmem_late");
    return late ? RP_LOOK_FEW : RP_LOOK_ALL;
}

uint32_t rp_shmem_check(uint32_t numbers)
{
    uint32_t check = rp_check(rp_windows.updates, numbers);

    rp_windows.updates = 0;
    return check;
}

static void put_entry(const struct rp_function *f, uint32_t numbers)
{
    rp_partial_record_begin(f, true, rp_shmem_check(numbers), 0);
}

static void take_entry(const struct rp_function *f, uint32_t numbers)
{
    rp_partial_feed_begin(f, true, rp_shmem_check(numbers));
}

/* Bytes from the first to the last. */
static size_t span_of(size_t size, ptrdiff_t stride, size_t count)
{
    return count == 0 ? 0 : ((count - 1) * (size_t)(stride > 0 ? stride : 1) + 1) * size;
}

static uint32_t access_numbers(const void *at, ptrdiff_t stride, size_t count, int pe)
{
    return rp_check(rp_check(rp_check(rp_check(0, rp_symmetric_number(at)), stride),
                             (int64_t)count),
                    pe);
}

static void about_to_access(const void *at, size_t span, int pe)
{
    if (pe == rp_shmem_me)
        rp_symmetric_range_out(at, span);
    rp_symmetric_out(RP_LOOK_FEW);
}

/* Updates */

bool rp_shmem_update(const struct rp_function *f, const void *at, size_t size, ptrdiff_t stride,
                     size_t count, int pe)
{
    if (!rp_partial.is_feeding) {
        about_to_access(at, span_of(size, stride, count), pe);
        return true;
    }
    if (pe == rp_shmem_me) {
        take_entry(f, access_numbers(at, stride, count, pe));
        rp_partial_feed_end();
    } else {
        rp_windows.updates = rp_check(rp_windows.updates, access_numbers(at, stride, count, pe));
    }
    return false;
}

void rp_shmem_updated(const struct rp_function *f, const void *at, size_t size, ptrdiff_t stride,
                      size_t count, int pe)
{
    if (pe != rp_shmem_me) {
        rp_windows.updates = rp_check(rp_windows.updates, access_numbers(at, stride, count, pe));
        return;
    }
    updated_own = true;
    rp_symmetric_range_in(at, span_of(size, stride, count));
    put_entry(f, access_numbers(at, stride, count, pe));
    rp_partial_record_end();
}

/* Reads */

bool rp_shmem_fetch(const struct rp_function *f, const void *at, size_t size, int pe, void *result,
                    size_t result_size)
{
    if (!rp_partial.is_feeding) {
        about_to_access(at, size, pe);
        return true;
    }
    take_entry(f, access_numbers(at, 1, 1, pe));
    rp_partial_feed_bytes(result, result_size);
    rp_partial_feed_end();
    return false;
}

void rp_shmem_fetched(const struct rp_function *f, const void *at, size_t size, int pe,
                      const void *result, size_t result_size)
{
    if (pe == rp_shmem_me) {
        updated_own = true;
        rp_symmetric_range_in(at, size);
    }
    rp_symmetric_in(look_after_result());
    put_entry(f, access_numbers(at, 1, 1, pe));
    rp_partial_record_bytes(result, result_size);
    rp_partial_record_end();
}

static void put_read(const struct rp_shmem_read *r)
{
    size_t bytes = r->size * r->count;

    if (r->stride == 1 || r->count <= 1) {
        rp_data_put_content(rp_partial.writer, r->to, bytes);
        return;
    }
    uint8_t *packed = malloc(bytes);
    if (!packed)
        rp_bug(__FILE__, __LINE__, "out of memory");
    for (size_t i = 0; i < r->count; i++)
        memcpy(packed + i * r->size, (char *)r->to + (ptrdiff_t)i * r->stride * (ptrdiff_t)r->size,
               r->size);
    rp_data_put_content(rp_partial.writer, packed, bytes);
    free(packed);
}

static void take_read(const struct rp_shmem_read *r)
{
    size_t bytes;
    const uint8_t *content = rp_data_get_content(rp_partial.reader, &bytes);

    if (!content) {
        rp_partial_feed_end(); /* reports why, if it could not be read */
        return;
    }
    if (bytes != r->size * r->count) {
        rp_error("not the recorded run: call %llu reads %zu bytes, %zu were recorded",
                 (unsigned long long)rp_data_read_entries(rp_partial.reader), r->size * r->count,
                 bytes);
        rp_data_end_job(REPRISE_EXIT_DIVERGED);
    }
    for (size_t i = 0; r->stride != 1 && i < r->count; i++)
        memcpy((char *)r->to + (ptrdiff_t)i * r->stride * (ptrdiff_t)r->size, content + i * r->size,
               r->size);
    if (r->stride == 1)
        memcpy(r->to, content, bytes);
}

bool rp_shmem_get(const struct rp_function *f, const struct rp_shmem_read *read, const void *from,
                  ptrdiff_t stride, int pe)
{
    if (!rp_partial.is_feeding) {
        about_to_access(from, span_of(read->size, stride, read->count), pe);
        return true;
    }
    take_entry(f, access_numbers(from, stride, read->count, pe));
    take_read(read);
    rp_partial_feed_end();
    return false;
}

void rp_shmem_get_end(const struct rp_function *f, const struct rp_shmem_read *read,
                      const void *from, ptrdiff_t stride, int pe)
{
    rp_symmetric_in(look_after_result());
    put_entry(f, access_numbers(from, stride, read->count, pe));
    put_read(read);
    rp_partial_record_end();
}

static void keep(const struct rp_shmem_read *read)
{
    struct rp_shmem_read *r = malloc(sizeof *r);

    if (!r)
        rp_bug(__FILE__, __LINE__, "out of memory");
    *r = *read;
    *last_read = r;
    last_read = &r->next;
}

bool rp_shmem_get_nbi(const struct rp_function *f, const struct rp_shmem_read *read,
                      const void *from, ptrdiff_t stride, int pe)
{
    (void)f;
    if (!rp_partial.is_feeding) {
        about_to_access(from, span_of(read->size, stride, read->count), pe);
        return true;
    }
    rp_windows.updates =
        rp_check(rp_windows.updates, access_numbers(from, stride, read->count, pe));
    keep(read);
    return false;
}

void rp_shmem_get_nbi_end(const struct rp_function *f, const struct rp_shmem_read *read,
                          const void *from, ptrdiff_t stride, int pe)
{
    (void)f;
    rp_windows.updates =
        rp_check(rp_windows.updates, access_numbers(from, stride, read->count, pe));
    keep(read);
}

/* Inside an entry: reads of this context are complete. */
static void complete_reads(const void *context)
{
    for (struct rp_shmem_read **at = &reads; *at;) {
        struct rp_shmem_read *r = *at;
        if (r->context != context) {
            at = &r->next;
            continue;
        }
        if (rp_partial.is_feeding)
            take_read(r);
        else
            put_read(r);
        *at = r->next;
        if (!r->next)
            last_read = at;
        free(r);
    }
}

/* Order */

bool rp_shmem_order(const struct rp_function *f, uint32_t numbers, bool completes,
                    const void *context)
{
    if (!rp_partial.is_feeding) {
        rp_symmetric_out(RP_LOOK_ALL);
        return true;
    }
    take_entry(f, numbers);
    if (completes)
        complete_reads(context);
    rp_partial_feed_end();
    return false;
}

void rp_shmem_ordered(const struct rp_function *f, uint32_t numbers, bool completes,
                      const void *context)
{
    rp_symmetric_in(completes && updated_own ? RP_LOOK_ALL : RP_LOOK_FEW);
    if (completes)
        updated_own = false;
    put_entry(f, numbers);
    if (completes)
        complete_reads(context);
    rp_partial_record_end();
}

/* Meetings */

bool rp_shmem_meet(const struct rp_function *f, uint32_t numbers, bool completes)
{
    return rp_shmem_order(f, numbers, completes, NULL);
}

void rp_shmem_met(const struct rp_function *f, uint32_t numbers, bool completes)
{
    rp_symmetric_in(RP_LOOK_ALL);
    put_entry(f, numbers);
    if (completes)
        complete_reads(NULL);
    rp_partial_record_end();
}

bool rp_shmem_test(const struct rp_function *f, uint32_t numbers, int *result)
{
    if (!rp_partial.is_feeding) {
        rp_symmetric_out(RP_LOOK_FEW);
        return true;
    }
    take_entry(f, numbers);
    *result = (int)rp_data_get_signed(rp_partial.reader);
    rp_partial_feed_end();
    return false;
}

void rp_shmem_tested(const struct rp_function *f, uint32_t numbers, int result, bool yes)
{
    rp_symmetric_in(yes ? RP_LOOK_ALL : RP_LOOK_FEW);
    put_entry(f, numbers);
    rp_data_put_signed(rp_partial.writer, result);
    rp_partial_record_end();
}
