/* SPDX-License-Identifier: MIT */
#include "event/event.h"

#include "unit.h"

/* Written from docs/format.md, section 3, on bytes: an event as it lies in the ring, words low part
 * first. */
static uint64_t number(const uint8_t *bytes, int count)
{
    uint64_t value = 0;

    for (int i = count - 1; i >= 0; i--)
        value = value * 256 + bytes[i];
    return value;
}

static uint64_t rotl64(uint64_t value, int by)
{
    for (; by > 0; by--)
        value = value * 2 + (value >= UINT64_C(0x8000000000000000));
    return value;
}

static uint64_t digest_of(uint64_t h, const struct rp_event *event)
{
    const uint8_t *b = (const uint8_t *)event;
    uint64_t words[4] = {number(b, 4), number(b + 8, 8), number(b + 16, 8), number(b + 24, 8)};

    for (int i = 0; i < 4; i++)
        h = rotl64(h ^ (words[i] * UINT64_C(0x9fb21c651e98df25)), 29) *
            UINT64_C(0xd6e8feb86659fd93);
    return h;
}

static struct rp_event random_event(uint64_t *seed)
{
    return (struct rp_event)RP_EVENT((uint32_t)unit_below(seed, 12), (uint32_t)unit_edge(seed),
                                     (uint32_t)unit_edge(seed), (uint32_t)unit_edge(seed),
                                     (int32_t)unit_edge(seed), (int32_t)unit_edge(seed),
                                     unit_edge(seed));
}

TEST(the_digest_is_that_of_the_format)
{
    uint64_t seed = 3, one = RP_DIGEST_START, other = UINT64_C(0x9e3779b97f4a7c15);

    for (int i = 0; i < 20000; i++) {
        struct rp_event event = random_event(&seed);
        one = rp_digest(one, &event);
        other = digest_of(other, &event);
        CHECK_EQ(one, other);
    }
}

TEST(the_digest_leaves_sites_out_and_sees_all_else)
{
    struct rp_event event = RP_EVENT(RP_RECV, 4, 1, 2, 3, 5, 6), moved = event;
    uint64_t digest = rp_digest(RP_DIGEST_START, &event);

    moved.site = 5;
    CHECK_EQ(rp_digest(RP_DIGEST_START, &moved), digest);
    for (int word = 0; word < 8; word++) {
        uint32_t words[8];
        memcpy(words, &event, sizeof words);
        words[word] ^= 0x100;
        memcpy(&moved, words, sizeof moved);
        CHECK_EQ(rp_digest(RP_DIGEST_START, &moved) == digest, word == 1);
    }
}

TEST(the_digest_depends_on_the_order)
{
    struct rp_event one = RP_EVENT(RP_RECV, 0, 0, 0, 1, 0, 0),
                    other = RP_EVENT(RP_RECV, 0, 0, 0, 2, 0, 0);

    CHECK(rp_digest(rp_digest(RP_DIGEST_START, &one), &other) !=
          rp_digest(rp_digest(RP_DIGEST_START, &other), &one));
}

TEST(names)
{
    static const char *const names[] = {"?",     "RECV",      "PROBE",  "NO",    "YES",   "NEXT",
                                        "MATCH", "CANCELLED", "UNSENT", "ERROR", "FREED", "THREAD",
                                        "TURN",  "VALUE",     "CLOCK",  "?",     "?"};

    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_STR(rp_event_name(i), names[i]);
    CHECK_STR(rp_event_name(UINT32_MAX), "?");
    CHECK_STR(rp_event_name(0x101), "?");
}

