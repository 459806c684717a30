/* SPDX-License-Identifier: MIT */
/* What `reprise stress` decides: bounded, repeatable, different for each rank, never the same for
 * ever. */
#include "stress/chance.c"
#include "unit.h"

enum { MANY = 20000 };
static const uint64_t second = 1000000000, longest = 10000000;

static struct rp_chance begin(uint64_t seed, uint64_t rank)
{
    struct rp_chance chance;

    rp_chance_init(&chance, seed, rank, longest, 5 * second);
    return chance;
}

TEST(delays_are_bounded)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct rp_chance chance = begin(seed, seed % 7);
        uint64_t sum = 0, now = 5 * second;
        for (int i = 0; i < MANY; i++) {
            uint64_t one = i % 2 ? rp_chance_delay(&chance, now) : rp_chance_wait(&chance, now);
            CHECK(one <= longest);
            sum += one;
            now += 1000 + one;
            CHECK(sum <= second + (now - 5 * second) / 4);
        }
        CHECK(sum > 0);
    }
}

TEST(looks_count_too)
{
    struct rp_chance chance = begin(1, 0);
    uint64_t start = 5 * second;

    CHECK(rp_chance_has_time(&chance, start));
    rp_chance_used(&chance, 2 * second);
    CHECK(!rp_chance_has_time(&chance, start + 3 * second) &&
          !rp_chance_has_time(&chance, start + 4 * second));
    CHECK(rp_chance_has_time(&chance, start + 5 * second));
    for (int i = 0; i < 1000; i++)
        CHECK(rp_chance_delay(&chance, start + 4 * second) == 0 &&
              rp_chance_wait(&chance, start + 4 * second) == 0);
}

/* A program that does nothing but poll is answered at last; one that polls for many things, too. */
TEST(nothing_is_kept_back_for_ever)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct rp_chance chance = begin(seed, 1);
        int in_a_row = 0, most = 0, all = 0;
        for (int i = 0; i < MANY; i++) {
            in_a_row = rp_chance_keeps_back(&chance) ? in_a_row + 1 : 0;
            most = in_a_row > most ? in_a_row : most;
            all += in_a_row > 0;
        }
        CHECK(most <= RP_KEPT_BACK_IN_A_ROW);
        CHECK(all > 0);
    }
}

TEST(every_message_is_chosen_sometimes)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct rp_chance chance = begin(seed, 0);
        int chosen[5] = {0};
        for (int i = 0; i < MANY; i++) {
            uint32_t which = rp_chance_choose(&chance, 5, i % 6);
            CHECK(which < 5);
            chosen[which]++;
        }
        for (int k = 0; k < 5; k++)
            CHECK(chosen[k] > MANY / 100);
    }
}

TEST(the_late_are_preferred)
{
    uint64_t seed = 0;
    int first = 0;

    while (rp_manner_of(seed, longest).preference != RP_PREFER_LATE)
        seed++;
    struct rp_chance chance = begin(seed, 0);
    for (int i = 0; i < MANY; i++)
        first += rp_chance_choose(&chance, 2, 1) == 1;
    CHECK(first > MANY / 10 && first < MANY / 6); /* an eighth: half of a quarter */
}

TEST(ranks_differ_and_seeds_repeat)
{
    struct rp_chance a = begin(3, 0), again = begin(3, 0), b = begin(3, 1);
    int same = 0;

    CHECK(a.manner.longest == b.manner.longest && a.manner.preference == b.manner.preference);
    for (int i = 0; i < 100; i++) {
        uint64_t one = rp_chance_below(&a, 1000);
        CHECK(one < 1000);
        CHECK(one == rp_chance_below(&again, 1000));
        same += one == rp_chance_below(&b, 1000);
    }
    CHECK(same < 10);
}

TEST(manners_are_all_there)
{
    int preference[RP_PREFERENCES] = {0};

    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct rp_manner manner = rp_manner_of(seed, longest);
        preference[manner.preference]++;
        CHECK(manner.longest <= longest && manner.longest >= longest / 8);
        CHECK(manner.delay_one_in >= 2 && manner.keep_back_one_in >= 2);
    }
    for (int i = 0; i < RP_PREFERENCES; i++)
        CHECK(preference[i] > 150);
}
