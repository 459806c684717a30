/* SPDX-License-Identifier: MIT */
/* src/det in a model of ranks: the input is a seed for the orders of steps, and a program. All
 * orders must give the same. */
#include "det_model.h"
#include "fuzz.h"

enum { ORDERS = 6 };

static struct model_program program;
static struct model_result first, other;

static void must_end(const struct model_result *result)
{
    if (result->hangs || result->is_wrong) {
        model_print(&program);
        fflush(stdout);
    }
    FUZZ_CHECK(!result->hangs);
    FUZZ_CHECK(!result->is_wrong);
    FUZZ_CHECK(!result->mismatches); /* what is made from bytes is right in this */
}

static void must_be_same(void)
{
    int fact, rank = model_compare(&program, &first, &other, &fact);

    if (rank < 0)
        return;
    model_print(&program);
    model_print_result(&first, rank);
    model_print_result(&other, rank);
    fflush(stdout);
    FUZZ_CHECK(rank < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct model_bytes from = {bytes, bytes + length};
    struct model_result *into = &first;
    uint64_t seed = model_byte(&from, 256) * 256 + model_byte(&from, 256);

    model_make(&program, &from, true);
    for (int i = 0; i < ORDERS; i++) {
        model_run(&program, seed * ORDERS + (uint64_t)i, into);
        must_end(into);
        if (into->is_refused)
            continue;
        if (into == &other)
            must_be_same();
        into = &other;
    }
    return 0;
}
