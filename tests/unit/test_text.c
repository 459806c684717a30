/* SPDX-License-Identifier: MIT */
/* Text from outside: nothing that a terminal obeys comes through, and what people write does. */
#include "base/text.h"

#include "base/json.h"
#include "base/status.h"
#include "unit.h"

static const char *escaped(const char *text, bool keeps_lines)
{
    static char out[4096];

    rp_text_escape(out, sizeof out, text, strlen(text), keeps_lines);
    return out;
}

TEST(what_people_write_stays)
{
    static const char *const plain[] = {"",
                                        "a b",
                                        "/home/x/it's \"quoted\" \\n",
                                        "caf\xc3\xa9",
                                        "\xe4\xb8\xad\xe6\x96\x87",
                                        "\xf0\x9f\x98\x80",
                                        "\xc2\xa0",
                                        "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
                                        "\xef\xbf\xbd"};

    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        CHECK_STR(escaped(plain[i], false), plain[i]);
        CHECK(rp_text_shown(plain[i]) == plain[i]); /* not even copied */
    }
    CHECK(!rp_text_shown(NULL));
}

TEST(what_a_terminal_obeys_is_escaped)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"\x1b[2J", "\\x1b[2J"},
        {"\x1b]0;x\x07", "\\x1b]0;x\\x07"},
        {"a\rb", "a\\rb"},
        {"a\bb", "a\\x08b"},
        {"\x7f", "\\x7f"},
        {"\xc2\x9b"
         "2J",
         "\\u009b2J"},
        {"\xc2\x80", "\\u0080"},
        {"\x9b", "\\x9b"},
        {"\xff\xfe", "\\xff\\xfe"},
        {"\xc3", "\\xc3"},
        {"\xe4\xb8", "\\xe4\\xb8"},
        {"\xc0\x9b", "\\xc0\\x9b"},
        {"\xe0\x82\x9b", "\\xe0\\x82\\x9b"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        {"\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80"},
        {"\xe2\x80\xae"
         "abc",
         "\\u202eabc"},
        {"\xe2\x81\xa6", "\\u2066"},
        {"\xe2\x80\x8b", "\\u200b"},
        {"\xef\xbb\xbf", "\\ufeff"},
        {"\xe2\x80\xa8", "\\u2028"},
        {"\xf3\xa0\x80\x81", "\\U000e0001"},
        {"a\nb\tc", "a\\nb\\tc"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STR(escaped(cases[i].text, false), cases[i].shown);
        CHECK_STR(rp_text_shown(cases[i].text), cases[i].shown);
    }
    CHECK_STR(escaped("a\nb\tc\r\x1b", true), "a\nb\tc\\r\\x1b");
}

/* Whatever the bytes are: valid UTF-8 without controls comes out, it stays as it is from then on,
 * and it is not longer than fits. */
TEST(any_bytes)
{
    char bytes[64], out[300], again[300], small[20];
    uint32_t seed = 1;

    for (int round = 0; round < 20000; round++) {
        size_t length = (seed = seed * 1664525 + 1013904223) >> 26;
        for (size_t i = 0; i < length; i++)
            bytes[i] = (char)((seed = seed * 1664525 + 1013904223) >> 24);
        size_t written = rp_text_escape(out, sizeof out, bytes, length, false);
        CHECK_EQ(written, strlen(out));
        for (const unsigned char *at = (unsigned char *)out, *end = at + written; at < end;) {
            uint32_t code = 0;
            int taken = rp_text_decode(at, end, &code);
            REQUIRE(taken > 0 && rp_text_is_shown(code));
            at += taken;
        }
        rp_text_escape(again, sizeof again, out, written, false);
        CHECK_STR(again, out);
        CHECK(rp_text_escape(small, sizeof small, bytes, length, false) < sizeof small &&
              strncmp(small, out, strlen(small)) == 0);
    }
}

TEST(many_are_shown_at_once)
{
    char text[8][3];
    const char *shown[8];

    for (int i = 0; i < 8; i++) {
        snprintf(text[i], sizeof text[i], "\x1b%d", i);
        shown[i] = rp_text_shown(text[i]);
    }
    for (int i = 0; i < 8; i++)
        CHECK(strncmp(shown[i], "\\x1b", 4) == 0 && shown[i][4] == '0' + i);
}

TEST(problems_are_one_line_that_can_be_shown)
{
    struct rp_problem why;

    CHECK_EQ(rp_fail(&why, RP_USAGE, "%s: no such program", "a\nreprise: all is well\x1b[2K"),
             RP_USAGE);
    CHECK_STR(why.text, "a\\nreprise: all is well\\x1b[2K: no such program");
}

TEST(json_strings_are_shown_and_valid)
{
    struct rp_buffer out = {0};
    struct rp_json *json;
    struct rp_problem why;
    static const char hostile[] = "\x1b\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x80\x81\"\\ caf\xc3\xa9\n";

    rp_json_put_string(&out, hostile);
    CHECK_EQ(rp_json_parse((char *)out.bytes, out.length, &json, &why), RP_OK);
    CHECK_STR(json->string, hostile); /* nothing is lost */
    rp_json_free(json);
    rp_buffer_byte(&out, 0);
    CHECK_STR((char *)out.bytes,
              "\"\\u001b\\u007f\\u009b\\u202e\\udb40\\udc01\\\"\\\\ caf\xc3\xa9\\u000a\"");
    rp_buffer_clear(&out);
    rp_json_put_string(&out, "a\xff"
                             "b\x9b");
    rp_buffer_byte(&out, 0);
    CHECK_STR((char *)out.bytes, "\"a\\ufffdb\\ufffd\"");
    rp_buffer_free(&out);
}

TEST(shell_words_are_shown_and_exact)
{
    static const char *const words[] = {"\x1b[2J",
                                        "\xc2\x9b",
                                        "\x9b"
                                        "8\\'",
                                        "caf\xc3\xa9 \xe2\x80\xae",
                                        "a\nb",
                                        "caf\xc3\xa9"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct rp_buffer word = {0};
        char back[100] = "";
        rp_buffer_shell_word(&word, words[i]);
        rp_buffer_byte(&word, 0);
        CHECK(rp_text_shown((char *)word.bytes) == (char *)word.bytes);
        setenv("WORD", (char *)word.bytes, 1);
        FILE *shell = popen("bash -c 'eval \"printf %s $WORD\"'", "r");
        back[fread(back, 1, sizeof back - 1, shell)] = 0;
        pclose(shell);
        CHECK_STR(back, words[i]);
        rp_buffer_free(&word);
    }
}
