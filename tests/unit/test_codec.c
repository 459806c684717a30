/* SPDX-License-Identifier: MIT */
/* Codecs: what goes in comes out; what was never put in is refused, whatever it is, and costs no
 * more memory than it may. */
#include "codec/codec.h"

#include <malloc.h>
#include <zstd.h>

#include "unit.h"

enum { MOST = 4096 };

static uint64_t seed = 5;

static struct rp_event random_event(bool wild)
{
    struct rp_event e = RP_EVENT(1 + (uint32_t)unit_below(&seed, RP_EVENT_KINDS - 1),
                                 (uint32_t)unit_below(&seed, 8), 0, 0, 0, 0, 0);

    if (wild) {
        e.site = (uint32_t)unit_edge(&seed);
        e.posts = (uint32_t)unit_edge(&seed);
        e.scope = (uint32_t)unit_edge(&seed);
        e.any.a = (int32_t)unit_edge(&seed);
        e.any.b = (int32_t)unit_edge(&seed);
        e.any.c = unit_edge(&seed);
    }
    if (e.kind == RP_YES) {
        e.any.b = (int32_t)unit_below(&seed, 5) - 1;
        e.any.a = e.any.b > 0 ? (int32_t)((uint32_t)e.any.a >> 1) : -1;
    } else if (e.kind == RP_NEXT || e.kind == RP_TURN) {
        e.any.a = (int32_t)((uint32_t)e.any.a >> 1);
    } else if (e.kind == RP_THREAD) {
        e.any.a = 1 + (int32_t)((uint32_t)e.any.a >> 2);
    } else if (e.kind == RP_CLOCK) {
        e.any.a = (int32_t)((uint32_t)e.any.a >> 1);
        e.any.b = (int32_t)((uint32_t)e.any.b >> 1) - 1;
    } else if (e.kind == RP_NO) {
        e.any.a = (int32_t)((uint32_t)e.any.a >> 1);
        e.any.b = (int32_t)((uint32_t)e.any.b % RP_OPEN_RUNS);
        e.any.c += e.any.c == 0;
    }
    if (!rp_event_counts_posts(e.kind))
        e.posts = 0;
    return e;
}

static const struct rp_codec *const codecs[] = {&rp_codec_tables, &rp_codec_mix};
enum { CODECS = sizeof codecs / sizeof *codecs };

static const struct rp_codec *codec = &rp_codec_tables;
static void *encoder[CODECS], *decoder[CODECS];
static int chosen;
static struct rp_buffer payload;

/* From here on this codec is meant, with nothing learnt. */
static void choose(int number)
{
    chosen = number;
    codec = codecs[number];
    if (!encoder[number]) {
        encoder[number] = codec->open();
        decoder[number] = codec->open();
    }
    codec->reset(encoder[number]);
    codec->reset(decoder[number]);
}

static void encode(const struct rp_event *events, size_t count)
{
    rp_buffer_clear(&payload);
    CHECK_EQ(codec->encode(encoder[chosen], events, count, &payload), RP_OK);
}

static bool comes_back(const struct rp_event *events, size_t count)
{
    static struct rp_event again[RP_CHUNK_EVENTS_LIMIT];
    struct rp_problem why;

    encode(events, count);
    memset(again, 0xee, count * sizeof *again);
    return codec->decode(decoder[chosen], payload.bytes, payload.length, count, again, &why) ==
               RP_OK &&
           memcmp(again, events, count * sizeof *events) == 0;
}

TEST(codecs_are_found)
{
    CHECK(rp_codec_by_id(1) == &rp_codec_tables);
    CHECK(rp_codec_by_name("tables") == &rp_codec_tables);
    CHECK(rp_codec_by_id(2) == &rp_codec_mix);
    CHECK(rp_codec_by_name("mix") == &rp_codec_mix);
    CHECK(!rp_codec_by_id(0) && !rp_codec_by_id(UINT8_MAX));
    CHECK(!rp_codec_by_name("") && !rp_codec_by_name("Tables") && !rp_codec_by_name("tables2"));
}

TEST(the_columns_are_those_of_the_format)
{
    static const struct rp_event events[] = {RP_EVENT(RP_MATCH, 1, 200, 0, -1, 5, 10),
                                             RP_EVENT(RP_NO, 0, 0, 3, 0, 0, 300),
                                             RP_EVENT(RP_FREED, 2, 0, 0, 3, -64, 11),
                                             RP_EVENT(RP_CANCELLED, 2, 0, 0, 0, 0, 7)};
    static const uint8_t expected[] = {
        6,    3,    10,   7,    /* kind */
        1,    0,    2,    2,    /* site */
        0xc8, 0x01, 0,    0, 0, /* posts */
        0,    3,    0,    0,    /* scope */
        1,    0,    6,    0,    /* a */
        10,   0,    127,  0,    /* b */
        20,   0xac, 0x02, 0, 9, /* c: 10 - 0; 300; 11 - 11; 7 - 12 = -5 */
    };
    uint8_t raw[256];

    choose(0);
    encode(events, 4);
    size_t length = ZSTD_decompress(raw, sizeof raw, payload.bytes, payload.length);
    CHECK_EQ(length, sizeof expected);
    CHECK(memcmp(raw, expected, sizeof expected) == 0);
}

