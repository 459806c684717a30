/* SPDX-License-Identifier: MIT */
/* Natural merge sort: each pass merges neighbouring runs that are in order, until one run is left.
 */
#include "cdc/codec/reference_order.h"

#include <string.h>

/* Returns the end of the run that begins at `first`. */
static size_t run_end(const struct rp_row_message *messages, size_t first, size_t count)
{
    size_t end = first < count ? first + 1 : count;

    while (end < count && !rp_row_message_before(&messages[end], &messages[end - 1]))
        end++;
    return end;
}

static void merge(const struct rp_row_message *from, size_t first, size_t middle, size_t end,
                  struct rp_row_message *to)
{
    size_t left = first, right = middle;

    for (size_t i = first; i < end; i++)
        to[i] = right >= end || (left < middle && !rp_row_message_before(&from[right], &from[left]))
                    ? from[left++]
                    : from[right++];
}

/* Makes one pass. Returns how many runs are left. */
static size_t merge_runs(const struct rp_row_message *from, struct rp_row_message *to, size_t count)
{
    size_t runs = 0;

    for (size_t first = 0, end; first < count; first = end, runs++) {
        size_t middle = run_end(from, first, count);
        end = run_end(from, middle, count);
        merge(from, first, middle, end, to);
    }
    return runs;
}

void rp_reference_sort(struct rp_row_message *messages, struct rp_row_message *spare, size_t count)
{
    struct rp_row_message *from = messages, *to = spare;

    if (run_end(messages, 0, count) == count)
        return;
    for (size_t runs = count; runs > 1;) {
        runs = merge_runs(from, to, count);
        struct rp_row_message *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != messages)
        memcpy(messages, from, count * sizeof *messages);
}
