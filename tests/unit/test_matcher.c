/* SPDX-License-Identifier: MIT */
/*
 * The matcher against a model that knows the whole stream. A stream is cut into random blocks, the
 * late matches are those of format.md, section 5, and a made-up program posts its receives and
 * takes its events in order: every receive must find its match, or none, at the moment it is
 * posted.
 */
#include "match/matcher.h"

#include <malloc.h>

#include "sample.h"

/* A source of blocks of given lengths. */
struct blocks {
    const struct rp_event *events;
    size_t count, at;
    const size_t *lengths;
    size_t next, fail_at; /* block that fails; SIZE_MAX: none */
};

static enum rp_status next_block(void *owner, struct rp_event *events, size_t *count,
                                 struct rp_problem *why)
{
    struct blocks *b = owner;

    if (b->next == b->fail_at)
        return rp_fail(why, RP_DAMAGED, "block %zu is bad", b->next);
    *count = b->at < b->count ? b->lengths[b->next++] : 0;
    if (*count > 0)
        memcpy(events, b->events + b->at, *count * sizeof *events);
    b->at += *count;
    return RP_OK;
}

static size_t cut(uint64_t *seed, size_t count, size_t most, size_t *lengths)
{
    size_t blocks = 0;

    while (count > 0) {
        size_t length = 1 + unit_below(seed, most);
        lengths[blocks] = length < count ? length : count;
        count -= lengths[blocks++];
    }
    return blocks;
}

static int by_post(const void *one, const void *other)
{
    uint64_t a = ((const struct rp_match *)one)->post, b = ((const struct rp_match *)other)->post;

    return a < b ? -1 : a > b;
}

static struct rp_match match_of(const struct rp_event *event)
{
    return (struct rp_match){event->any.c, event->kind, event->any.a, event->any.b};
}

/* Section 5, read literally. */
static size_t find_late(const struct rp_event *events, const size_t *lengths, size_t blocks,
                        struct rp_match *late)
{
    size_t at = 0, count = 0;
    uint64_t posts = 0, before_this = 0, before_last = 0;

    for (size_t n = 0; n < blocks; n++) {
        before_last = before_this;
        before_this = posts + events[at].posts;
        for (size_t i = 0; i < lengths[n]; i++, at++) {
            posts += events[at].posts;
            if (rp_event_has_post(events[at].kind) && n > 0 && events[at].any.c < before_last)
                late[count++] = match_of(&events[at]);
        }
    }
    qsort(late, count, sizeof *late, by_post);
    return count;
}

/* What each receive matched, by its number; kind 0: nothing. */
static struct rp_match *truth_of(const struct rp_event *events, size_t count, uint64_t *posts)
{
    *posts = 0;
    for (size_t i = 0; i < count; i++)
        *posts += events[i].posts;
    struct rp_match *truth = calloc(*posts + 1, sizeof *truth);
    for (size_t i = 0; i < count; i++)
        if (rp_event_has_post(events[i].kind))
            truth[events[i].any.c] = match_of(&events[i]);
    return truth;
}

static bool same_match(const struct rp_match *one, const struct rp_match *other)
{
    return one->post == other->post && one->kind == other->kind && one->source == other->source &&
           one->tag == other->tag;
}

static bool post_one(struct rp_matcher *m, uint64_t post, const struct rp_match *truth)
{
    struct rp_match found;
    bool is_there = rp_matcher_find(m, post, &found);

    return is_there ? truth->kind != 0 && same_match(&found, truth) : truth->kind == 0;
}

/* The group of the event, looked at ahead as a replay does. */
static bool look_ahead(struct rp_matcher *m, const struct rp_event *events, size_t count, size_t at)
{
    const struct rp_event *event;
    struct rp_problem why;
    size_t group = events[at].kind == RP_YES && events[at].any.b > 1 ? (size_t)events[at].any.b : 1;

    for (size_t k = group; k-- > 0;) {
        if (rp_matcher_ahead(m, k, &event, &why) != RP_OK)
            return false;
        if (at + k < count ? !event || memcmp(event, &events[at + k], sizeof *event) != 0
                           : event != NULL)
            return false;
    }
    return true;
}

