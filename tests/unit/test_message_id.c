/* SPDX-License-Identifier: MIT */
/*
 * Identities of messages. The theorem (VI.1): in any order of execution each message has the same
 * identity, and no two have the same. Random trees of messages are executed in random orders:
 * endpoints with overlapping commutative regions, whose handlers send on into other regions. Trees
 * have no ends of regions.
 */
#include "match/message_id.h"
#include "unit.h"

enum { ENDPOINTS = 5, KINDS = 3, MESSAGES = 400, DEPTH = 4 };

/* The tree: each message has a receiver, a region kind there, and children. Which region of its
 * kind it is follows from its phase. */
struct message {
    int sender, receiver, kind, parent, branch, depth;
    struct rp_message_id first, now;
};

static struct message messages[MESSAGES];
static int message_count;

static void make_tree(uint64_t *random)
{
    message_count = 0;
    for (int i = 0; i < ENDPOINTS; i++) /* roots, sent outside regions */
        for (uint64_t k = 1 + unit_below(random, 4); k > 0; k--)
            messages[message_count++] = (struct message){i,
                                                         (int)unit_below(random, ENDPOINTS),
                                                         (int)unit_below(random, KINDS),
                                                         -1,
                                                         0,
                                                         0,
                                                         {0},
                                                         {0}};
    for (int i = 0; i < message_count && messages[i].depth < DEPTH; i++)
        for (uint64_t k = unit_below(random, 4), branch = 0; k > 0 && message_count < MESSAGES;
             k--, branch++)
            messages[message_count++] = (struct message){messages[i].receiver,
                                                         (int)unit_below(random, ENDPOINTS),
                                                         (int)unit_below(random, KINDS),
                                                         i,
                                                         (int)branch,
                                                         messages[i].depth + 1,
                                                         {0},
                                                         {0}};
}

/* Executes: any message whose parent is done may be next. Roots of a sender are in its own order;
 * regions of a kind at an endpoint are one for all its messages. */
static void execute(uint64_t *random)
{
    bool done[MESSAGES] = {false};
    uint32_t srn[ENDPOINTS] = {0};

    for (int i = 0; i < message_count; i++)
        if (messages[i].parent < 0)
            messages[i].now = (struct rp_message_id){(uint32_t)messages[i].sender,
                                                     srn[messages[i].sender]++,
                                                     {0}};
    for (int left = message_count; left > 0; left--) {
        int i;
        do
            i = (int)unit_below(random, (uint64_t)message_count);
        while (done[i] || (messages[i].parent >= 0 && !done[messages[i].parent]));
        done[i] = true;
        for (int k = 0; k < message_count; k++) /* its handler sends */
            if (messages[k].parent == i) {
                messages[k].now = (struct rp_message_id){(uint32_t)messages[i].receiver, 0, {0}};
                CHECK(rp_cpi_child(&messages[i].now, (uint32_t)messages[i].kind,
                                   (uint32_t)messages[k].branch, &messages[k].now.cpi));
            }
    }
}

TEST(identities_are_unique_and_do_not_depend_on_the_order)
{
    uint64_t random = 11;
    int deep = 0;

    for (int tree = 0; tree < 60; tree++) {
        make_tree(&random);
        execute(&random);
        struct rp_message_ids set = {0};
        for (int i = 0; i < message_count; i++) {
            messages[i].first = messages[i].now;
            CHECK(rp_message_ids_add(&set, &messages[i].now, NULL));
            deep += messages[i].depth == DEPTH;
        }
        CHECK_EQ(set.count, message_count);
        for (int again = 0; again < 5; again++) {
            execute(&random);
            for (int i = 0; i < message_count; i++)
                CHECK(rp_message_id_same(&messages[i].first, &messages[i].now));
        }
        for (int i = 0; i < message_count; i++)
            for (int k = 0; k < i; k++)
                CHECK(!rp_message_id_same(&messages[i].now, &messages[k].now));
        rp_message_ids_clear(&set);
    }
    CHECK(deep > 500);
}

/* The strings can be read again, so that different numbers are different strings, whatever stands
 * before and behind. */
TEST(numbers_in_a_path_show_their_end)
{
    uint64_t random = 5;

    for (int i = 0; i < 2000; i++) {
        uint64_t numbers[4];
        struct rp_cpi cpi = {0};
        int count = 0, at = 0;
        while (count < 4 && rp_cpi_number(&cpi, numbers[count] = unit_edge(&random)))
            count++;
        for (int k = 0; k < count; k++) {
            int zeros = 0;
            uint64_t value = 0;
            while (!(cpi.bytes[at / 8] & 0x80 >> at % 8))
                zeros++, at++;
            for (int b = 0; b <= zeros; b++, at++)
                value = value << 1 | (cpi.bytes[at / 8] >> (7 - at % 8) & 1);
            CHECK_EQ(value - 1, numbers[k]);
        }
        CHECK_EQ(at, cpi.bits);
    }
}

TEST(chains_that_are_too_long_are_refused)
{
    struct rp_message_id identity = {7, 9, {0}};
    int depth = 0;

    for (struct rp_cpi next; rp_cpi_child(&identity, 1, 3, &next); depth++)
        identity.cpi = next;
    CHECK(depth >= 10);
    struct rp_cpi before = identity.cpi, out = before;
    CHECK(!rp_cpi_child(&identity, 1, 3, &out));
    CHECK_EQ(memcmp(&before, &out, sizeof out), 0);
}

TEST(sets_know_what_was_added)
{
    struct rp_message_ids set = {0};
    uint64_t random = 3;

    CHECK(!rp_message_ids_has(&set, &(struct rp_message_id){0}));
    for (uint32_t i = 0; i < 5000; i++) {
        struct rp_message_id identity = {i % 7, i / 7, {0}};
        if (i % 3 == 0)
            CHECK(rp_cpi_number(&identity.cpi, unit_random(&random) >> 20));
        CHECK(!rp_message_ids_has(&set, &identity));
        CHECK(rp_message_ids_add(&set, &identity, NULL));
        CHECK(!rp_message_ids_add(&set, &identity, NULL));
    }
    CHECK_EQ(set.count, 5000);
    rp_message_ids_clear(&set);
    CHECK_EQ(set.count, 0);
}