TEST(edge_values_come_back)
{
    static const uint64_t edges[] = {0,          1,         127,
                                     128,        INT32_MAX, (uint64_t)INT32_MAX + 1,
                                     UINT32_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1,
                                     UINT64_MAX};
    enum { EDGES = sizeof edges / sizeof *edges };
    static struct rp_event events[EDGES * EDGES];
    size_t count = 0;

    for (int i = 0; i < EDGES; i++)
        for (int k = 0; k < EDGES; k++)
            events[count++] =
                (struct rp_event)RP_EVENT(k % 2 ? RP_MATCH : RP_RECV, (uint32_t)edges[i],
                                          (uint32_t)edges[k], (uint32_t)edges[i],
                                          (int32_t)(uint32_t)edges[k], (int32_t)(uint32_t)edges[i],
                                          edges[k]);
    for (int k = 0; k < CODECS; k++) {
        choose(k);
        CHECK(comes_back(events, count));
        for (size_t i = 0; i < count; i++)
            CHECK(comes_back(&events[i], 1));
    }
}

TEST(random_chunks_come_back)
{
    static struct rp_event events[MOST];

    for (int i = 0; i < 30000; i++) {
        size_t count = 1 + unit_below(&seed, i % 100 == 0 ? MOST : 12);
        bool wild = unit_below(&seed, 3) > 0;
        for (size_t k = 0; k < count; k++)
            events[k] = random_event(wild);
        choose(0);
        CHECK(comes_back(events, count));
        if (i % 500 == 0)
            choose(1); /* else what it has learnt goes on */
        chosen = 1, codec = codecs[1];
        CHECK(comes_back(events, count));
    }
}

TEST(the_largest_chunk_of_the_largest_events)
{
    static struct rp_event events[RP_CHUNK_EVENTS_LIMIT];

    for (size_t i = 0; i < RP_CHUNK_EVENTS_LIMIT; i++)
        events[i] = (struct rp_event)RP_EVENT(RP_MATCH, UINT32_MAX, UINT32_MAX, UINT32_MAX,
                                              INT32_MIN, INT32_MIN, i % 2 ? 0 : INT64_MAX);
    for (int k = 0; k < CODECS; k++) {
        choose(k);
        CHECK(comes_back(events, RP_CHUNK_EVENTS_LIMIT));
    }
    for (size_t i = 0; i < RP_CHUNK_EVENTS_LIMIT; i++)
        events[i] = random_event(true);
    for (int k = 0; k < CODECS; k++) {
        choose(k);
        CHECK(comes_back(events, RP_CHUNK_EVENTS_LIMIT));
    }
}

/* Hostile input */

static enum rp_status decode(const uint8_t *bytes, size_t length, size_t count)
{
    static struct rp_event events[RP_CHUNK_EVENTS_LIMIT];
    struct rp_problem why = {""};
    uint8_t *copy = malloc(length + 1); /* exactly as long as it says, for the tools */

    memcpy(copy, bytes, length);
    codec->reset(decoder[chosen]);
    enum rp_status status = codec->decode(decoder[chosen], copy, length, count, events, &why);
    free(copy);
    if (status == RP_OK)
        for (size_t i = 0; i < count; i++)
            CHECK(rp_event_is_valid(&events[i]));
    else
        CHECK(why.text[0]);
    return status;
}

static size_t sample(struct rp_event *events, bool wild)
{
    size_t count = 1 + unit_below(&seed, 40);

    for (size_t k = 0; k < count; k++)
        events[k] = random_event(wild);
    return count;
}

/* Of mix some may be taken for other events: it is the chunk's checksum that tells. */
TEST(truncated_payloads_are_refused)
{
    struct rp_event events[40];

    for (int i = 0; i < 30 * CODECS; i++) {
        size_t count = sample(events, true);
        choose(i % CODECS);
        encode(events, count);
        for (size_t cut = 0; cut < payload.length;
             cut += 1 + (size_t)(i % CODECS) * unit_below(&seed, 20))
            CHECK(decode(payload.bytes, cut, count) == RP_DAMAGED || codec == &rp_codec_mix);
    }
}

