/* SPDX-License-Identifier: MIT */
/*
 * The ordering algebra against counting. Of small sets all orders are made; a dependency of an
 * event is what came just before it. Which is the smallest set of events whose dependencies tell
 * all orders apart? That many the algebra must count.
 */
#include "match/algebra.h"
#include "unit.h"

enum { MOST = 8, ORDERS = 5040 };

/* All orders of some chains: an event is its chain and its place in it. */
struct orders {
    int lengths[MOST], chains, events;
    bool blocks; /* a chain, once begun, goes on to its end */
    int list[ORDERS][MOST];
    size_t count;
};

static struct orders orders;

static int number_of(int chain, int place)
{
    for (int i = 0; i < chain; i++)
        place += orders.lengths[i];
    return place;
}

static void extend(int *now, int depth, int *used, int running)
{
    if (depth == orders.events) {
        memcpy(orders.list[orders.count++], now, sizeof *orders.list);
        return;
    }
    for (int i = 0; i < orders.chains; i++) {
        if (used[i] == orders.lengths[i] || (orders.blocks && running >= 0 && i != running))
            continue;
        now[depth] = number_of(i, used[i]++);
        extend(now, depth + 1, used, used[i] == orders.lengths[i] ? -1 : i);
        used[i]--;
    }
}

static void make_orders(const int *lengths, int chains, bool blocks)
{
    int now[MOST] = {0}, used[MOST] = {0};

    orders = (struct orders){.chains = chains, .blocks = blocks};
    for (int i = 0; i < chains; i++)
        orders.events += orders.lengths[i] = lengths[i];
    extend(now, 0, used, -1);
}

/* What the chosen events of an order say: who came just before each of them. */
static uint64_t said_by(const int *order, unsigned chosen)
{
    uint64_t code = 0;
    int before[MOST];

    for (int i = 0; i < orders.events; i++)
        before[order[i]] = i == 0 ? 0 : order[i - 1] + 1;
    for (int i = 0; i < orders.events; i++)
        if (chosen >> i & 1)
            code = code << 4 | (uint64_t)before[i];
    return code;
}

static int compare(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

    return (a > b) - (a < b);
}

static bool tells_apart(unsigned chosen)
{
    static uint64_t codes[ORDERS];

    for (size_t i = 0; i < orders.count; i++)
        codes[i] = said_by(orders.list[i], chosen);
    qsort(codes, orders.count, sizeof *codes, compare);
    for (size_t i = 1; i < orders.count; i++)
        if (codes[i] == codes[i - 1])
            return false;
    return true;
}

static int least(void)
{
    int found = orders.events;

    for (unsigned chosen = 0; chosen < 1u << orders.events; chosen++)
        if (__builtin_popcount(chosen) < found && tells_apart(chosen))
            found = __builtin_popcount(chosen);
    return found;
}

static struct rp_algebra evaluate(const char *format, ...)
{
    char text[512];
    va_list arguments;
    struct rp_problem why;
    struct rp_algebra set = {0};

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    CHECK_OK(rp_algebra_evaluate(text, NULL, &set, &why), why);
    return set;
}

TEST(two_ordered_sets_interleave_by_the_smaller)
{
    for (int m = 1; m <= 4; m++)
        for (int n = 1; n <= 4 && m + n <= 7; n++) {
            make_orders((int[]){m, n}, 2, false);
            struct rp_algebra set = evaluate("interleave(O(%d,0), O(%d,0))", m, n);
            CHECK_EQ(set.events, m + n);
            CHECK_EQ(set.dependencies, least());
            CHECK_EQ(set.logical, m > n ? m : n);
            set = evaluate("interleave(O(%d,3), O(%d,5))", m, n);
            CHECK_EQ(set.dependencies, 8 + least());
        }
}

TEST(several_ordered_sets_interleave_by_all_but_the_largest)
{
    static const int lengths[][4] = {{1, 1, 1, 0}, {2, 1, 1, 0}, {2, 2, 1, 0}, {3, 1, 1, 0},
                                     {2, 2, 2, 0}, {3, 2, 1, 0}, {1, 1, 1, 1}, {2, 1, 1, 1},
                                     {4, 1, 1, 0}, {3, 2, 2, 0}};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const int *l = lengths[i];
        make_orders(l, l[3] ? 4 : 3, false);
        CHECK_EQ(evaluate("interleave(O(%d,0), O(%d,0), O(%d,0), O(%d,0))", l[0], l[1], l[2], l[3])
                     .dependencies,
                 least());
    }
}

