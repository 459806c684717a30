/* SPDX-License-Identifier: MIT */
/* Codec tables: what goes in comes out; what was never put in is refused, whatever it is, and costs no more memory than it may. */
#include "codec/codec.h"

#include <malloc.h>
#include <zstd.h>

#include "unit.h"

enum { MOST = 4096 };

static uint64_t seed = 5;

static struct rp_event random_event(bool wild)
{
    struct rp_event e = {1 + (uint32_t)unit_below(&seed, RP_EVENT_KINDS - 1), (uint32_t)unit_below(&seed, 8), 0, 0, 0, 0, 0};

    if (wild) {
        e.site = (uint32_t)unit_edge(&seed);
        e.posts = (uint32_t)unit_edge(&seed);
        e.scope = (uint32_t)unit_edge(&seed);
        e.a = (int32_t)unit_edge(&seed);
        e.b = (int32_t)unit_edge(&seed);
        e.c = unit_edge(&seed);
    }
    if (e.kind == RP_YES) {
        e.b = (int32_t)unit_below(&seed, 5) - 1;
        e.a = e.b > 0 ? (int32_t)((uint32_t)e.a >> 1) : -1;
    } else if (e.kind == RP_NEXT || e.kind == RP_TURN) {
        e.a = (int32_t)((uint32_t)e.a >> 1);
    } else if (e.kind == RP_THREAD) {
        e.a = 1 + (int32_t)((uint32_t)e.a >> 2);
        e.posts = 0;
    } else if (e.kind == RP_CLOCK) {
        e.a = (int32_t)((uint32_t)e.a >> 1);
        e.b = (int32_t)((uint32_t)e.b >> 1) - 1;
        e.posts = 0;
    } else if (e.kind == RP_NO) {
        e.a = (int32_t)((uint32_t)e.a >> 1);
        e.b = (int32_t)((uint32_t)e.b % RP_OPEN_RUNS);
        e.c += e.c == 0;
    }
    return e;
}

static struct rp_buffer scratch, payload;

static uint32_t encode(const struct rp_event *events, size_t count)
{
    uint32_t raw = 0;

    rp_buffer_clear(&payload);
    CHECK_EQ(rp_codec_tables.encode(events, count, &scratch, &payload, &raw), RP_OK);
    return raw;
}

static bool comes_back(const struct rp_event *events, size_t count)
{
    static struct rp_event again[RP_CHUNK_EVENTS_LIMIT];
    struct rp_problem why;
    uint32_t raw = encode(events, count);

    memset(again, 0xee, count * sizeof *again);
    return rp_codec_tables.decode(payload.bytes, payload.length, raw, count, &scratch, again, &why) == RP_OK &&
           memcmp(again, events, count * sizeof *events) == 0;
}

TEST(codecs_are_found)
{
    CHECK(rp_codec_by_id(1) == &rp_codec_tables);
    CHECK(rp_codec_by_name("tables") == &rp_codec_tables);
    CHECK(!rp_codec_by_id(0) && !rp_codec_by_id(2) && !rp_codec_by_id(UINT16_MAX));
    CHECK(!rp_codec_by_name("") && !rp_codec_by_name("Tables") && !rp_codec_by_name("tables2"));
}

TEST(the_columns_are_those_of_the_format)
{
    static const struct rp_event events[] = {
        {RP_MATCH, 1, 200, 0, -1, 5, 10}, {RP_NO, 0, 0, 3, 0, 0, 300}, {RP_FREED, 2, 0, 0, 3, -64, 11}, {RP_CANCELLED, 2, 0, 0, 0, 0, 7}};
    static const uint8_t expected[] = {
        6, 3, 10, 7,               /* kind */
        1, 0, 2, 2,                /* site */
        0xc8, 0x01, 0, 0, 0,       /* posts */
        0, 3, 0, 0,                /* scope */
        1, 0, 6, 0,                /* a */
        10, 0, 127, 0,             /* b */
        20, 0xac, 0x02, 0, 9,      /* c: 10 - 0; 300; 11 - 11; 7 - 12 = -5 */
    };
    uint8_t raw[256];

    CHECK_EQ(encode(events, 4), sizeof expected);
    size_t length = ZSTD_decompress(raw, sizeof raw, payload.bytes, payload.length);
    CHECK_EQ(length, sizeof expected);
    CHECK(memcmp(raw, expected, sizeof expected) == 0);
}

