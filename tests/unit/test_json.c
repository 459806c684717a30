/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "unit.h"

static struct rp_json *parse(const char *text)
{
    struct rp_json *value = NULL;
    struct rp_problem why;

    return rp_json_parse(text, strlen(text), &value, &why) == RP_OK ? value : NULL;
}

TEST(a_document_of_every_kind)
{
    struct rp_json *json =
        parse(" {\"a\" : [1, -2, true,false,null , \"x\"],\"b\":{}, \"c\":[ ] }\n");

    REQUIRE(json);
    CHECK_EQ(json->kind, RP_JSON_OBJECT);
    const struct rp_json *a = rp_json_member(json, "a", RP_JSON_ARRAY);
    REQUIRE(a);
    static const enum rp_json_kind kinds[] = {RP_JSON_NUMBER, RP_JSON_NUMBER, RP_JSON_BOOL,
                                              RP_JSON_BOOL,   RP_JSON_NULL,   RP_JSON_STRING};
    static const int64_t numbers[] = {1, -2, 1, 0, 0, 0};
    size_t i = 0;
    for (const struct rp_json *item = a->child; item; item = item->next, i++) {
        CHECK(i < 6 && item->kind == kinds[i] && item->number == numbers[i] && !item->key);
        if (i == 5)
            CHECK_STR(item->string, "x");
    }
    CHECK_EQ(i, 6);
    CHECK(rp_json_member(json, "b", RP_JSON_OBJECT) && rp_json_member(json, "c", RP_JSON_ARRAY));
    CHECK(!rp_json_member(json, "b", RP_JSON_ARRAY));
    CHECK(!rp_json_member(json, "d", RP_JSON_OBJECT));
    CHECK(!rp_json_member(a, "a", RP_JSON_NUMBER));
    rp_json_free(json);
}

TEST(bad_documents_are_refused_with_a_place)
{
    static const char *const bad[] = {
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\" 1}",
        "\"",
        "\"abc",
        "\"\\",
        "\"\\\"",
        "\"\\x\"",
        "\"\n\"",
        "\"\t\"",
        "\"\\u\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "\"\\ud800x\"",
        "\"\\ud800\\u0041\"",
        "\"\\ud800\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud83d\\ude0",
        "tru",
        "truex",
        "nul",
        "nulll",
        "-",
        "--1",
        "1x",
        "0x1",
        "1 1",
        "{} {}",
        "[]]",
        "'a'",
        "+1",
        "NaN",
        "[\"a\":1]",
        "{\"a\",\"b\"}",
        "{]",
        "[}",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rp_json *value = (struct rp_json *)&bad;
        struct rp_problem why;
        enum rp_status status = rp_json_parse(bad[i], strlen(bad[i]), &value, &why);
        CHECK_EQ(status, RP_DAMAGED);
        CHECK(value == (struct rp_json *)&bad); /* outputs only on success */
        CHECK_HAS(why.text, "at byte ");
        if (status != RP_DAMAGED)
            printf("  accepted: %s\n", bad[i]);
    }
}

TEST(nul_bytes_in_the_text_are_refused)
{
    struct rp_json *value;
    struct rp_problem why;

    CHECK_EQ(rp_json_parse("1\0", 2, &value, &why), RP_DAMAGED);
    CHECK_EQ(rp_json_parse("\0", 1, &value, &why), RP_DAMAGED);
    CHECK_EQ(rp_json_parse("\"a\0b\"", 5, &value, &why), RP_DAMAGED);
    CHECK_EQ(rp_json_parse("\"\\\0\"", 4, &value, &why), RP_DAMAGED);
    CHECK_EQ(rp_json_parse("[1\0]", 4, &value, &why), RP_DAMAGED);
}

TEST(numbers_to_eighteen_digits)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"-0", 0},
                {"7", 7},
                {"-7", -7},
                {"999999999999999999", INT64_C(999999999999999999)},
                {"-999999999999999999", INT64_C(-999999999999999999)}};

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct rp_json *json = parse(good[i].text);
        CHECK(json && json->kind == RP_JSON_NUMBER && json->number == good[i].value);
        rp_json_free(json);
    }
}

