/* SPDX-License-Identifier: MIT */
/*
 * The matcher against a model that searches the whole stream. The input is a program: each byte
 * posts a receive, completes one, polls, or makes a group; then the lengths of blocks. Late matches
 * are those of format.md, section 5.
 */
#include "fuzz.h"
#include "match/matcher.h"

enum { MOST = 512, BLOCK = 16 };

static struct rp_event events[MOST];
static size_t event_count, lengths[MOST], block_count;
static uint64_t next_post, told_posts;
static uint64_t pending[MOST * 4];
static size_t pending_count;

static void add(uint32_t kind, int32_t a, int32_t b, uint64_t c)
{
    if (event_count == MOST)
        return;
    events[event_count++] =
        (struct rp_event)RP_EVENT(kind, 0, (uint32_t)(next_post - told_posts), 0, a, b, c);
    told_posts = next_post;
}

static void complete(uint8_t byte)
{
    static const uint32_t kinds[] = {RP_MATCH, RP_MATCH, RP_CANCELLED, RP_FREED};

    if (pending_count == 0 || event_count == MOST)
        return;
    size_t which = byte / 4 % pending_count;
    add(kinds[byte % 4], byte, (int32_t)event_count, pending[which]);
    pending[which] = pending[--pending_count];
}

static void group(uint8_t count)
{
    add(RP_YES, 0, count + 1, 0);
    for (uint8_t i = 0; i < count; i++)
        add(RP_NEXT, i, 0, 0);
}

static void step(uint8_t byte)
{
    switch (byte >> 6) {
    case 0:
        if (next_post < MOST * 4 && byte & 1)
            pending[pending_count++] = next_post;
        next_post += next_post < MOST * 4;
        break;
    case 1:
        add(byte & 1 ? RP_RECV : RP_NO, byte, 0, 1);
        break;
    case 2:
        group(byte & 63);
        break;
    default:
        complete(byte);
    }
}

static void make_stream(const uint8_t *bytes, size_t length)
{
    event_count = pending_count = block_count = 0;
    next_post = told_posts = 0;
    size_t half = length * 2 / 3;
    for (size_t i = 0; i < half; i++)
        step(bytes[i]);
    for (size_t at = 0; at < event_count; block_count++) {
        size_t size = half + block_count < length ? 1u + bytes[half + block_count] % BLOCK : BLOCK;
        lengths[block_count] = size < event_count - at ? size : event_count - at;
        at += lengths[block_count];
    }
}

static int by_post(const void *one, const void *other)
{
    uint64_t a = ((const struct rp_match *)one)->post, b = ((const struct rp_match *)other)->post;

    return a < b ? -1 : a > b;
}

static size_t find_late(struct rp_match *late)
{
    uint64_t posts = 0, before_this = 0, before_last = 0;
    size_t at = 0, count = 0;

    for (size_t n = 0; n < block_count; n++) {
        before_last = before_this;
        before_this = posts + events[at].posts;
        for (size_t i = 0; i < lengths[n]; i++, at++) {
            posts += events[at].posts;
            if (n > 0 && rp_event_has_post(events[at].kind) && events[at].any.c < before_last)
                late[count++] = (struct rp_match){events[at].any.c, events[at].kind,
                                                  events[at].any.a, events[at].any.b};
        }
    }
    qsort(late, count, sizeof *late, by_post);
    return count;
}

struct place {
    size_t at, block;
};

static enum rp_status next_block(void *owner, struct rp_event *out, size_t *count,
                                 struct rp_problem *why)
{
    struct place *place = owner;

    (void)why;
    *count = place->block < block_count ? lengths[place->block++] : 0;
    if (*count > 0)
        memcpy(out, events + place->at, *count * sizeof *out);
    place->at += *count;
    return RP_OK;
}

static void check_post(struct rp_matcher *m, uint64_t post)
{
    struct rp_match found;
    const struct rp_event *real = NULL;

    for (size_t i = 0; i < event_count; i++)
        if (rp_event_has_post(events[i].kind) && events[i].any.c == post)
            real = &events[i];
    bool is_there = rp_matcher_find(m, post, &found);
    FUZZ_CHECK(is_there == (real != NULL));
    FUZZ_CHECK(!real || (found.kind == real->kind && found.source == real->any.a &&
                         found.tag == real->any.b));
}

static void check_group(struct rp_matcher *m, size_t at)
{
    const struct rp_event *event;
    struct rp_problem why;

    for (size_t k = events[at].kind == RP_YES ? (size_t)events[at].any.b : 1; k-- > 0;) {
        FUZZ_CHECK(rp_matcher_ahead(m, k, &event, &why) == RP_OK);
        FUZZ_CHECK(at + k < event_count
                       ? event && memcmp(event, &events[at + k], sizeof *event) == 0
                       : !event);
    }
}

static void follow(struct rp_matcher *m)
{
    const struct rp_event *event;
    struct rp_problem why;
    uint64_t post = 0;

    for (size_t i = 0; i < event_count; i++) {
        for (uint32_t k = 0; k < events[i].posts; k++)
            check_post(m, post++);
        FUZZ_CHECK(rp_matcher_peek(m, &event, &why) == RP_OK && event &&
                   memcmp(event, &events[i], sizeof *event) == 0);
        check_group(m, i);
        FUZZ_CHECK(rp_matcher_position(m) == i);
        rp_matcher_take(m);
    }
    FUZZ_CHECK(rp_matcher_peek(m, &event, &why) == RP_OK && !event);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static struct rp_match late[MOST];
    struct place place = {0, 0};
    struct rp_matcher *m;
    struct rp_problem why;

    make_stream(bytes, length);
    size_t late_count = find_late(late);
    FUZZ_CHECK(rp_matcher_create((struct rp_block_source){next_block, &place, BLOCK}, late,
                                 late_count, &m, &why) == RP_OK);
    follow(m);
    rp_matcher_free(m);
    return 0;
}
