/* SPDX-License-Identifier: MIT */
/* Whole words that were zero become so in other memory, and nothing else does: the zeros of an
 * address stay what they are. */
#include "window/zero_runs.h"

#include "unit.h"

enum { SIZE = 3 * 4096 + 7 };

static bool is_zero(const uint8_t *at, size_t length)
{
    while (length > 0 && at[length - 1] == 0)
        length--;
    return length == 0;
}

/* `sparse`: of that many bytes, one is not zero. Memory begins anywhere in a word. */
static void check(size_t size, size_t shift, uint64_t sparse, uint64_t *seed)
{
    static _Alignas(8) uint8_t memories[SIZE + 8], others[SIZE + 8];
    uint8_t *memory = memories + shift, *other = others + shift;
    struct rp_buffer zeros = {0};

    for (size_t i = 0; i < size; i++) {
        memory[i] = unit_below(seed, sparse) == 0 ? (uint8_t)(unit_below(seed, 255) + 1) : 0;
        other[i] = (uint8_t)(unit_below(seed, 255) + 1);
    }
    rp_zero_runs_find(&zeros, memory, size);
    struct rp_view view = rp_view_of(zeros.bytes, zeros.length);
    CHECK(rp_zero_runs_set(&view, other, size));
    for (size_t at = 0, length; at < size; at += length) {
        length = at == 0 && shift > 0 ? 8 - shift : 8;
        length = length < size - at ? length : size - at;
        bool wanted = is_zero(memory + at, length);
        for (size_t i = 0; i < length; i++)
            CHECK(wanted == (other[at + i] == 0));
        if (wanted && at + length == size) {
            view = rp_view_of(zeros.bytes, zeros.length);
            CHECK(!rp_zero_runs_set(&view, other, size - 1));
        }
    }
    rp_buffer_free(&zeros);
}

TEST(zeros_are_found_and_set)
{
    uint64_t seed = 3;

    for (size_t size = 0; size < 70; size++)
        for (uint64_t sparse = 1; sparse <= 81; sparse *= 3)
            for (size_t shift = 0; shift < 8; shift++)
                check(size, shift, sparse, &seed);
    for (uint64_t sparse = 1; sparse < 100000; sparse *= 5)
        check(SIZE, sparse % 8, sparse, &seed);
}

TEST(one_run_of_zeros_is_short)
{
    static const uint8_t memory[SIZE];
    struct rp_buffer zeros = {0};

    rp_zero_runs_find(&zeros, memory, SIZE);
    CHECK_EQ(zeros.length, 3);
    rp_buffer_free(&zeros);
}

TEST(what_does_not_fit_is_refused)
{
    static const uint8_t beyond[] = {4, 5}, skips[] = {9, 0}, cut[] = {1, 2, 1},
                         far[] = {0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    uint8_t memory[8];
    struct rp_view views[] = {rp_view_of(beyond, sizeof beyond), rp_view_of(skips, sizeof skips),
                              rp_view_of(cut, sizeof cut), rp_view_of(far, sizeof far)};

    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        CHECK(!rp_zero_runs_set(&views[i], memory, sizeof memory));
}
