/* SPDX-License-Identifier: MIT */
/* Logs put together by hand from docs/format.md: what this version must read, and what it must
 * refuse. */
#include "log/format.h"

#include <fcntl.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "sample.h"

TEST(the_header_is_that_of_the_format)
{
    static const uint8_t start[32] = {0x89, 'R',  'P', 'R', 'L', 'O',  'G',  '\n', 1,    0,    2,
                                      0,    0,    0,   0,   0,   0xef, 0xcd, 0xab, 0x89, 0x67, 0x45,
                                      0x23, 0x01, 5,   0,   0,   0,    9,    1,    0,    0};
    static const uint8_t zero[28];
    struct rp_buffer out = {0};

    rp_format_put_header(&out, 0, UINT64_C(0x0123456789abcdef), 5, 265);
    REQUIRE(out.length == 64);
    CHECK(memcmp(out.bytes, start, 32) == 0 && memcmp(out.bytes + 32, zero, 28) == 0);
    CHECK_EQ(rp_load_u32(out.bytes + 60), rp_crc32c(out.bytes, 60));
    rp_buffer_free(&out);
}

TEST(a_chunk_header_is_that_of_the_format)
{
    struct rp_chunk chunk = {.kind = 3,
                             .codec = 0x09,
                             .flags = 0x0304,
                             .items = 0x0b0c0d0e,
                             .stored = 0x13141516,
                             .first = UINT64_C(0x1718191a1b1c1d1e),
                             .crc = 0x1f202122,
                             .offset = 7},
                    again = {.offset = 9};
    static const uint8_t start[28] =
        {
            'R',  'K',  3,    9,    4,    3,    0,    0,    0x0e, 0x0d,
            0x0c, 0x0b, 0x16, 0x15, 0x14, 0x13, 0x22, 0x21, 0x20, 0x1f,
            0x1e, 0x1d, 0x1c, 0x1b, 0x1a, 0x19, 0x18, 0x17}; /* the last eight are not stored */
    struct rp_chunk_place place = {.events = UINT64_C(0x1718191a1b1c1d1e), .sites = 5},
                          other = {.events = 1, .sites = UINT64_C(0x1718191a1b1c1d1e)};
    struct rp_buffer out = {0};

    rp_format_put_chunk(&out, &chunk);
    REQUIRE(out.length == 24);
    CHECK(memcmp(out.bytes, start, 20) == 0 && rp_load_u32(out.bytes + 20) == rp_crc32c(start, 28));
    CHECK(rp_format_get_chunk(out.bytes, &place, &again));
    CHECK(!rp_format_get_chunk(out.bytes, &other, &again));
    CHECK(again.kind == chunk.kind && again.flags == chunk.flags && again.codec == chunk.codec &&
          again.items == chunk.items);
    CHECK(again.stored == chunk.stored && again.first == chunk.first && again.crc == chunk.crc &&
          again.offset == 9);
    for (size_t bit = 0; bit < 24 * 8; bit++) {
        out.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(!rp_format_get_chunk(out.bytes, &place, &again));
        out.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    rp_buffer_free(&out);
}

TEST(late_matches_are_those_of_the_format)
{
    struct rp_late late = {300, RP_FREED, -1, 64}, again;
    static const uint8_t bytes[] = {0xac, 0x02, 10, 1, 0x80, 0x01};
    struct rp_buffer out = {0};

    rp_format_put_late(&out, &late);
    CHECK(out.length == sizeof bytes && memcmp(out.bytes, bytes, sizeof bytes) == 0);
    struct rp_view in = rp_view_of(bytes, sizeof bytes);
    again = rp_format_get_late(&in);
    CHECK(!in.failed && again.post == 300 && again.kind == RP_FREED && again.source == -1 &&
          again.tag == 64);
    for (size_t cut = 0; cut < sizeof bytes; cut++) {
        in = rp_view_of(bytes, cut);
        rp_format_get_late(&in);
        CHECK(in.failed);
    }
    for (int kind = 0; kind < 256; kind++) {
        uint8_t one[] = {0, (uint8_t)kind, 0, 0};
        in = rp_view_of(one, sizeof one);
        rp_format_get_late(&in);
        CHECK_EQ(!in.failed, kind == 6 || kind == 7 || kind == 10);
    }
    static const uint8_t wide[] = {0, 6, 0x80, 0x80, 0x80, 0x80, 0x20, 0}; /* source 2^32 */
    in = rp_view_of(wide, sizeof wide);
    rp_format_get_late(&in);
    CHECK(in.failed); /* not a source that any event can have */
    rp_buffer_free(&out);
}

/* A log of one RECV, piece by piece */

struct made {
    struct rp_buffer bytes, index;
    uint32_t chunks;
};

static void put(struct made *m, struct rp_chunk chunk, const void *payload, size_t length)
{
    chunk.stored = (uint32_t)length;
    chunk.crc = rp_crc32c(payload, length);
    rp_buffer_byte(&m->index, chunk.kind);
    rp_buffer_varint(&m->index, chunk.items);
    rp_buffer_varint(&m->index, chunk.stored);
    rp_format_put_chunk(&m->bytes, &chunk);
    rp_buffer_put(&m->bytes, payload, length);
    m->chunks++;
}

static const struct rp_event event = RP_EVENT(RP_RECV, 0, 0, 0, 1, 2, 0);

static void put_events(struct made *m, uint64_t first)
{
    struct rp_buffer payload = {0};
    void *state = rp_codec_tables.open();
    struct rp_chunk chunk = {.kind = RP_CHUNK_EVENTS_KIND, .codec = 1, .items = 1, .first = first};

    CHECK_EQ(rp_codec_tables.encode(state, &event, 1, &payload), RP_OK);
    put(m, chunk, payload.bytes, payload.length);
    rp_codec_tables.close(state);
    rp_buffer_free(&payload);
}

static void put_start(struct made *m)
{
    struct rp_buffer site = {0};

    rp_format_put_header(&m->bytes, 0, SAMPLE_RUN, SAMPLE_RANK, SAMPLE_RANKS);
    sample_site(&site, 0);
    put(m, (struct rp_chunk){.kind = RP_CHUNK_SITES, .items = 1}, site.bytes, site.length);
    rp_buffer_free(&site);
}

static void put_end(struct made *m, uint64_t events, uint64_t digest)
{
    struct rp_buffer end = {0};

    rp_buffer_byte(&end, 0);
    rp_buffer_svarint(&end, 0);
    rp_buffer_u64(&end, events);
    rp_buffer_u64(&end, rp_event_receives(&event));
    rp_buffer_u64(&end, digest);
    put(m, (struct rp_chunk){.kind = RP_CHUNK_END}, end.bytes, end.length);
    rp_buffer_free(&end);
}

static void put_index(struct made *m)
{
    struct rp_buffer index = m->index;
    uint64_t offset = m->bytes.length;

    memset(&m->index, 0, sizeof m->index);
    put(m, (struct rp_chunk){.kind = RP_CHUNK_INDEX, .items = m->chunks}, index.bytes,
        index.length);
    rp_buffer_u64(&m->bytes, offset);
    rp_buffer_put(&m->bytes, "RPRINDEX", 8);
    rp_buffer_free(&index);
}

/* Writes, opens and verifies; frees. */
static enum rp_status judge(struct made *m, struct rp_problem *why)
{
    const char *directory = unit_temporary();
    struct rp_log *log;
    struct rp_log_sum sum;

    CHECK_OK(rp_write_new_file(unit_path(directory, "rank-00001.log"), m->bytes.bytes,
                               m->bytes.length, why),
             *why);
    why->text[0] = 0;
    enum rp_status status = sample_open(directory, &log, why);
    if (status == RP_OK) {
        status = rp_log_verify(log, &sum, why);
        rp_log_free(log);
    }
    rp_buffer_free(&m->bytes);
    rp_buffer_free(&m->index);
    memset(m, 0, sizeof *m);
    return status;
}

static void put_one_event(struct made *m)
{
    put_start(m);
    put_events(m, 0);
    put_end(m, 1, rp_digest(RP_DIGEST_START, &event));
}

TEST(a_log_by_hand_is_read)
{
    struct made m = {0};
    struct rp_problem why;

    put_one_event(&m);
    CHECK_OK(judge(&m, &why), why); /* closed but for its index */
    put_one_event(&m);
    put_index(&m);
    CHECK_OK(judge(&m, &why), why);
}

TEST(additions_of_a_later_minor_version_are_passed_over)
{
    struct made m = {0};
    struct rp_problem why;

    for (int indexed = 0; indexed < 2; indexed++) {
        put_start(&m);
        m.bytes.bytes[10] = 7; /* minor */
        struct rp_buffer crc = {0};
        rp_buffer_u32(&crc, rp_crc32c(m.bytes.bytes, 60));
        memcpy(m.bytes.bytes + 60, crc.bytes, 4);
        rp_buffer_free(&crc);
        put(&m, (struct rp_chunk){.kind = 77, .flags = 1, .items = 3, .codec = 9}, "new", 3);
        put_events(&m, 0);
        put_end(&m, 1, rp_digest(RP_DIGEST_START, &event));
        if (indexed)
            put_index(&m);
        CHECK_OK(judge(&m, &why), why);
    }
}

static void patch_header(struct made *m, size_t at, uint8_t value)
{
    struct rp_buffer crc = {0};

    m->bytes.bytes[at] = value;
    rp_buffer_u32(&crc, rp_crc32c(m->bytes.bytes, 60));
    memcpy(m->bytes.bytes + 60, crc.bytes, 4);
    rp_buffer_free(&crc);
}

TEST(what_must_be_known_is_refused_by_name)
{
    static const struct {
        size_t at;
        uint8_t value;
        const char *says;
    } cases[] = {{8, 2, "format 2.2 is newer"},  {12, 4, "feature bits 0x4"},
                 {16, 1, "another run or rank"}, {24, 2, "another run or rank"},
                 {28, 5, "another run or rank"}, {0, 0, "not the log of a rank"}};
    struct made m = {0};
    struct rp_problem why;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_one_event(&m);
        patch_header(&m, cases[i].at, cases[i].value);
        CHECK_EQ(judge(&m, &why), RP_DAMAGED);
        CHECK_HAS(why.text, cases[i].says);
    }
    put_start(&m);
    put(&m, (struct rp_chunk){.kind = 77}, "new", 3);
    CHECK_EQ(judge(&m, &why), RP_DAMAGED);
    CHECK_HAS(why.text, "unknown kind");
}

