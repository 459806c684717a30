/* SPDX-License-Identifier: MIT */
#include "recovery/buddies.h"

#include "unit.h"

enum { MOST = 40 };

static int32_t buddies[MOST * MOST];
static int64_t host_of[MOST];

static void choose(int ranks, int copies)
{
    memset(buddies, -1, sizeof buddies);
    REQUIRE(rp_buddies_choose(ranks, copies, host_of, buddies) == 0);
}

static void check_all_differ(int ranks, int copies)
{
    for (int rank = 0; rank < ranks; rank++)
        for (int i = 0; i < copies; i++) {
            int32_t one = buddies[rank * copies + i];
            CHECK(one >= 0 && one < ranks && one != rank);
            for (int k = 0; k < i; k++)
                CHECK(buddies[rank * copies + k] != one);
        }
}

static int greatest_load(int ranks, int copies)
{
    int load[MOST] = {0}, most = 0;

    for (int i = 0; i < ranks * copies; i++)
        load[buddies[i]]++;
    for (int i = 0; i < ranks; i++)
        most = load[i] > most ? load[i] : most;
    return most;
}

TEST(buddies_differ_and_share_the_load)
{
    for (int ranks = 1; ranks <= MOST; ranks++)
        for (int copies = 0; copies < ranks; copies++)
            for (int hosts = 1; hosts <= 4; hosts++) {
                for (int i = 0; i < ranks; i++)
                    host_of[i] = hosts == 4 ? i == 0 : i % hosts;
                choose(ranks, copies);
                check_all_differ(ranks, copies);
                CHECK(greatest_load(ranks, copies) <= 2 * copies);
            }
}

TEST(on_one_host_they_are_spread_over_the_ring)
{
    memset(host_of, 0, sizeof host_of);
    choose(8, 1);
    for (int rank = 0; rank < 8; rank++)
        CHECK_EQ(buddies[rank], (rank + 4) % 8);
    choose(9, 2);
    for (int rank = 0; rank < 9; rank++) {
        CHECK_EQ(buddies[2 * rank], (rank + 3) % 9);
        CHECK_EQ(buddies[2 * rank + 1], (rank + 6) % 9);
    }
    choose(2, 1);
    CHECK_EQ(buddies[0], 1);
    CHECK_EQ(buddies[1], 0);
}

TEST(other_hosts_come_first)
{
    for (int copies = 1; copies <= 2; copies++)
        for (int by_node = 0; by_node < 2; by_node++) {
            for (int i = 0; i < 12; i++)
                host_of[i] = by_node ? i % 3 : i / 4;
            choose(12, copies);
            for (int i = 0; i < 12 * copies; i++)
                CHECK(host_of[buddies[i]] != host_of[i / copies]);
            for (int i = 0; i < 12 && copies == 2; i++)
                CHECK(host_of[buddies[2 * i]] != host_of[buddies[2 * i + 1]]);
        }
}

TEST(one_rank_on_a_host_of_its_own_does_not_keep_all)
{
    for (int i = 0; i < MOST; i++)
        host_of[i] = i == MOST - 1;
    choose(MOST, 1);
    CHECK(greatest_load(MOST, 1) <= 2);
}

TEST(the_next_living_process_is_behind_the_dead_ones)
{
    const int dead[] = {3, 0, 4};

    CHECK_EQ(rp_buddies_next_living(5, dead, 0, 4), 0);
    CHECK_EQ(rp_buddies_next_living(5, dead, 1, 2), 4); /* only the first of them has died */
    CHECK_EQ(rp_buddies_next_living(5, dead, 3, 2), 1);
    CHECK_EQ(rp_buddies_next_living(5, dead, 3, 3), 1);
}
