/* SPDX-License-Identifier: MIT */
/* Memory of two sides: each sees what the other stored, nothing is lost, and no value is seen that
 * was never stored, also while others write. All that changed is in the lanes that are told. */
#include "window/byte_planes.h"
#include "window/shadow.h"

#include <pthread.h>
#include <stdatomic.h>

#include "unit.h"

enum { SIZE = 3 * 4096 + 13 };

struct side {
    uint8_t seen[SIZE]; /* what a rank alone would have: only what was told */
    uint64_t runs, packed;
};

static void note(void *data, size_t at, const uint8_t *bytes, size_t length, unsigned lanes)
{
    struct side *side = data;
    uint8_t packed[RP_MIRROR_RUN];

    CHECK(length > 0 && length <= RP_MIRROR_RUN && lanes > 0 && lanes <= RP_LANES_ALL);
    side->runs++;
    side->packed += lanes != RP_LANES_ALL;
    if (lanes == RP_LANES_ALL) {
        memcpy(side->seen + at, bytes, length);
        return;
    }
    CHECK_EQ(length % 8, 0);
    CHECK_EQ(rp_byte_planes_bytes(rp_byte_planes_size(length, lanes), lanes), length);
    rp_byte_planes_pack(packed, bytes, length, lanes);
    rp_byte_planes_unpack(side->seen + at, packed, length, lanes);
}

/* One at a time. */
static struct rp_shadow make(size_t shift)
{
    static _Alignas(64) uint8_t memory[3][SIZE / 64 * 64 + 128];
    static uint8_t stored[SIZE / 64 + 2];

    memset(memory, 0, sizeof memory);
    memset(stored, 0, sizeof stored);
    return (struct rp_shadow){memory[0] + shift, memory[1] + shift, memory[2] + shift, SIZE,
                              stored};
}

TEST(both_sides_have_everything_in_the_end)
{
    for (size_t shift = 0; shift < 16; shift++) {
        rp_shadow_only_words = shift % 2;
        struct rp_shadow m = make(shift);
        static struct side side;
        uint8_t expected[SIZE] = {0};
        uint64_t seed = 5 + shift;

        memset(&side, 0, sizeof side);
        for (int round = 0; round < 200; round++) {
            for (int i = 0; i < 40; i++) { /* stores of both, never of the same byte */
                size_t at = (size_t)unit_below(&seed, SIZE);
                uint8_t value = (uint8_t)unit_below(&seed, 256);
                expected[at] = value;
                if (at % 3 == 0)
                    m.public[at] = value;
                else
                    m.own[at] = side.seen[at] = value;
            }
            if (round % 2)
                rp_shadow_out(&m, 0, SIZE);
            rp_shadow_in(&m, 0, SIZE, note, &side);
        }
        rp_shadow_out(&m, 0, SIZE);
        CHECK(memcmp(m.own, expected, SIZE) == 0);
        CHECK(memcmp(m.public, expected, SIZE) == 0);
        CHECK(memcmp(side.seen, expected, SIZE) == 0);
        CHECK(side.packed > 0);
    }
    rp_shadow_only_words = false;
}

/* Numbers of which the second byte changes in all, the fourth in some, are one run in these lanes,
 * on all pages. */
static void check_lanes(size_t shift)
{
    struct rp_shadow m = make(shift);
    static struct side side;

    memset(&side, 0, sizeof side);
    for (size_t i = shift % 8 == 0 ? 0 : 8 - shift % 8; i + 8 <= SIZE; i += 8) {
        m.public[i + 1] = (uint8_t)(i / 8 % 255 + 1);
        m.public[i + 3] = (uint8_t)(i / 8 % 3);
    }
    rp_shadow_in(&m, 0, SIZE, note, &side);
    CHECK(memcmp(side.seen, m.public, SIZE) == 0);
    CHECK(memcmp(m.own, m.public, SIZE) == 0);
    CHECK(side.runs <= 5);
    CHECK_EQ(side.packed, side.runs);
}

