/* SPDX-License-Identifier: MIT */
#include "job/settings.h"

#include "unit.h"

TEST(known_settings_pass_and_a_mistyped_one_does_not)
{
    struct rp_problem why;

    CHECK_OK(rp_settings_check(&why), why);
    for (const struct rp_setting *s = rp_settings; s->name; s++)
        setenv(s->name, "1", 1);
    CHECK_OK(rp_settings_check(&why), why);
    for (const struct rp_setting *s = rp_settings; s->name; s++)
        unsetenv(s->name);
    static const char *const wrong[] = {"REPRISE_DIRS", "REPRISE_DI", "REPRISE_", "REPRISE_dir"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv(wrong[i], "x", 1);
        CHECK_EQ(rp_settings_check(&why), RP_USAGE);
        CHECK_HAS(why.text, wrong[i]);
        unsetenv(wrong[i]);
    }
    setenv("REPRISED", "x", 1);
    CHECK_OK(rp_settings_check(&why), why);
    unsetenv("REPRISED");
}

TEST(names_are_distinct_and_begin_alike)
{
    for (const struct rp_setting *s = rp_settings; s->name; s++) {
        CHECK(strncmp(s->name, "REPRISE_", 8) == 0);
        for (const struct rp_setting *other = s + 1; other->name; other++)
            CHECK(strcmp(s->name, other->name) != 0);
    }
}

TEST(empty_is_unset)
{
    setenv("REPRISE_DIR", "", 1);
    CHECK(!rp_setting("REPRISE_DIR"));
    setenv("REPRISE_DIR", "x", 1);
    CHECK_STR(rp_setting("REPRISE_DIR"), "x");
    unsetenv("REPRISE_DIR");
    CHECK(!rp_setting("REPRISE_DIR"));
}

TEST(numbers)
{
    static const struct {
        const char *text;
        bool good;
        long value;
    } cases[] = {{"0", true, 0},    {"30", true, 30},
                 {"", true, 7},     {"-1", false, 0},
                 {"3x", false, 0},  {"x", false, 0},
                 {"1.5", false, 0}, {"99999999999999999999", false, 0},
                 {"0x10", false, 0}};
    struct rp_problem why;
    long value;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("REPRISE_STALL", cases[i].text, 1);
        enum rp_status status = rp_setting_number("REPRISE_STALL", 0, 7, &value, &why);
        CHECK_EQ(status, cases[i].good ? RP_OK : RP_USAGE);
        if (cases[i].good)
            CHECK_EQ(value, cases[i].value);
        else
            CHECK_HAS(why.text, "REPRISE_STALL");
    }
    unsetenv("REPRISE_STALL");
    CHECK_OK(rp_setting_number("REPRISE_STALL", 0, 7, &value, &why), why);
    CHECK_EQ(value, 7);
}

TEST(lists)
{
    CHECK(rp_list_has("a,bc,d", "a"));
    CHECK(rp_list_has("a,bc,d", "bc"));
    CHECK(rp_list_has("a,bc,d", "d"));
    CHECK(rp_list_has(",,a,,bc", "bc"));
    CHECK(!rp_list_has("a,bc,d", "b"));
    CHECK(!rp_list_has("a,bc,d", "bcd"));
    CHECK(!rp_list_has("", "a"));
    CHECK(!rp_list_has(NULL, "a"));
}

TEST(bytes)
{
    static const struct {
        const char *text;
        bool good;
        long value;
    } cases[] = {{"0", true, 0},
                 {"65536", true, 65536},
                 {"64k", true, 65536},
                 {"64K", true, 65536},
                 {"16M", true, 16L << 20},
                 {"2G", true, 2L << 30},
                 {"", true, 7},
                 {"-1", false, 0},
                 {"+1", false, 0},
                 {" 1", false, 0},
                 {"k", false, 0},
                 {"1x", false, 0},
                 {"1kk", false, 0},
                 {"1.5k", false, 0},
                 {"9999999999G", false, 0},
                 {"99999999999999999999", false, 0}};
    struct rp_problem why;
    long value;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("REPRISE_BUFFER", cases[i].text, 1);
        enum rp_status status = rp_setting_bytes("REPRISE_BUFFER", 7, &value, &why);
        CHECK_EQ(status, cases[i].good ? RP_OK : RP_USAGE);
        if (cases[i].good)
            CHECK_EQ(value, cases[i].value);
        else
            CHECK_HAS(why.text, "REPRISE_BUFFER");
    }
    unsetenv("REPRISE_BUFFER");
}

static void check_beyond(const char *list, long ranks, const char *expected)
{
    char *beyond = rp_ranks_beyond(list, ranks);

    CHECK(expected ? beyond && strcmp(beyond, expected) == 0 : !beyond);
    free(beyond);
}

TEST(ranks_that_a_job_has_not)
{
    check_beyond(NULL, 4, NULL);
    check_beyond("all", 4, NULL);
    check_beyond("0,2-3", 4, NULL);
    check_beyond("0,2-4", 4, "4");
    check_beyond("9", 4, "9");
    check_beyond("0-9,12,1-2,20-30", 4, "4-9,12,20-30");
    check_beyond("9-100,0-100", 99, "99-100,99-100");
}