/* A chunk in the place of the event's, without and with an index. */
static void refuses(struct rp_chunk chunk, const void *payload, size_t length, const char *says)
{
    for (int indexed = 0; indexed < 2; indexed++) {
        struct made m = {0};
        struct rp_problem why;
        put_start(&m);
        put(&m, chunk, payload, length);
        put_end(&m, 1, 0);
        if (indexed)
            put_index(&m);
        CHECK_EQ(judge(&m, &why), RP_DAMAGED);
        CHECK_HAS(why.text, says);
        CHECK_HAS(why.text, "rank-00001.log");
    }
}

TEST(hostile_chunks_are_refused)
{
    refuses((struct rp_chunk){.kind = 1, .codec = 1, .items = 0}, "x", 1, "");
    refuses((struct rp_chunk){.kind = 1, .codec = 1, .items = 65537}, "x", 1, "");
    refuses((struct rp_chunk){.kind = 1, .codec = 1, .items = UINT32_MAX}, "x", 1, "");
    refuses((struct rp_chunk){.kind = 1, .codec = 99, .items = 1}, "x", 1, "codec");
    refuses((struct rp_chunk){.kind = 1, .codec = 1, .flags = 2, .items = 1}, "x", 1,
            "continues another");
    refuses((struct rp_chunk){.kind = 1, .codec = 2, .flags = 2, .items = 1}, "x", 1,
            "continues another");
    refuses((struct rp_chunk){.kind = 1, .codec = 0, .items = 1}, "x", 1, "codec");
    refuses((struct rp_chunk){.kind = 1, .codec = 1, .items = 1}, "not zstd", 8, "zstd");
    refuses((struct rp_chunk){.kind = 1, .codec = 1, .items = 1, .first = 1}, "x", 1,
            "not the chunk that belongs here");
    refuses((struct rp_chunk){.kind = 2, .items = 1, .first = 5}, "X", 1,
            "not the chunk that belongs here");
    refuses((struct rp_chunk){.kind = 2, .items = 1, .first = 1}, "X", 1, "call sites");
    refuses((struct rp_chunk){.kind = 4, .items = UINT32_MAX}, "\0\0", 2, "END");
    refuses((struct rp_chunk){.kind = 4, .items = 0}, "\4\0", 2, "END");
    refuses((struct rp_chunk){.kind = 4, .items = 0, .codec = 1}, "\0\0", 2, "codec");
}