TEST(what_changed_is_in_few_lanes)
{
    for (size_t shift = 0; shift < 64; shift++) {
        rp_shadow_only_words = shift % 2;
        check_lanes(shift);
        rp_shadow_only_words = !rp_shadow_only_words;
        check_lanes(shift);
    }
    rp_shadow_only_words = false;
}

/* The program stores something that it would not store again, and others change a byte of it:
 * whoever was only told of what came has all of it. Through a part of the mirror it goes as
 * well. */
static void check_stored(size_t shift, bool through_part)
{
    struct rp_shadow m = make(shift), part = rp_shadow_part(&m, 256, 1024);
    static struct side side;

    memset(&side, 0, sizeof side);
    memset(m.own + 300, 0x55, 1);
    memset(m.own + 320, 0x66, 64);
    m.own[1190] = 0x77;
    rp_shadow_out(through_part ? &part : &m, through_part ? 0 : 256, 1024);
    for (size_t i = 256; i < 1280; i++)
        m.public[i] = i % 8 == 0 ? 0x11 : m.public[i];
    rp_shadow_in(&m, 0, SIZE, note, &side);
    CHECK(memcmp(side.seen + 296, m.own + 296, 24) == 0);
    CHECK(memcmp(side.seen + 320, m.own + 320, 64) == 0);
    CHECK(memcmp(side.seen + 1184, m.own + 1184, 16) == 0);
}

/* The same if it has not gone out yet: others change what is around it, or it. Alone it stores
 * something else, which is never mixed with what it stored. */
static void check_not_out(size_t shift)
{
    struct rp_shadow m = make(shift);
    static struct side side;
    size_t word = 512 + (8 - shift % 8) % 8; /* whole words begin there */

    memset(&side, 0, sizeof side);
    memset(m.own + word, 0x55, 8);
    memset(m.own + word + 640, 0x66, 8);
    memset(side.seen + word, 0x99, 8);
    memset(side.seen + word + 640, 0x99, 8);
    for (size_t i = word - 256; i < word + 256; i += 8)
        if (i != word)
            m.public[i + 1] = 0x11;
    m.public[word + 640 + 3] = 0x22;
    for (size_t i = word + 640 - 64; i < word + 640 + 64; i += 8)
        m.public[i + 1] = 0x11;
    rp_shadow_in(&m, 0, SIZE, note, &side);
    CHECK(memcmp(side.seen + word, m.own + word, 8) == 0 ||
          memcmp(side.seen + word, "\x99\x99\x99\x99\x99\x99\x99\x99", 8) == 0);
    CHECK(memcmp(side.seen + word + 640, m.own + word + 640, 8) == 0);
    CHECK(side.packed > 0);
}

TEST(what_the_program_stored_is_told_whole)
{
    for (size_t shift = 0; shift < 64; shift++) {
        rp_shadow_only_words = shift % 2;
        check_stored(shift, false);
        check_stored(shift, true);
        check_not_out(shift);
    }
    rp_shadow_only_words = false;
}

TEST(lanes_have_whole_words)
{
    CHECK_EQ(rp_byte_planes_size(64, 0x83), 24);
    CHECK_EQ(rp_byte_planes_bytes(24, 0x83), 64);
    CHECK_EQ(rp_byte_planes_bytes(25, 0x83), 0);
    CHECK_EQ(rp_byte_planes_bytes(8, 0), 0);
}

TEST(only_the_range_is_looked_at)
{
    struct rp_shadow m = make(0);
    static struct side side;

    m.public[100] = m.public[5000] = 7;
    m.own[101] = m.own[5001] = 9;
    rp_shadow_in(&m, 96, 16, note, &side);
    rp_shadow_out(&m, 4990, 20);
    CHECK_EQ(side.runs, 1);
    CHECK_EQ(m.own[100], 7);
    CHECK_EQ(m.own[5000], 0);
    CHECK_EQ(m.public[101], 0);
    CHECK_EQ(m.public[5001], 9);
}