/* Corollary IV.2: an interleaving goes on as an ordered set as long as its longest. */
TEST(nested_interleavings_are_one)
{
    uint64_t random = 7;

    for (int i = 0; i < 300; i++) {
        int a = (int)unit_below(&random, 9), b = (int)unit_below(&random, 9),
            c = (int)unit_below(&random, 9), d = (int)unit_below(&random, 9);
        struct rp_algebra flat =
            evaluate("interleave(O(%d,0), O(%d,0), O(%d,0), O(%d,0))", a, b, c, d);
        struct rp_algebra nested =
            evaluate("interleave(interleave(interleave(O(%d,0), O(%d,0)), O(%d,0)), O(%d,0))", a, b,
                     c, d);
        struct rp_algebra pairs =
            evaluate("interleave(interleave(O(%d,0), O(%d,0)), interleave(O(%d,0), O(%d,0)))", d, b,
                     a, c);
        CHECK_EQ(memcmp(&flat, &nested, sizeof flat), 0);
        CHECK_EQ(memcmp(&flat, &pairs, sizeof flat), 0);
    }
}

TEST(unordered_sets_need_one_less_than_they_have)
{
    static const int ones[] = {1, 1, 1, 1, 1, 1};

    for (int n = 1; n <= 6; n++) {
        make_orders(ones, n, false);
        CHECK_EQ(evaluate("U(%d,0)", n).dependencies, least());
        CHECK_EQ(evaluate("U(%d,4)", n).dependencies, 4 + least());
        CHECK_EQ(evaluate("U(%d,0)", n).events, n);
    }
}

TEST(sequenced_sets_need_one_between_two)
{
    static const int lengths[][4] = {{1, 1, 0, 0}, {3, 2, 0, 0}, {1, 2, 2, 0},
                                     {2, 2, 2, 0}, {1, 2, 1, 2}, {1, 1, 1, 1}};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const int *l = lengths[i];
        make_orders(l, 2 + (l[2] > 0) + (l[3] > 0), true);
        CHECK_EQ(
            evaluate("O(%d,0); O(%d,0); O(%d,0); O(%d,0)", l[0], l[1], l[2], l[3]).dependencies,
            least());
    }
    /* Two unordered sets in a row are one. */
    for (int m = 1; m < 5; m++)
        for (int n = 1; n < 5; n++)
            CHECK_EQ(evaluate("U(%d,2); U(%d,3)", m, n).dependencies,
                     evaluate("U(%d,5)", m + n).dependencies);
    CHECK_EQ(evaluate("repeat(1000000000, O(1,0))").dependencies, 999999999);
    CHECK_EQ(evaluate("repeat(13, O(3,1))").dependencies, 13 + 12);
    CHECK_EQ(evaluate("repeat(13, O(3,1))").events, 39);
    CHECK_EQ(evaluate("repeat(0, O(3,1))").events, 0);
}

/* A deterministic sequence of k chains is k events for those that come between them. */
TEST(chains_interleave_as_events)
{
    for (int k = 1; k <= 3; k++)
        for (int m = 1; m <= 4; m++) {
            make_orders((int[]){k, m}, 2, false);
            struct rp_algebra set = evaluate("interleave(D(10,%d), D(%d))", k, m);
            CHECK_EQ(rp_algebra_determinants(&set), least());
            CHECK_EQ(set.dependencies, least() + k - 1);
        }
    CHECK_EQ(evaluate("D(50)").dependencies, 0);
    CHECK_EQ(evaluate("D(50,1)").events, 1);
    CHECK_EQ(evaluate("D(50,1)").dependencies, 0);
}

/* Where each of m others comes, seen from a region of n commutative messages: before, inside, or
 * behind. Counted over all orders of both. */
static size_t count_places(int n, int m)
{
    int lengths[MOST] = {m};
    static uint64_t seen[ORDERS];
    size_t different = 0;

    for (int i = 0; i < n; i++)
        lengths[1 + i] = 1;
    make_orders(lengths, n + 1, false);
    for (size_t i = 0; i < orders.count; i++) {
        int begun = 0;
        seen[i] = 0;
        for (int k = 0; k < orders.events; k++) {
            begun += orders.list[i][k] >= m;
            if (orders.list[i][k] < m)
                seen[i] = seen[i] << 2 | (unsigned)(begun == 0 ? 0 : begun < n ? 1 : 2);
        }
    }
    qsort(seen, orders.count, sizeof *seen, compare);
    for (size_t i = 0; i < orders.count; i++)
        different += i == 0 || seen[i] != seen[i - 1];
    return different;
}

