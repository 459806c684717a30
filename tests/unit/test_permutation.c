/* SPDX-License-Identifier: MIT */
/* Permutations come back from their moves, the moves are as few as can be, and linear prediction
 * loses nothing. */
#include "cdc/codec/permutation.h"

#include <time.h>

#include "cdc/codec/linear_prediction.h"
#include "unit.h"

enum { MOST = 1 << 16 };

static uint64_t seed = 15;
static uint32_t order[MOST], again[MOST];
static struct rp_move moves[MOST];

static size_t encode(size_t count)
{
    size_t made = SIZE_MAX;

    CHECK_EQ(rp_permutation_encode(order, count, moves, &made), RP_OK);
    return made;
}

/* n - made is to be the length of the longest increasing subsequence. */
static bool comes_back(size_t count, size_t *made)
{
    *made = encode(count);
    memset(again, 0xee, count * sizeof *again);
    return rp_permutation_decode(moves, *made, again, count) &&
           memcmp(order, again, count * sizeof *order) == 0;
}

/* By another algorithm: the best chain that ends at each element. */
static size_t longest_chain(size_t count)
{
    static size_t chain[MOST];
    size_t best = 0;

    for (size_t i = 0; i < count; i++) {
        chain[i] = 1;
        for (size_t k = 0; k < i; k++)
            if (order[k] < order[i] && chain[k] + 1 > chain[i])
                chain[i] = chain[k] + 1;
        best = chain[i] > best ? chain[i] : best;
    }
    return best;
}

static void identity(size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
}

static void swap(size_t one, size_t other)
{
    uint32_t kept = order[one];

    order[one] = order[other];
    order[other] = kept;
}

static void shuffle(size_t first, size_t count)
{
    for (size_t i = count; i > 1; i--)
        swap(first + i - 1, first + unit_below(&seed, i));
}

TEST(figure_7_of_the_paper)
{
    static const uint32_t observed[] = {0, 3, 2, 1, 4, 7, 5, 6};
    static const struct rp_move expected[] = {{1, 2}, {2, 1}, {7, -2}};

    memcpy(order, observed, sizeof observed);
    CHECK_EQ(encode(8), 3);
    CHECK(memcmp(moves, expected, sizeof expected) == 0);
    CHECK(rp_permutation_decode(expected, 3, again, 8));
    CHECK(memcmp(again, observed, sizeof observed) == 0);
}

static int permutations;

/* Heap's algorithm. */
static void each_permutation(size_t left, size_t count)
{
    if (left <= 1) {
        size_t made;
        permutations++;
        CHECK(comes_back(count, &made));
        CHECK_EQ(made, count - longest_chain(count));
        return;
    }
    for (size_t i = 0; i < left; i++) {
        each_permutation(left - 1, count);
        swap(left % 2 ? 0 : i, left - 1);
    }
}

TEST(all_permutations_of_up_to_eight)
{
    for (size_t count = 0; count <= 8; count++) {
        identity(count);
        each_permutation(count, count);
    }
    CHECK_EQ(permutations, 1 + 1 + 2 + 6 + 24 + 120 + 720 + 5040 + 40320);
}

TEST(random_permutations)
{
    for (int i = 0; i < 200000; i++) {
        size_t count = 1 + unit_below(&seed, i % 200 == 0 ? 1000 : 24), made;
        identity(count);
        shuffle(0, count);
        CHECK(comes_back(count, &made));
        CHECK_EQ(made, count - longest_chain(count));
    }
}

/* As messages are: nearly in order. */
TEST(nearly_sorted_permutations)
{
    for (int i = 0; i < 50000; i++) {
        size_t count = 2 + unit_below(&seed, 100), made, swaps = unit_below(&seed, 8);
        identity(count);
        for (size_t k = 0; k < swaps; k++) {
            size_t at = unit_below(&seed, count - 1), far = unit_below(&seed, 6);
            swap(at, at + far < count ? at + far : at);
        }
        CHECK(comes_back(count, &made));
        CHECK_EQ(made, count - longest_chain(count));
    }
}

TEST(blocks_that_are_swapped)
{
    for (int i = 0; i < 20000; i++) {
        size_t first = 1 + unit_below(&seed, 60), second = 1 + unit_below(&seed, 60),
               ahead = unit_below(&seed, 10), made;
        identity(ahead + first + second + 3);
        for (size_t k = 0; k < second; k++)
            order[ahead + k] = (uint32_t)(ahead + first + k);
        for (size_t k = 0; k < first; k++)
            order[ahead + second + k] = (uint32_t)(ahead + k);
        CHECK(comes_back(ahead + first + second + 3, &made));
        CHECK_EQ(made, first < second ? first : second);
    }
}