TEST(memory_that_cannot_be_parted_is_told)
{
    struct rp_shadow m = make(1);
    static struct side side;

    m.public = m.own;
    m.own[77] = 1;
    rp_shadow_out(&m, 0, SIZE);
    rp_shadow_in(&m, 0, SIZE, note, &side);
    CHECK_EQ(side.seen[77], 1);
    rp_shadow_in(&m, 0, SIZE, note, &side);
    CHECK_EQ(side.runs, 1);
}

/* Another thread counts in one word, and in a half of another whose second half is the
 * program's. */
struct race {
    struct rp_shadow m;
    _Atomic int over;
};

static void *count(void *data)
{
    struct race *race = data;
    _Atomic uint64_t *word = (_Atomic uint64_t *)race->m.public;
    _Atomic uint32_t *half = (_Atomic uint32_t *)(race->m.public + 8);

    for (uint64_t i = 1; !race->over; i++) {
        atomic_store_explicit(word, i << 8 | (i & 255), memory_order_relaxed);
        atomic_store_explicit(half, (uint32_t)i, memory_order_relaxed);
    }
    return NULL;
}

static void run_race(void)
{
    enum { ROUNDS = 100000, LENGTH = 128 };
    static struct side side;
    struct race race = {.m = make(0)};
    pthread_t thread;
    uint64_t last = 0, wrong = 0;
    uint32_t half = 0, i = 0;

    memset(&side, 0, sizeof side);
    pthread_create(&thread, NULL, count, &race);
    while (i < ROUNDS || last == 0) { /* until the other has run, too */
        uint64_t word;
        i++;
        memcpy(race.m.own + 12, &i, sizeof i);
        rp_shadow_out(&race.m, 0, LENGTH);
        rp_shadow_in(&race.m, 0, LENGTH, note, &side);
        memcpy(&word, race.m.own, sizeof word);
        wrong += (word & 255) != (word >> 8 & 255) || word < last;
        last = word;
        memcpy(&half, race.m.own + 12, sizeof half);
        wrong += half != i;
    }
    race.over = 1;
    pthread_join(thread, NULL);
    rp_shadow_in(&race.m, 0, LENGTH, note, &side);
    memcpy(&half, race.m.public + 12, sizeof half);
    CHECK_EQ(half, i);
    uint32_t theirs;
    memcpy(&theirs, race.m.public + 8, sizeof theirs);
    CHECK_EQ(theirs, *(uint64_t *)race.m.public >> 8 & 0xffffffff);
    CHECK_EQ(wrong, 0);
    CHECK(memcmp(race.m.own, side.seen, 12) == 0);
}

TEST(no_store_is_lost_and_no_value_made_up)
{
    run_race();
    rp_shadow_only_words = true;
    run_race();
    rp_shadow_only_words = false;
}

/* All bytes of what another thread stores are alike; a range that is shorter than a word, or begins
 * inside one. */
static void *store_alike(void *data)
{
    struct race *race = data;

    for (uint32_t i = 1; !race->over; i++)
        if (race->m.size == sizeof i)
            atomic_store_explicit((_Atomic uint32_t *)race->m.public, (i & 255) * 0x01010101u,
                                  memory_order_relaxed);
        else
            atomic_store_explicit((_Atomic uint16_t *)race->m.public,
                                  (uint16_t)((i & 255) * 0x0101u), memory_order_relaxed);
    return NULL;
}

static uint64_t mixed_values(size_t size)
{
    enum { ROUNDS = 10000000 };
    static struct side side;
    struct race race = {.m = make(size)};
    pthread_t thread;
    uint64_t wrong = 0;

    memset(&side, 0, sizeof side);
    race.m.size = size;
    pthread_create(&thread, NULL, store_alike, &race);
    for (uint64_t i = 0; i < ROUNDS || race.m.own[0] == 0; i++) {
        rp_shadow_in(&race.m, 0, size, note, &side);
        for (size_t at = 1; at < size; at++)
            wrong += race.m.own[at] != race.m.own[0];
    }
    race.over = 1;
    pthread_join(thread, NULL);
    return wrong;
}

TEST(values_of_four_and_two_bytes_are_whole)
{
    CHECK_EQ(mixed_values(4), 0);
    CHECK_EQ(mixed_values(2), 0);
}