/* Mix cannot tell one event more from none: the chunk's header counts them. */
TEST(another_length_or_count_is_refused)
{
    struct rp_event events[40];

    for (int i = 0; i < 200; i++) {
        size_t count = sample(events, true);
        choose(i % CODECS);
        encode(events, count);
        CHECK_EQ(decode(payload.bytes, payload.length, count), RP_OK);
        if (codec == &rp_codec_tables)
            CHECK_EQ(decode(payload.bytes, payload.length, count + 1), RP_DAMAGED);
        rp_buffer_byte(&payload, 0);
        CHECK_EQ(decode(payload.bytes, payload.length, count), RP_DAMAGED);
    }
}

TEST(flipped_bits_never_crash)
{
    struct rp_event events[40];

    for (int i = 0; i < 100; i++) {
        size_t count = sample(events, i / 2 % 2);
        choose(i % CODECS);
        encode(events, count);
        for (size_t bit = 0; bit < payload.length * 8;
             bit += 1 + (size_t)(i % CODECS) * unit_below(&seed, 200)) {
            payload.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            decode(payload.bytes, payload.length, count);
            payload.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

TEST(random_bytes_never_crash_mix)
{
    uint8_t bytes[256];

    choose(1);
    for (int i = 0; i < 300; i++) {
        size_t length = unit_below(&seed, sizeof bytes);
        for (size_t k = 0; k < length; k++)
            bytes[k] = (uint8_t)unit_random(&seed);
        decode(bytes, length, 1 + unit_below(&seed, 1000));
    }
}

/* The columns themselves, through an intact zstd frame. */
static enum rp_status decode_columns(const uint8_t *columns, size_t length, size_t count)
{
    size_t room = ZSTD_compressBound(length);
    uint8_t *bytes = malloc(room);
    size_t stored = ZSTD_compress(bytes, room, columns, length, 1);
    enum rp_status status;

    choose(0);
    status = decode(bytes, stored, count);

    free(bytes);
    return status;
}

TEST(hostile_columns_never_crash)
{
    struct rp_event events[40];

    for (int i = 0; i < 300; i++) {
        size_t count = sample(events, i % 2);
        uint8_t columns[40 * 41];
        choose(0);
        encode(events, count);
        size_t raw = ZSTD_decompress(columns, sizeof columns, payload.bytes, payload.length);
        REQUIRE(!ZSTD_isError(raw));
        for (int k = 0; k < 30; k++) {
            size_t at = unit_below(&seed, raw);
            uint8_t before = columns[at];
            columns[at] = (uint8_t)unit_random(&seed);
            decode_columns(columns, raw, count);
            columns[at] = before;
        }
        CHECK_EQ(decode_columns(columns, raw, count), RP_OK);
        CHECK_EQ(decode_columns(columns, raw - 1, count), RP_DAMAGED);
    }
}

TEST(values_out_of_range_are_refused)
{
    static const uint8_t site[] = {1, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0, 0, 0, 0};   /* 2^32 */
    static const uint8_t source[] = {1, 0, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0}; /* 2^31 */
    static const uint8_t kind[] = {RP_EVENT_KINDS, 0, 0, 0, 0, 0, 0},
                         none[] = {3, 0, 0, 0, 0, 0, 0}, fine[] = {1, 0, 0, 0, 0, 0, 0};

    CHECK_EQ(decode_columns(fine, sizeof fine, 1), RP_OK);
    CHECK_EQ(decode_columns(site, sizeof site, 1), RP_DAMAGED);
    CHECK_EQ(decode_columns(source, sizeof source, 1), RP_DAMAGED);
    CHECK_EQ(decode_columns(kind, sizeof kind, 1), RP_DAMAGED);
    CHECK_EQ(decode_columns(none, sizeof none, 1), RP_DAMAGED);
}

TEST(a_frame_that_unpacks_to_gigabytes_costs_nothing)
{
    static uint8_t zero[1 << 20];
    size_t room = ZSTD_compressBound(sizeof zero);
    uint8_t *bytes = malloc(64 * room);
    size_t length = 0;

    for (int i = 0; i < 64; i++)
        length += ZSTD_compress(bytes + length, room, zero, sizeof zero, 1);
    choose(0);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    CHECK_EQ(decode(bytes, length, 4), RP_DAMAGED);
    CHECK(mallinfo2().uordblks + mallinfo2().hblkhd < before + 65536);
    free(bytes);
    for (int k = 0; k < CODECS; k++)
        if (encoder[k]) {
            codecs[k]->close(encoder[k]);
            codecs[k]->close(decoder[k]);
        }
    rp_buffer_free(&payload);
}