/* Posts and takes everything. Returns the events taken; *status says how it ended. */
static size_t follow(struct rp_matcher *m, uint64_t *seed, const struct rp_event *events,
                     size_t count, const struct rp_match *truth, enum rp_status *status,
                     struct rp_problem *why)
{
    const struct rp_event *event;
    uint64_t post = 0;

    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < events[i].posts; k++, post++) {
            if (unit_below(seed, 8) == 0 && (*status = rp_matcher_peek(m, &event, why)) != RP_OK)
                return i;
            if (!post_one(m, post, &truth[post])) {
                unit_fail(__FILE__, __LINE__, "receive %llu before event %zu",
                          (unsigned long long)post, i);
                return i;
            }
        }
        if ((*status = rp_matcher_peek(m, &event, why)) != RP_OK)
            return i;
        if (!event || memcmp(event, &events[i], sizeof *event) != 0 ||
            !look_ahead(m, events, count, i) || rp_matcher_position(m) != i) {
            unit_fail(__FILE__, __LINE__, "event %zu", i);
            return i;
        }
        rp_matcher_take(m);
    }
    *status = rp_matcher_peek(m, &event, why);
    if (*status == RP_OK && event)
        unit_fail(__FILE__, __LINE__, "an event behind the last");
    return count;
}

TEST(every_receive_finds_its_match_when_it_is_posted)
{
    uint64_t seed = 51;

    for (int i = 0; i < 3000; i++) {
        size_t count = 1 + unit_below(&seed, i % 50 ? 120 : 3000),
               most = 1 + unit_below(&seed, i % 3 ? 12 : 200);
        struct rp_event *events = sample_stream(unit_random(&seed), count);
        size_t *lengths = calloc(count, sizeof *lengths);
        struct rp_match *late = calloc(count, sizeof *late);
        struct blocks source = {.events = events,
                                .count = count,
                                .lengths = lengths,
                                .fail_at = SIZE_MAX};
        size_t late_count = find_late(events, lengths, cut(&seed, count, most, lengths), late);
        uint64_t posts;
        struct rp_match *truth = truth_of(events, count, &posts);
        struct rp_matcher *m;
        struct rp_problem why;
        enum rp_status status;
        REQUIRE(rp_matcher_create((struct rp_block_source){next_block, &source, most}, late,
                                  late_count, &m, &why) == RP_OK);
        CHECK_EQ(follow(m, &seed, events, count, truth, &status, &why), count);
        CHECK_EQ(status, RP_OK);
        CHECK_EQ(rp_matcher_position(m), count);
        struct rp_match found;
        CHECK(!rp_matcher_find(m, posts + 5, &found));
        rp_matcher_free(m);
        free(truth);
        free(late);
        free(lengths);
        free(events);
    }
}

TEST(a_bad_block_is_told_where_it_begins)
{
    uint64_t seed = 52;

    for (int i = 0; i < 1000; i++) {
        size_t count = 100, most = 1 + unit_below(&seed, 20), lengths[100], blocks, good = 0;
        struct rp_event *events = sample_stream(unit_random(&seed), count);
        for (size_t k = 0; k < count; k++) /* no groups: looking ahead would tell earlier */
            if (events[k].kind == RP_YES || events[k].kind == RP_NEXT)
                events[k].kind = RP_RECV;
        struct blocks source = {.events = events, .count = count, .lengths = lengths};
        struct rp_match late[100];
        size_t late_count =
            find_late(events, lengths, blocks = cut(&seed, count, most, lengths), late);
        source.fail_at = unit_below(&seed, blocks);
        for (size_t k = 0; k < source.fail_at; k++)
            good += lengths[k];
        uint64_t posts;
        struct rp_match *truth = truth_of(events, count, &posts);
        struct rp_matcher *m;
        struct rp_problem why;
        enum rp_status status =
            rp_matcher_create((struct rp_block_source){next_block, &source, most}, late, late_count,
                              &m, &why);
        CHECK_EQ(status, source.fail_at == 0 ? RP_DAMAGED : RP_OK);
        if (status == RP_OK) {
            for (size_t k = 0; k < good; k++) { /* matches in the bad block cannot be known: only
                                                   the events are looked at */
                const struct rp_event *event;
                CHECK(rp_matcher_peek(m, &event, &why) == RP_OK && event &&
                      memcmp(event, &events[k], sizeof *event) == 0);
                rp_matcher_take(m);
            }
            for (int again = 0; again < 2; again++) {
                const struct rp_event *event;
                why.text[0] = 0;
                CHECK_EQ(rp_matcher_peek(m, &event, &why), RP_DAMAGED);
                CHECK_HAS(why.text, "is bad");
                CHECK_EQ(rp_matcher_ahead(m, 0, &event, &why), RP_DAMAGED);
            }
            CHECK_EQ(rp_matcher_position(m), good);
            rp_matcher_free(m);
        }
        CHECK_HAS(why.text, "is bad");
        free(truth);
        free(events);
    }
}