TEST(hostile_late_chunks_are_refused)
{
    static const struct {
        uint32_t items;
        const char *payload;
        size_t length;
    } cases[] = {{UINT32_MAX, "\0\6\0\0", 4},
                 {2, "\0\6\0\0", 4},
                 {1, "\0\5\0\0", 4},
                 {1, "\0\6\0\0\0", 5},
                 {1, "\0\6\0", 3}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made m = {0};
        struct rp_problem why;
        put_start(&m);
        put(&m, (struct rp_chunk){.kind = 3, .items = cases[i].items}, cases[i].payload,
            cases[i].length);
        put_events(&m, 0);
        put_end(&m, 1, rp_digest(RP_DIGEST_START, &event));
        put_index(&m);
        CHECK_EQ(judge(&m, &why), RP_DAMAGED);
        CHECK_HAS(why.text, "late matches");
    }
}

TEST(an_end_that_tells_of_other_events_is_told)
{
    struct made m = {0};
    struct rp_problem why;

    put_start(&m);
    put_events(&m, 0);
    put_end(&m, 2, 0);
    CHECK_EQ(judge(&m, &why), RP_DAMAGED);
    put_start(&m);
    put_events(&m, 0);
    put_end(&m, 1, 12345);
    CHECK_EQ(judge(&m, &why), RP_DAMAGED);
    CHECK_HAS(why.text, "digest");
    put_start(&m);
    put_index(&m);
    CHECK_EQ(judge(&m, &why), RP_DAMAGED);
    CHECK_HAS(why.text, "without an END");
}

