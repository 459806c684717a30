/* SPDX-License-Identifier: MIT */
#include "base/buffer.h"

#include "unit.h"

struct encoding {
    uint64_t value;
    size_t length;
    uint8_t bytes[10];
};

static const struct encoding varints[] = {
    {0, 1, {0x00}},
    {1, 1, {0x01}},
    {127, 1, {0x7f}},
    {128, 2, {0x80, 0x01}},
    {300, 2, {0xac, 0x02}},
    {16383, 2, {0xff, 0x7f}},
    {16384, 3, {0x80, 0x80, 0x01}},
    {UINT32_MAX, 5, {0xff, 0xff, 0xff, 0xff, 0x0f}},
    {UINT64_C(1) << 63, 10, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}},
    {INT64_MAX, 9, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
    {UINT64_MAX, 10, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}},
};

TEST(varints_are_the_bytes_of_the_format)
{
    for (size_t i = 0; i < sizeof varints / sizeof *varints; i++) {
        struct rp_buffer out = {0};
        rp_buffer_varint(&out, varints[i].value);
        CHECK_EQ(out.length, varints[i].length);
        CHECK(memcmp(out.bytes, varints[i].bytes, varints[i].length) == 0);
        struct rp_view in = rp_view_of(out.bytes, out.length);
        CHECK_EQ(rp_view_varint(&in), varints[i].value);
        CHECK(!in.failed && in.at == in.end);
        rp_buffer_free(&out);
    }
}

TEST(a_cut_varint_fails_and_reads_as_zero)
{
    for (size_t i = 0; i < sizeof varints / sizeof *varints; i++)
        for (size_t cut = 0; cut < varints[i].length; cut++) {
            struct rp_view in = rp_view_of(varints[i].bytes, cut);
            CHECK_EQ(rp_view_varint(&in), 0);
            CHECK(in.failed);
        }
}

static bool reads(const uint8_t *bytes, size_t length, uint64_t *value)
{
    struct rp_view in = rp_view_of(bytes, length);

    *value = rp_view_varint(&in);
    return !in.failed;
}

TEST(ten_bytes_are_the_most)
{
    uint8_t bytes[12];
    uint64_t value;

    memset(bytes, 0x80, sizeof bytes);
    CHECK(!reads(bytes, sizeof bytes, &value));
    memset(bytes, 0xff, sizeof bytes);
    CHECK(!reads(bytes, sizeof bytes, &value));
    for (int last = 0; last < 256; last++) {
        memset(bytes, 0x80, 9);
        bytes[9] = (uint8_t)last;
        bytes[10] = 0;
        CHECK_EQ(reads(bytes, 11, &value), last < 2);
        CHECK_EQ(value, last == 1 ? UINT64_C(1) << 63 : 0);
    }
}

TEST(overlong_varints_have_their_value)
{
    static const uint8_t zero[] = {0x80, 0x80, 0x00}, one[] = {0x81, 0x00};
    uint64_t value;

    CHECK(reads(zero, sizeof zero, &value) && value == 0);
    CHECK(reads(one, sizeof one, &value) && value == 1);
}

TEST(svarints_are_zigzag)
{
    static const struct {
        int64_t value;
        uint64_t zigzag;
    } cases[] = {{0, 0},
                 {-1, 1},
                 {1, 2},
                 {-2, 3},
                 {INT32_MAX, 0xfffffffe},
                 {INT32_MIN, 0xffffffff},
                 {INT64_MAX, UINT64_MAX - 1},
                 {INT64_MIN, UINT64_MAX}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rp_buffer out = {0};
        rp_buffer_svarint(&out, cases[i].value);
        struct rp_view in = rp_view_of(out.bytes, out.length), again = in;
        CHECK_EQ(rp_view_varint(&in), cases[i].zigzag);
        CHECK_EQ(rp_view_svarint(&again), cases[i].value);
        rp_buffer_free(&out);
    }
}

TEST(random_varints_come_back)
{
    uint64_t seed = 1;
    struct rp_buffer out = {0};

    for (int i = 0; i < 50000; i++) {
        uint64_t value = unit_edge(&seed);
        rp_buffer_clear(&out);
        rp_buffer_varint(&out, value);
        rp_buffer_svarint(&out, (int64_t)value);
        struct rp_view in = rp_view_of(out.bytes, out.length);
        CHECK_EQ(rp_view_varint(&in), value);
        CHECK_EQ(rp_view_svarint(&in), value);
        CHECK(!in.failed && in.at == in.end);
    }
    rp_buffer_free(&out);
}

TEST(fixed_widths_are_little_endian_at_any_address)
{
    struct rp_buffer out = {0};
    static const uint8_t expected[] = {0xaa, 0x22, 0x11, 0x66, 0x55, 0x44, 0x33, 0xef,
                                       0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01};

    rp_buffer_byte(&out, 0xaa);
    rp_buffer_u16(&out, 0x1122);
    rp_buffer_u32(&out, 0x33445566);
    rp_buffer_u64(&out, UINT64_C(0x0123456789abcdef));
    CHECK_EQ(out.length, sizeof expected);
    CHECK(memcmp(out.bytes, expected, sizeof expected) == 0);
    CHECK_EQ(rp_load_u16(out.bytes + 1), 0x1122);
    CHECK_EQ(rp_load_u32(out.bytes + 3), 0x33445566);
    CHECK_EQ(rp_load_u64(out.bytes + 7), UINT64_C(0x0123456789abcdef));
    struct rp_view in = rp_view_of(out.bytes + 3, out.length - 3);
    CHECK_EQ(rp_view_u32(&in), 0x33445566);
    CHECK_EQ(rp_view_u64(&in), UINT64_C(0x0123456789abcdef));
    CHECK(!in.failed);
    CHECK_EQ(rp_view_byte(&in), 0);
    CHECK(in.failed);
    rp_buffer_free(&out);
}