TEST(an_empty_record)
{
    struct blocks source = {.fail_at = SIZE_MAX};
    struct rp_match late = {7, RP_MATCH, 1, 2}, found;
    const struct rp_event *event;
    struct rp_matcher *m;
    struct rp_problem why;

    REQUIRE(rp_matcher_create((struct rp_block_source){next_block, &source, 4}, &late, 1, &m,
                              &why) == RP_OK);
    for (int i = 0; i < 3; i++) {
        CHECK(rp_matcher_peek(m, &event, &why) == RP_OK && !event);
        CHECK(rp_matcher_ahead(m, 0, &event, &why) == RP_OK && !event);
        CHECK(rp_matcher_ahead(m, 5, &event, &why) == RP_OK && !event);
    }
    CHECK(!rp_matcher_find(m, 6, &found));
    CHECK(rp_matcher_find(m, 7, &found) && same_match(&found, &late));
    CHECK(!rp_matcher_find(m, 8, &found));
    CHECK_EQ(rp_matcher_position(m), 0);
    rp_matcher_free(m);
    rp_matcher_free(NULL);
}

TEST(looking_moves_nothing)
{
    enum { COUNT = 20, BLOCK = 8 };
    size_t lengths[] = {BLOCK, BLOCK, COUNT - 2 * BLOCK};
    struct rp_event *events = sample_stream(9, COUNT);
    struct blocks source = {.events = events,
                            .count = COUNT,
                            .lengths = lengths,
                            .fail_at = SIZE_MAX};
    const struct rp_event *event;
    struct rp_matcher *m;
    struct rp_problem why;

    REQUIRE(rp_matcher_create((struct rp_block_source){next_block, &source, BLOCK}, NULL, 0, &m,
                              &why) == RP_OK);
    for (size_t at = 0; at < COUNT; at++) {
        REQUIRE(rp_matcher_peek(m, &event, &why) == RP_OK && event == rp_matcher_look(m, 0));
        size_t loaded =
            at / BLOCK * BLOCK + 2 * BLOCK < COUNT ? at / BLOCK * BLOCK + 2 * BLOCK : COUNT;
        for (size_t ahead = 0; ahead < COUNT; ahead++) {
            const struct rp_event *seen = rp_matcher_look(m, ahead);
            CHECK(at + ahead < loaded ? seen && memcmp(seen, &events[at + ahead], sizeof *seen) == 0
                                      : !seen);
        }
        rp_matcher_take(m);
    }
    CHECK(!rp_matcher_look(m, 0));
    rp_matcher_free(m);
    free(events);
}

TEST(a_group_longer_than_many_blocks)
{
    enum { GROUP = 500 };
    static struct rp_event events[GROUP + 2];
    static size_t lengths[GROUP + 2];
    struct blocks source = {.events = events,
                            .count = GROUP + 2,
                            .lengths = lengths,
                            .fail_at = SIZE_MAX};
    const struct rp_event *event;
    struct rp_matcher *m;
    struct rp_problem why;
    enum rp_status status;
    uint64_t seed = 53;
    struct rp_match none[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};

    events[0] = (struct rp_event)RP_EVENT(RP_RECV, 0, 0, 0, 1, 2, 0);
    events[1] = (struct rp_event)RP_EVENT(RP_YES, 0, 0, GROUP, 0, GROUP, 0);
    for (int i = 2; i < GROUP + 1; i++)
        events[i] = (struct rp_event)RP_EVENT(RP_NEXT, 0, 0, 0, i, 0, 0);
    events[GROUP + 1] = (struct rp_event)RP_EVENT(RP_RECV, 0, 0, 0, 3, 4, 0);
    for (size_t most = 1; most < 40; most += 3) {
        source.at = source.next = 0;
        cut(&seed, GROUP + 2, most, lengths);
        REQUIRE(rp_matcher_create((struct rp_block_source){next_block, &source, most}, NULL, 0, &m,
                                  &why) == RP_OK);
        CHECK_EQ(follow(m, &seed, events, GROUP + 2, none, &status, &why), GROUP + 2);
        rp_matcher_free(m);
    }
    source.at = source.next = 0;
    source.count = 100; /* the record ends inside the group */
    for (size_t i = 0; i < 100; i++)
        lengths[i] = 1;
    REQUIRE(rp_matcher_create((struct rp_block_source){next_block, &source, 1}, NULL, 0, &m,
                              &why) == RP_OK);
    rp_matcher_take(m);
    CHECK(rp_matcher_ahead(m, GROUP - 1, &event, &why) == RP_OK && !event);
    CHECK(rp_matcher_ahead(m, 98, &event, &why) == RP_OK && event && event->any.a == 99);
    rp_matcher_free(m);
}