TEST(edge_values_come_back)
{
    static const uint64_t edges[] = {0, 1, 127, 128, INT32_MAX, (uint64_t)INT32_MAX + 1, UINT32_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    enum { EDGES = sizeof edges / sizeof *edges };
    static struct rp_event events[EDGES * EDGES];
    size_t count = 0;

    for (int i = 0; i < EDGES; i++)
        for (int k = 0; k < EDGES; k++)
            events[count++] = (struct rp_event){k % 2 ? RP_MATCH : RP_RECV, (uint32_t)edges[i], (uint32_t)edges[k], (uint32_t)edges[i],
                                                (int32_t)(uint32_t)edges[k], (int32_t)(uint32_t)edges[i], edges[k]};
    CHECK(comes_back(events, count));
    for (size_t i = 0; i < count; i++)
        CHECK(comes_back(&events[i], 1));
}

TEST(random_chunks_come_back)
{
    static struct rp_event events[MOST];

    for (int i = 0; i < 30000; i++) {
        size_t count = 1 + unit_below(&seed, i % 100 == 0 ? MOST : 12);
        bool wild = unit_below(&seed, 3) > 0;
        for (size_t k = 0; k < count; k++)
            events[k] = random_event(wild);
        CHECK(comes_back(events, count));
    }
}

TEST(the_largest_chunk_of_the_largest_events)
{
    static struct rp_event events[RP_CHUNK_EVENTS_LIMIT];

    for (size_t i = 0; i < RP_CHUNK_EVENTS_LIMIT; i++)
        events[i] = (struct rp_event){RP_MATCH, UINT32_MAX, UINT32_MAX, UINT32_MAX, INT32_MIN, INT32_MIN, i % 2 ? 0 : INT64_MAX};
    CHECK(comes_back(events, RP_CHUNK_EVENTS_LIMIT));
    for (size_t i = 0; i < RP_CHUNK_EVENTS_LIMIT; i++)
        events[i] = random_event(true);
    CHECK(comes_back(events, RP_CHUNK_EVENTS_LIMIT));
}

/* Hostile input */

static enum rp_status decode(const uint8_t *bytes, size_t length, uint32_t raw, size_t count)
{
    static struct rp_event events[RP_CHUNK_EVENTS_LIMIT];
    struct rp_problem why = {""};
    uint8_t *copy = malloc(length + 1); /* exactly as long as it says, for the tools */

    memcpy(copy, bytes, length);
    enum rp_status status = rp_codec_tables.decode(copy, length, raw, count, &scratch, events, &why);
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

TEST(truncated_payloads_are_refused)
{
    struct rp_event events[40];

    for (int i = 0; i < 30; i++) {
        size_t count = sample(events, true);
        uint32_t raw = encode(events, count);
        for (size_t cut = 0; cut < payload.length; cut++)
            CHECK_EQ(decode(payload.bytes, cut, raw, count), RP_DAMAGED);
    }
}

TEST(another_length_or_count_is_refused)
{
    struct rp_event events[40];

    for (int i = 0; i < 200; i++) {
        size_t count = sample(events, true);
        uint32_t raw = encode(events, count);
        CHECK_EQ(decode(payload.bytes, payload.length, raw, count), RP_OK);
        CHECK_EQ(decode(payload.bytes, payload.length, raw + 1, count), RP_DAMAGED);
        CHECK_EQ(decode(payload.bytes, payload.length, raw - 1, count), RP_DAMAGED);
        CHECK_EQ(decode(payload.bytes, payload.length, UINT32_MAX, count), RP_DAMAGED);
        CHECK_EQ(decode(payload.bytes, payload.length, raw, count + 1), RP_DAMAGED);
        CHECK_EQ(decode(payload.bytes, payload.length, 0, count), RP_DAMAGED);
    }
}

TEST(flipped_bits_never_crash)
{
    struct rp_event events[40];

    for (int i = 0; i < 100; i++) {
        size_t count = sample(events, i % 2);
        uint32_t raw = encode(events, count);
        for (size_t bit = 0; bit < payload.length * 8; bit++) {
            payload.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            decode(payload.bytes, payload.length, raw, count);
            payload.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

/* The columns themselves, through an intact zstd frame. */
static enum rp_status decode_columns(const uint8_t *columns, size_t length, size_t count)
{
    size_t room = ZSTD_compressBound(length);
    uint8_t *bytes = malloc(room);
    size_t stored = ZSTD_compress(bytes, room, columns, length, 1);
    enum rp_status status = decode(bytes, stored, (uint32_t)length, count);

    free(bytes);
    return status;
}

TEST(hostile_columns_never_crash)
{
    struct rp_event events[40];

    for (int i = 0; i < 300; i++) {
        size_t count = sample(events, i % 2);
        uint32_t raw = encode(events, count);
        uint8_t columns[40 * 41];
        CHECK_EQ(ZSTD_decompress(columns, sizeof columns, payload.bytes, payload.length), raw);
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
    static const uint8_t site[] = {1, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0, 0, 0, 0};    /* 2^32 */
    static const uint8_t source[] = {1, 0, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x10, 0, 0};  /* 2^31 */
    static const uint8_t kind[] = {RP_EVENT_KINDS, 0, 0, 0, 0, 0, 0}, none[] = {3, 0, 0, 0, 0, 0, 0}, fine[] = {1, 0, 0, 0, 0, 0, 0};

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
    rp_buffer_free(&scratch);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    CHECK_EQ(decode(bytes, length, 64 << 20, 4), RP_DAMAGED);
    CHECK_EQ(decode(bytes, length, 100, 4), RP_DAMAGED);
    CHECK(mallinfo2().uordblks + mallinfo2().hblkhd < before + 65536);
    free(bytes);
    rp_buffer_free(&scratch);
    rp_buffer_free(&payload);
}