/* Trailer and index that lie, with good checksums. */
static void lie_in_index(struct made *m, const char *payload, size_t length, uint32_t items)
{
    uint64_t offset = m->bytes.length;

    put(m, (struct rp_chunk){.kind = RP_CHUNK_INDEX, .items = items}, payload, length);
    rp_buffer_u64(&m->bytes, offset);
    rp_buffer_put(&m->bytes, "RPRINDEX", 8);
}

TEST(a_lying_index_is_refused)
{
    static const struct {
        const char *payload;
        size_t length;
        uint32_t items;
    } lies[] = {
        {"", 0, 0},
        {"", 0, UINT32_MAX},
        {"\1\1\1", 3, 1},
        {"\1\1\1", 3, UINT32_MAX},
        {"\1\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 12, 1}, /* a length that wraps around */
        {"\4\0\0\4\0\0", 6, 2},
    };
    struct made m = {0};
    struct rp_problem why;

    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        put_one_event(&m);
        lie_in_index(&m, lies[i].payload, lies[i].length, lies[i].items);
        CHECK_EQ(judge(&m, &why), RP_DAMAGED);
        CHECK_HAS(why.text, "at byte");
    }
}

TEST(a_lying_trailer_is_refused)
{
    static const uint64_t offsets[] = {0,         1,      63, 64, 65, UINT64_MAX, UINT64_MAX - 100,
                                       INT64_MAX, 1 << 20};
    struct made m = {0};
    struct rp_problem why;

    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        put_one_event(&m);
        put_index(&m);
        m.bytes.length -= 16;
        rp_buffer_u64(&m.bytes, offsets[i]);
        rp_buffer_put(&m.bytes, "RPRINDEX", 8);
        CHECK_EQ(judge(&m, &why), RP_DAMAGED);
        CHECK_HAS(why.text, "at byte");
    }
}

TEST(an_event_at_a_site_of_nobody_is_told)
{
    struct made m = {0};
    struct rp_problem why;

    rp_format_put_header(&m.bytes, 0, SAMPLE_RUN, SAMPLE_RANK, SAMPLE_RANKS);
    put_events(&m, 0);
    put_end(&m, 1, rp_digest(RP_DIGEST_START, &event));
    CHECK_EQ(judge(&m, &why), RP_DAMAGED);
    CHECK_HAS(why.text, "event 0 names call site 0 of 0");
}