/* Memory */

struct synthetic {
    uint64_t made, total;
    uint32_t group; /* events in a call */
};

/* Receive 0 is posted before the first event and matched by the last; receives 1, 2, ... are
 * matched a few events after they were posted. */
static enum rp_status next_synthetic(void *owner, struct rp_event *events, size_t *count,
                                     struct rp_problem *why)
{
    struct synthetic *s = owner;

    (void)why;
    *count = s->total - s->made < RP_CHUNK_EVENTS ? (size_t)(s->total - s->made) : RP_CHUNK_EVENTS;
    for (size_t i = 0; i < *count; i++, s->made++) {
        uint64_t n = s->made;
        if (n + 1 == s->total)
            events[i] = (struct rp_event)RP_EVENT(RP_MATCH, 0, 0, 0, 7, 8, 0);
        else if (s->group > 1)
            events[i] =
                n % s->group == 0
                    ? (struct rp_event)RP_EVENT(RP_YES, 0, n == 0, s->group, 0, (int32_t)s->group,
                                                0)
                    : (struct rp_event)RP_EVENT(RP_NEXT, 0, 0, 0, (int32_t)(n % s->group), 0, 0);
        else if (n % 2 == 0)
            events[i] = (struct rp_event)RP_EVENT(RP_RECV, 0, 1, 0, 1, 2, 0);
        else
            events[i] = (struct rp_event)RP_EVENT(RP_MATCH, 0, n == 1, 0, 3, 4, n / 2 + 1);
    }
    return RP_OK;
}

#ifdef __SANITIZE_ADDRESS__
enum { HEAP_IS_KNOWN = 0 }; /* the sanitizer's allocator does not tell */
#else
enum { HEAP_IS_KNOWN = 1 };
#endif

static size_t heap(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

/* Takes all events; returns the most heap that was used on the way. */
static size_t most_heap(struct synthetic s, size_t before)
{
    struct rp_match late = {0, RP_MATCH, 7, 8}, found;
    struct rp_block_source source = {next_synthetic, &s, RP_CHUNK_EVENTS_LIMIT};
    const struct rp_event *event;
    struct rp_matcher *m;
    struct rp_problem why;
    uint64_t post = 0, total = s.total, wrong = 0;
    size_t most = 0;

    if (rp_matcher_create(source, &late, 1, &m, &why) != RP_OK)
        return SIZE_MAX;
    for (uint64_t i = 0; i < total; i++) {
        if (rp_matcher_peek(m, &event, &why) != RP_OK || !event)
            return SIZE_MAX;
        for (uint32_t k = 0; k < event->posts; k++, post++)
            wrong += !rp_matcher_find(m, post, &found) || found.source != (post == 0 ? 7 : 3);
        if (event->kind == RP_YES &&
            rp_matcher_ahead(m, (size_t)event->any.b - 1, &event, &why) != RP_OK)
            return SIZE_MAX;
        rp_matcher_take(m);
        if (i % 1000 == 0 && heap() - before > most)
            most = heap() - before;
    }
    CHECK_EQ(wrong, 0);
    CHECK(rp_matcher_peek(m, &event, &why) == RP_OK && !event);
    rp_matcher_free(m);
    return most;
}

enum { MEMORY_LIMIT = 8 << 20 }; /* two blocks of the largest kind, and their matches */

TEST(ten_million_events_take_a_few_mebibytes)
{
    size_t most = most_heap((struct synthetic){.total = 10000001, .group = 1}, heap());

    CHECK(most > 0 || !HEAP_IS_KNOWN);
    if (most > MEMORY_LIMIT)
        unit_fail(__FILE__, __LINE__, "%zu bytes", most);
}

TEST(groups_over_every_block_boundary_take_no_more)
{
    size_t most = most_heap((struct synthetic){.total = 10000000, .group = 1000}, heap());

    CHECK(most > 0 || !HEAP_IS_KNOWN);
    if (most > MEMORY_LIMIT)
        unit_fail(__FILE__, __LINE__, "%zu bytes", most);
}