TEST(escapes_and_surrogates)
{
    static const struct {
        const char *text, *value;
    } good[] = {
        {"\"\"", ""},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac"},
        {"\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80"},
        {"\"\\ud800\\udc00\\udbff\\udfff\"", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
        {"\"\\uffff\\u007f\\u0080\\u07ff\\u0800\"", "\xef\xbf\xbf\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80"},
        {"\"\xe2\x82\xac\"", "\xe2\x82\xac"},
    };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct rp_json *json = parse(good[i].text);
        REQUIRE(json);
        CHECK_STR(json->string, good[i].value);
        rp_json_free(json);
    }
}

TEST(nesting_is_limited)
{
    enum { MANY = 200000 };
    char *text = malloc(2 * MANY + 1);
    struct rp_json *value;
    struct rp_problem why;

    REQUIRE(text);
    for (int depth = 1; depth <= 40; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        enum rp_status status = rp_json_parse(text, 2 * (size_t)depth, &value, &why);
        CHECK_EQ(status, depth <= 33 ? RP_OK : RP_DAMAGED);
        if (status == RP_OK)
            rp_json_free(value);
        else
            CHECK_HAS(why.text, "nested too deeply");
    }
    memset(text, '[', MANY);
    CHECK_EQ(rp_json_parse(text, MANY, &value, &why), RP_DAMAGED);
    free(text);
}

TEST(every_prefix_of_a_document_is_refused)
{
    static const char text[] =
        "{\"a\": [1, {\"b\\u0041\": \"\\ud83d\\ude00\"}, true, null], \"c\": -12}";

    for (size_t length = 0; length < sizeof text - 1; length++) {
        struct rp_json *value;
        struct rp_problem why;
        char *copy = malloc(length + 1); /* so that a tool sees a read behind the end */
        memcpy(copy, text, length);
        CHECK_EQ(rp_json_parse(copy, length, &value, &why), RP_DAMAGED);
        free(copy);
    }
}

static const char *written(struct rp_buffer *out, const char *string)
{
    rp_buffer_clear(out);
    rp_json_put_string(out, string);
    rp_buffer_byte(out, 0);
    return (const char *)out->bytes;
}

TEST(strings_are_written_escaped)
{
    struct rp_buffer out = {0};

    CHECK_STR(written(&out, ""), "\"\"");
    CHECK_STR(written(&out, "a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
    CHECK_STR(written(&out, "\n\x01\x1f\x7f"), "\"\\u000a\\u0001\\u001f\\u007f\"");
    CHECK_STR(written(&out, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
              "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    rp_buffer_free(&out);
}

TEST(bytes_that_are_not_utf8_become_the_replacement)
{
    static const char *const bad[] = {
        "\x80", "\xbf", "\xc0", "\xc1", "\xfe", "\xff", "\xf5", /* never first */
        "\xc2", "\xe2", "\xf0",                                 /* cut off */
    };
    struct rp_buffer out = {0};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_STR(written(&out, bad[i]), "\"\\ufffd\"");
    CHECK_STR(written(&out, "\xc0\x80"), "\"\\ufffd\\ufffd\"");            /* overlong NUL */
    CHECK_STR(written(&out, "\xe0\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\""); /* overlong */
    CHECK_STR(written(&out, "\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\""); /* a surrogate */
    CHECK_STR(written(&out, "\xf4\x90\x80\x80"),
              "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* above U+10FFFF */
    CHECK_STR(written(&out, "\xf0\x80\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
    CHECK_STR(written(&out, "a\xe2\x82z"), "\"a\\ufffd\\ufffdz\"");
    rp_buffer_free(&out);
}

TEST(whatever_is_written_is_read_back)
{
    struct rp_buffer out = {0};
    uint64_t seed = 4;

    for (int i = 0; i < 20000; i++) {
        char string[41];
        size_t length = unit_below(&seed, sizeof string - 1);
        for (size_t k = 0; k < length; k++)
            string[k] = (char)(1 + unit_below(&seed, unit_below(&seed, 2) ? 255 : 127));
        string[length] = 0;
        struct rp_json *json = parse(written(&out, string));
        REQUIRE(json && json->kind == RP_JSON_STRING);
        struct rp_json *again = parse(
            written(&out, json->string)); /* what was read is UTF-8 and does not change any more */
        CHECK(again && strcmp(again->string, json->string) == 0);
        rp_json_free(again);
        bool ascii = true;
        for (size_t k = 0; k < length; k++)
            ascii &= (signed char)string[k] > 0;
        if (ascii)
            CHECK_STR(json->string, string);
        rp_json_free(json);
    }
    rp_buffer_free(&out);
}