TEST(what_no_writer_makes_is_not_valid)
{
    static const struct {
        struct rp_event event;
        int valid;
    } cases[] = {
        {RP_EVENT(0, 0, 0, 0, 0, 0, 0), 0},
        {RP_EVENT(RP_EVENT_KINDS, 0, 0, 0, 0, 0, 0), 0},
        {RP_EVENT(0x101, 0, 0, 0, 0, 0, 0), 0},
        {RP_EVENT(RP_RECV, 0, 0, 0, -2, -1, 0), 1},
        {RP_EVENT(RP_NO, 0, 0, 0, 0, 0, 0), 0},
        {RP_EVENT(RP_NO, 0, 0, 0, 0, 0, 1), 1},
        {RP_EVENT(RP_YES, 0, 0, 1, -1, 0, 0), 1},
        {RP_EVENT(RP_YES, 0, 0, 1, -1, -1, 0), 1},
        {RP_EVENT(RP_YES, 0, 0, 1, 0, 1, 0), 1},
        {RP_EVENT(RP_YES, 0, 0, 1, 0, INT32_MAX, 0), 1},
        {RP_EVENT(RP_YES, 0, 0, 1, 0, 0, 0), 0},
        {RP_EVENT(RP_YES, 0, 0, 1, -1, 1, 0), 0},
        {RP_EVENT(RP_YES, 0, 0, 1, -1, -2, 0), 0},
        {RP_EVENT(RP_YES, 0, 0, 1, -2, 0, 0), 0},
        {RP_EVENT(RP_NEXT, 0, 0, 0, 0, 0, 0), 1},
        {RP_EVENT(RP_NEXT, 0, 0, 0, -1, 0, 0), 0},
        {RP_EVENT(RP_MATCH, 0, 0, 0, 1, 2, UINT64_MAX), 1},
        {RP_EVENT(RP_CANCELLED, 0, 0, 0, 0, 0, 0), 1},
        {RP_EVENT(RP_UNSENT, 0, 0, 0, 0, 0, 0), 1},
        {RP_EVENT(RP_ERROR, 0, 0, 0, 13, 0, 0), 1},
        {RP_EVENT(RP_FREED, 0, 0, 0, 1, 2, 3), 1},
        {RP_EVENT(RP_NO, 0, 0, 0, 7, 0, 1), 1},
        {RP_EVENT(RP_NO, 0, 0, 0, -1, 0, 1), 0},
        {RP_EVENT(RP_THREAD, 0, 0, 0, 1, 0, 3), 1},
        {RP_EVENT(RP_THREAD, 0, 0, 0, 0, 0, 3), 0},
        {RP_EVENT(RP_THREAD, 0, 1, 0, 1, 0, 3), 0},
        {RP_EVENT(RP_TURN, 0, 9, 0, 0, 0, 3), 1},
        {RP_EVENT(RP_TURN, 0, 9, 0, -1, 0, 3), 0},
        {RP_EVENT(RP_CLOCK, 0, 0, 2, 3, -1, 9), 1},
        {RP_EVENT(RP_CLOCK, 0, 0, 2, -1, -1, 9), 0},
        {RP_EVENT(RP_CLOCK, 0, 0, 2, 3, -2, 9), 0},
        {RP_EVENT(RP_CLOCK, 0, 1, 2, 3, -1, 9), 0},
        {RP_EVENT(RP_VALUE, 0, 9, 0, -1, 0, 0), 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!rp_event_is_valid(&cases[i].event) != !cases[i].valid)
            unit_fail(__FILE__, __LINE__, "case %zu", i);
        else
            CHECK(true);
}

TEST(kinds_with_a_post)
{
    for (uint32_t kind = 0; kind < 16; kind++)
        CHECK_EQ(!!rp_event_has_post(kind), kind == 6 || kind == 7 || kind == 10);
}

TEST(receives_are_posts_and_those_that_block_or_probe)
{
    for (uint32_t kind = 1; kind < RP_EVENT_KINDS; kind++) {
        struct rp_event event = RP_EVENT(kind, 0, UINT32_MAX, 0, 0, 0, 0);
        CHECK_EQ(rp_event_receives(&event),
                 UINT32_MAX + (uint64_t)(kind == RP_RECV || kind == RP_PROBE));
    }
}
