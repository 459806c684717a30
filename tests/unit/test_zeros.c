/* SPDX-License-Identifier: MIT */
/* Where memory was zero, other memory becomes so, and nowhere else; long runs of zeros are all found. */
#include "base/zeros.h"

#include "unit.h"

enum { SIZE = 3 * 4096 + 7 };

/* `sparse`: of that many bytes, one is not zero. */
static void check(size_t size, uint64_t sparse, uint64_t *seed)
{
    static uint8_t memory[SIZE], other[SIZE];
    struct rp_buffer zeros = {0};
    size_t run = 0;

    for (size_t i = 0; i < size; i++) {
        memory[i] = unit_below(seed, sparse) == 0 ? (uint8_t)(unit_below(seed, 255) + 1) : 0;
        other[i] = (uint8_t)(unit_below(seed, 255) + 1);
    }
    rp_zeros_find(&zeros, memory, size);
    struct rp_view view = rp_view_of(zeros.bytes, zeros.length);
    CHECK(rp_zeros_set(&view, other, size));
    for (size_t i = 0; i < size; i++) {
        run = memory[i] == 0 ? run + 1 : 0;
        CHECK(other[i] != 0 || memory[i] == 0);
        if (run >= 15)
            for (size_t back = 0; back < 15; back++)
                CHECK(other[i - back] == 0);
    }
    view = rp_view_of(zeros.bytes, zeros.length);
    CHECK(zeros.length == 0 || size == 0 || memory[size - 1] != 0 || other[size - 1] != 0 || !rp_zeros_set(&view, other, size - 1));
    rp_buffer_free(&zeros);
}

TEST(zeros_are_found_and_set)
{
    uint64_t seed = 3;

    for (size_t size = 0; size < 70; size++)
        for (uint64_t sparse = 1; sparse <= 81; sparse *= 3)
            check(size, sparse, &seed);
    for (uint64_t sparse = 1; sparse < 100000; sparse *= 5)
        check(SIZE, sparse, &seed);
}

TEST(one_run_of_zeros_is_short)
{
    static const uint8_t memory[SIZE];
    struct rp_buffer zeros = {0};

    rp_zeros_find(&zeros, memory, SIZE);
    CHECK_EQ(zeros.length, 3);
    rp_buffer_free(&zeros);
}

TEST(what_does_not_fit_is_refused)
{
    static const uint8_t beyond[] = {4, 5}, skips[] = {9, 0}, cut[] = {1, 2, 1}, far[] = {0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    uint8_t memory[8];
    struct rp_view views[] = {rp_view_of(beyond, sizeof beyond), rp_view_of(skips, sizeof skips), rp_view_of(cut, sizeof cut), rp_view_of(far, sizeof far)};

    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        CHECK(!rp_zeros_set(&views[i], memory, sizeof memory));
}
