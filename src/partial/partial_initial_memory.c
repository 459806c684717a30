/* SPDX-License-Identifier: MIT */
/*
 * What the memory of a program has when it becomes part of a window. Only what others change in it
 * is written down, so where they write what is there already, nothing is. That is right if a rank
 * alone has the same there, but the memory may be one that was never stored into: then it has what
 * was left in it, mostly zeros. Where it was zero it is made so alone; of the rest there is a hash,
 * and it is said if that is another. It cannot be made the same: it may hold addresses.
 */
#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/diagnostics.h"
#include "window/zero_runs.h"
#include "partial/partial_windows.h"
#include "reprise.h"

const struct rp_function rp_f_found = {RP_FOUND_NUMBER, "found"};

void rp_initial_memory_put(const void *memory, size_t size)
{
    struct rp_buffer zeros = {0};
    uint64_t hash = XXH3_64bits(memory, size);

    rp_zero_runs_find(&zeros, memory, size);
    if (zeros.failed)
        rp_bug(__FILE__, __LINE__, "out of memory");
    rp_data_begin(rp_data_writer, rp_f_found.number, rp_f_found.name);
    rp_data_put(rp_data_writer, &hash, sizeof hash);
    rp_data_put_content(rp_data_writer, zeros.bytes, zeros.length);
    rp_partial_record_end();
    rp_buffer_free(&zeros);
}

/* Alone */

static uint8_t *expected;
static size_t expected_size;

void rp_initial_memory_expect(void *memory, size_t size)
{
    expected = memory;
    expected_size = size;
}

void rp_initial_memory_over(void)
{
    expected = NULL;
}

/* Other entries may stand between this one and that of the call, and change the memory. */
void rp_partial_feed_found(void)
{
    static bool has_said;
    uint64_t hash;
    size_t length;

    rp_partial_feed_bytes(&hash, sizeof hash);
    const uint8_t *content = rp_data_get_content(rp_data_reader, &length);
    struct rp_view zeros = rp_view_of(content, content ? length : 0);
    if (!content || !expected)
        return; /* whoever takes the next entry tells why */
    if (!rp_zero_runs_set(&zeros, expected, expected_size)) {
        rp_error("not the recorded run: %s has memory of another size",
                 rp_partial_feed_calling()->name);
        rp_data_end_job(REPRISE_EXIT_DIVERGED);
    }
    if (!has_said && XXH3_64bits(expected, expected_size) != hash) {
        has_said = true;
        rp_note("the memory that %s is given is not what it was in the record: the program has not "
                "stored into all of it, or has addresses there; if others write into it what was "
                "there already, this rank does not see that",
                rp_partial_feed_calling()->name);
    }
}
