/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <stdlib.h>

#include "window/tracked_regions.h"

enum { SIZE = 64 };

static uint8_t memory[4 * SIZE] __attribute__((aligned(64)));

static struct reprise_track *new_track(void)
{
    return calloc(1, sizeof(struct reprise_track));
}

/* Regions at bytes 0 to 63 and 128 to 191, inserted from behind. */
static struct rp_tracked_regions two_regions(struct reprise_track *track)
{
    struct rp_tracked_regions r = {.track = track, .are_numbered = true};

    rp_tracked_insert(&r, memory + 2 * SIZE, SIZE);
    rp_tracked_insert(&r, memory, SIZE);
    rp_tracked_name(&r);
    return r;
}

TEST(regions_are_in_the_order_of_addresses)
{
    struct reprise_track *track = new_track();
    struct rp_tracked_regions r = two_regions(track);

    CHECK_EQ(r.count, 2);
    CHECK(r.region[0].at == (uintptr_t)memory);
    CHECK(track->any);
    CHECK(track->lowest == (uintptr_t)memory);
    CHECK(track->highest == (uintptr_t)memory + 3 * SIZE);
    CHECK(rp_tracked_around(&r, memory + 8, 8) == &r.region[0]);
    CHECK(rp_tracked_around(&r, memory + SIZE - 4, 8) == NULL);
    CHECK(rp_tracked_touches(&r, memory + SIZE - 4, 8));
    CHECK(!rp_tracked_touches(&r, memory + SIZE, SIZE));
    rp_tracked_remove(&r, &r.region[0]);
    rp_tracked_remove(&r, &r.region[0]);
    CHECK(!track->any);
    CHECK(!rp_tracked_touches(&r, memory, sizeof memory));
    free(r.region);
    free(track);
}

TEST(an_access_is_taken_apart)
{
    struct reprise_track *track = new_track();
    struct rp_tracked_regions r = two_regions(track);
    uintptr_t from = 0, at = (uintptr_t)memory + 60;

    CHECK_EQ(rp_tracked_first(&r, at), 0);
    CHECK_EQ(rp_tracked_part(&r, 0, at, 100, &from), 4);
    CHECK(from == at);
    CHECK_EQ(rp_tracked_part(&r, 1, at, 100, &from), 32);
    CHECK(from == (uintptr_t)memory + 2 * SIZE);
    CHECK_EQ(rp_tracked_part(&r, 2, at, 100, &from), 0);
    CHECK_EQ(rp_tracked_first(&r, (uintptr_t)memory + SIZE), 1);
    CHECK_EQ(rp_tracked_first(&r, (uintptr_t)memory + 3 * SIZE), 2);
    free(r.region);
    free(track);
}

TEST(only_what_the_program_changed_becomes_public)
{
    uint8_t own[16] __attribute__((aligned(8))) = {1, 2, 3},
                    shadow[16] __attribute__((aligned(8))) = {1, 2, 3},
                    public[16] __attribute__((aligned(8))) = {1, 2, 3};
    struct rp_tracked t = {.at = (uintptr_t)own, .size = 16, .shadow = shadow, .public = public};
    uint8_t taken[16];

    CHECK(!rp_tracked_give(&t, t.at, 16, false));
    public[0] = 9; /* another rank stores */
    own[8] = 7;
    CHECK(rp_tracked_give(&t, t.at, 16, false));
    CHECK_EQ(public[0], 9);
    CHECK_EQ(public[8], 7);
    CHECK_EQ(shadow[8], 7);
    rp_tracked_take(&t, t.at, taken, 16);
    CHECK(memcmp(taken, public, 16) == 0);
    CHECK(rp_tracked_give(&t, t.at, 16, true));
    CHECK_EQ(public[0], 1);
}