TEST(reversals_and_rotations)
{
    for (size_t count = 1; count < 600; count++) {
        size_t made, by = unit_below(&seed, count);
        for (size_t i = 0; i < count; i++)
            order[i] = (uint32_t)(count - 1 - i);
        CHECK(comes_back(count, &made));
        CHECK_EQ(made, count - 1);
        for (size_t i = 0; i < count; i++)
            order[i] = (uint32_t)((i + by) % count);
        CHECK(comes_back(count, &made));
        CHECK_EQ(made, by < count - by ? by : count - by);
    }
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

TEST(the_largest)
{
    size_t made;
    double start = seconds();

    identity(MOST);
    CHECK(comes_back(MOST, &made));
    CHECK_EQ(made, 0);
    shuffle(0, MOST);
    CHECK(comes_back(MOST, &made));
    for (size_t i = 0; i < MOST; i++)
        order[i] = (uint32_t)(MOST - 1 - i);
    CHECK(comes_back(MOST, &made));
    CHECK_EQ(made, MOST - 1);
    for (size_t i = 0; i < MOST; i++) /* odd ones first */
        order[i] = (uint32_t)(i < MOST / 2 ? 2 * i + 1 : 2 * (i - MOST / 2));
    CHECK(comes_back(MOST, &made));
    CHECK_EQ(made, MOST / 2);
    identity(MOST);
    for (size_t i = 0; i < MOST; i += 64)
        shuffle(i, 64);
    CHECK(comes_back(MOST, &made));
    CHECK(seconds() - start < 60);
}

TEST(moves_that_nobody_made)
{
    for (int i = 0; i < 300000; i++) {
        size_t count = unit_below(&seed, 12), made = unit_below(&seed, 6);
        uint32_t seen = 0;
        for (size_t k = 0; k < made; k++)
            moves[k] =
                unit_below(&seed, 20)
                    ? (struct rp_move){(uint32_t)k * 2 + (uint32_t)unit_below(&seed, 3),
                                       (int32_t)unit_below(&seed, 9) - 4}
                    : (struct rp_move){(uint32_t)unit_edge(&seed), (int32_t)unit_edge(&seed)};
        if (!rp_permutation_decode(moves, made, again, count))
            continue;
        for (size_t k = 0; k < count; k++)
            seen |= 1u << again[k];
        CHECK_EQ(seen, (1u << count) - 1);
    }
    CHECK(!rp_permutation_decode((struct rp_move[]){{0, 1}, {0, 1}}, 2, again, 4));
    CHECK(!rp_permutation_decode((struct rp_move[]){{2, 0}}, 1, again, 4));
    CHECK(!rp_permutation_decode((struct rp_move[]){{2, 2}}, 1, again, 4));
    CHECK(!rp_permutation_decode((struct rp_move[]){{2, -3}}, 1, again, 4));
    CHECK(!rp_permutation_decode((struct rp_move[]){{2, INT32_MIN}}, 1, again, 4));
    CHECK(!rp_permutation_decode((struct rp_move[]){{0, 1}}, 1, again, 0));
}

/* Linear prediction */

static bool predicts(const uint64_t *values, const int64_t *errors, size_t count)
{
    struct rp_linear there = {0}, back = {0};
    bool good = true;

    for (size_t i = 0; i < count; i++) {
        int64_t error = rp_linear_encode(&there, values[i]);
        good &= (!errors || error == errors[i]) && rp_linear_decode(&back, error) == values[i];
    }
    return good;
}

TEST(section_3_4_of_the_paper)
{
    CHECK(predicts((uint64_t[]){1, 2, 4, 6, 8, 12, 17}, (int64_t[]){1, 0, 1, 0, 0, 2, 1}, 7));
}

/*
 * Figure 8 prints 1, 6, -4 and 1, 2, 4 for the two below: it takes the second value as it is. By
 * equation 3, and as the text's own example has it, it is x2
 * - 2 x1.
 */
TEST(index_columns_of_figure_8)
{
    CHECK(predicts((uint64_t[]){1, 6, 7}, (int64_t[]){1, 4, -4}, 3));
    CHECK(predicts((uint64_t[]){1, 2, 7}, (int64_t[]){1, 0, 4}, 3));
    CHECK(predicts((uint64_t[]){1}, (int64_t[]){1}, 1));
}

TEST(any_numbers_come_back)
{
    uint64_t values[50];

    for (int i = 0; i < 20000; i++) {
        for (size_t k = 0; k < 50; k++)
            values[k] = unit_edge(&seed);
        CHECK(predicts(values, NULL, 50));
    }
}