TEST(after_a_short_read_everything_is_zero)
{
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7};
    struct rp_view in = rp_view_of(bytes, sizeof bytes);
    size_t length = 99;

    CHECK_EQ(rp_view_u64(&in), 0);
    CHECK(in.failed);
    CHECK_EQ(rp_view_byte(&in), 0);
    CHECK_EQ(rp_view_u32(&in), 0);
    CHECK_EQ(rp_view_varint(&in), 0);
    CHECK_EQ(rp_view_svarint(&in), 0);
    CHECK(!rp_view_string(&in, &length));
    CHECK_EQ(length, 0);
}

TEST(strings_point_into_the_view)
{
    struct rp_buffer out = {0};
    size_t length;

    rp_buffer_string(&out, "", 0);
    rp_buffer_string(&out, "a\0b", 3);
    struct rp_view in = rp_view_of(out.bytes, out.length);
    CHECK(rp_view_string(&in, &length) && length == 0);
    const uint8_t *text = rp_view_string(&in, &length);
    CHECK(text == out.bytes + 2 && length == 3 && memcmp(text, "a\0b", 3) == 0);
    CHECK(!in.failed && in.at == in.end);
    rp_buffer_free(&out);
}

TEST(a_string_longer_than_the_view_is_refused)
{
    static const uint64_t lengths[] = {4, 5, UINT32_MAX, INT64_MAX, UINT64_MAX};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct rp_buffer out = {0};
        size_t length = 1;
        rp_buffer_varint(&out, lengths[i]);
        rp_buffer_put(&out, "abc", 3);
        struct rp_view in = rp_view_of(out.bytes, out.length);
        CHECK(!rp_view_string(&in, &length));
        CHECK(in.failed && length == 0);
        rp_buffer_free(&out);
    }
}

TEST(a_buffer_grows_and_keeps_its_content)
{
    struct rp_buffer out = {0};

    for (int i = 0; i < 100000; i++)
        rp_buffer_byte(&out, (uint8_t)i);
    CHECK_EQ(out.length, 100000);
    CHECK(!out.failed);
    int wrong = 0;
    for (int i = 0; i < 100000; i++)
        wrong += out.bytes[i] != (uint8_t)i;
    CHECK_EQ(wrong, 0);
    uint8_t *before = out.bytes;
    rp_buffer_clear(&out);
    CHECK(out.length == 0 && out.bytes == before && out.room >= 100000);
    rp_buffer_put(&out, NULL, 0);
    CHECK_EQ(out.length, 0);
    rp_buffer_free(&out);
    CHECK(!out.bytes && out.room == 0);
}

TEST(an_impossible_size_fails_and_is_remembered)
{
    struct rp_buffer out = {0};

    rp_buffer_byte(&out, 'x');
    CHECK(!rp_buffer_reserve(&out, SIZE_MAX));
    CHECK(out.failed);
    rp_buffer_byte(&out, 'y');
    CHECK_EQ(out.length, 1);
    CHECK(!rp_buffer_reserve(&out, 1));
    rp_buffer_clear(&out);
    CHECK(!rp_buffer_reserve(&out, SIZE_MAX / 2));
    rp_buffer_clear(&out);
    rp_buffer_byte(&out, 'z');
    CHECK(!out.failed && out.length == 1 && out.bytes[0] == 'z');
    rp_buffer_free(&out);
}

TEST(printf_appends_without_its_nul)
{
    struct rp_buffer out = {0};
    char wide[5001];

    rp_buffer_printf(&out, "%d-%s", 7, "x");
    CHECK(out.length == 3 && memcmp(out.bytes, "7-x", 3) == 0);
    rp_buffer_printf(&out, "%5000s", "y");
    CHECK_EQ(out.length, 5003);
    memset(wide, ' ', sizeof wide);
    CHECK(memcmp(out.bytes + 3, wide, 4999) == 0 && out.bytes[5002] == 'y');
    rp_buffer_printf(&out, "%s", "");
    CHECK_EQ(out.length, 5003);
    rp_buffer_free(&out);
}

TEST(words_are_quoted_for_a_shell)
{
    static const char *const cases[][2] = {{"plain/word-1.c=2", "plain/word-1.c=2"},
                                           {"", "''"},
                                           {"two words", "'two words'"},
                                           {"it's", "'it'\\''s'"},
                                           {"$HOME", "'$HOME'"},
                                           {"a\nb", "$'a\\012b'"},
                                           {"\033[2J'\\", "$'\\033[2J\\'\\\\'"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rp_buffer out = {0};
        rp_buffer_shell_word(&out, cases[i][0]);
        CHECK(out.length == strlen(cases[i][1]) && memcmp(out.bytes, cases[i][1], out.length) == 0);
        rp_buffer_free(&out);
    }
}