TEST(a_commutative_region_interleaves_as_its_begin_and_end)
{
    for (int n = 2; n <= 4; n++)
        for (int m = 1; m <= 3; m++) {
            size_t places = count_places(n, m);
            make_orders((int[]){2, m}, 2, false);
            CHECK_EQ(places, orders.count);
            struct rp_algebra set = evaluate("interleave(C(%d), O(%d,0))", n, m);
            CHECK_EQ(rp_algebra_determinants(&set), least());
            CHECK_EQ(set.events, m + 2);
            CHECK_EQ(set.messages, m + n);
        }
}

TEST(what_the_program_gives_needs_no_determinant)
{
    struct rp_algebra set =
        evaluate("loop(100, D(1) -> C(26) -> C(13))"); /* a cell of molecular dynamics */

    CHECK_EQ(rp_algebra_determinants(&set), 0);
    CHECK_EQ(set.messages, 4000);
    CHECK_EQ(set.dependencies, 100 * 4 + 99);
    set = evaluate("U(400,0)"); /* a master */
    CHECK_EQ(rp_algebra_determinants(&set), 399);
    set = evaluate("independent(C(3), C(8), C(2))"); /* AMG's exchange */
    CHECK_EQ(rp_algebra_determinants(&set), 0);
    set = evaluate("interleave(O(5,0), U(3,0)) ; C(100)");
    CHECK_EQ(set.events, 10);
    CHECK_EQ(set.dependencies, 2 + 3 + 1 + 1);
    CHECK_EQ(rp_algebra_determinants(&set), 6);
}

TEST(an_empty_set_is_neutral)
{
    CHECK_EQ(evaluate("U(0,0)").dependencies, 0);
    CHECK_EQ(evaluate("U(0,0); O(2,1)").dependencies, 1);
    CHECK_EQ(evaluate("O(2,1) -> C(0)").dependencies, 1);
    CHECK_EQ(evaluate("interleave(O(0,0), O(2,1))").dependencies, 1);
}

TEST(nonsense_is_refused_with_its_place)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"", "character 1"},
        {"O(5)", "second number"},
        {"O(5,0", ") is expected at character 6"},
        {"U(3,0) +", "; or ->"},
        {"X(3)", "character 1"},
        {"O(0,1)", "without events"},
        {"D(3,4)", "4 chains"},
        {"D(3,0)", "at least one"},
        {"interleave(O(1,0),", "19"},
        {"repeat(3)", ", is expected"},
        {"O(99999999999999999999,0)", "2^64"},
        {"O(18446744073709551615,0);O(1,0)", "too large"},
        {"U(18446744073709551615,2)", "too large"},
        {"repeat(18446744073709551615, O(2,0))", "too large"},
        {"O(-1,0)", "a number"},
        {"interleave()", "O, U, D, C"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rp_algebra set = {.events = 77};
        struct rp_problem why = {""};
        CHECK_EQ(rp_algebra_evaluate(wrong[i].text, NULL, &set, &why), RP_USAGE);
        CHECK_HAS(why.text, wrong[i].says);
        CHECK_EQ(set.events, 77);
    }
    char deep[1000];
    struct rp_algebra set;
    struct rp_problem why;
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    CHECK_EQ(rp_algebra_evaluate(deep, NULL, &set, &why), RP_USAGE);
    CHECK_HAS(why.text, "nested");
}

TEST(steps_are_told)
{
    struct rp_buffer steps = {0};
    struct rp_algebra set;
    struct rp_problem why;

    CHECK_OK(rp_algebra_evaluate("interleave(O(5,0), U(3,0)) ; C(100)", &steps, &set, &why), why);
    rp_buffer_byte(&steps, 0);
    CHECK_HAS((char *)steps.bytes, "U(3,0) = O(3,2)\t");
    CHECK_HAS((char *)steps.bytes, "interleave(O(5,0), U(3,0)) = O(8,5), as long as 5\t");
    CHECK_HAS((char *)steps.bytes, "C(100) = O(2,1), 1 given\t");
    CHECK_HAS((char *)steps.bytes,
              "interleave(O(5,0), U(3,0)) ; C(100) = O(10,7), 1 given, as long as 7\t");
    rp_buffer_free(&steps);
}
