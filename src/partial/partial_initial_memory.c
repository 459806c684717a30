/* SPDX-License-Identifier: MIT */
/*
 * What memory of the program has when it becomes part of a window. Only what others change in it is
 * written down, and nothing where they write what is there already. So a partial replay needs the
 * same content from the beginning. If the program never stored into the memory, it has what was
 * left in it, mostly zeros. Where it was zero, a partial replay sets it to zero. Of the rest there
 * is a hash, and a message if that differs: it cannot be made the same, since it may hold
 * addresses.
 */
#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/diagnostics.h"
#include "window/zero_runs.h"
#include "partial/partial_entries.h"
#include "partial/partial_initial_memory.h"
#include "reprise.h"

const struct rp_function rp_f_found = {RP_FOUND_NUMBER, "found"};

void rp_initial_memory_put(const void *memory, size_t size)
{
    struct rp_buffer zeros = {0};
    uint64_t hash = XXH3_64bits(memory, size);

    rp_zero_runs_find(&zeros, memory, size);
    if (zeros.failed)
        rp_bug(__FILE__, __LINE__, "out of memory");
    rp_data_begin(rp_partial.writer, rp_f_found.number, rp_f_found.name);
    rp_data_put(rp_partial.writer, &hash, sizeof hash);
    rp_data_put_content(rp_partial.writer, zeros.bytes, zeros.length);
    rp_partial_record_end();
    rp_buffer_free(&zeros);
}

/* Feeding */

static struct {
    uint8_t *memory;
    size_t size;
    bool has_said;
} expected;

void rp_initial_memory_expect(void *memory, size_t size)
{
    expected.memory = memory;
    expected.size = size;
}

void rp_initial_memory_over(void)
{
    expected.memory = NULL;
}

/* Other entries may stand between this one and that of the call, and change the memory. */
void rp_partial_feed_found(void)
{
    uint64_t hash;
    size_t length;

    rp_partial_feed_bytes(&hash, sizeof hash);
    const uint8_t *content = rp_data_get_content(rp_partial.reader, &length);
    struct rp_view zeros = rp_view_of(content, content ? length : 0);
    if (!content || !expected.memory)
        return; /* the reader of the next entry reports why */
    if (!rp_zero_runs_set(&zeros, expected.memory, expected.size)) {
        rp_error("not the recorded run: %s has memory of another size",
                 rp_partial_feed_calling()->name);
        rp_data_end_job(REPRISE_EXIT_DIVERGED);
    }
    if (!expected.has_said && XXH3_64bits(expected.memory, expected.size) != hash) {
        expected.has_said = true;
        rp_note("the memory that %s is given is not what it was in the record: the program has not "
                "stored into all of it, or has addresses there; if others write into it what was "
                "there already, this rank does not see that",
                rp_partial_feed_calling()->name);
    }
}
