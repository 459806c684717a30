/* SPDX-License-Identifier: MIT */
#include "log/manifest.h"

#include "base/crc32c.h"
#include "base/file.h"
#include "unit.h"

static char *hostile[] = {
    "",
    " ",
    "a b",
    "it's",
    "\"quoted\"",
    "back\\slash",
    "new\nline\ttab\r",
    "\x01\x1f\x7f",
    "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
    "--",
    "$(x) `y` ;",
    "{\"run\": \"0\"}",
    "\\u0041",
    "%s%n",
    NULL,
};

static char *environment[] = {"A=", "B=1=2", "C=\"x\"\n\\", NULL};
static char *allowed[] = {"MPI_Win_create", "MPI_Ibarrier", NULL};

static struct rp_manifest sample(void)
{
    return (struct rp_manifest){
        .run = UINT64_C(0x00000000deadbeef),
        .ranks = 12,
        .launched_inside = true,
        .mpi = "openmpi",
        .mpi_version = "Open MPI v4.1.4\n\"x\"",
        .program = "/a \"b\"\\/c\n",
        .build_id = "00ff",
        .directory = "/w\t",
        .host = "h",
        .started = "2024-01-01T00:00:00Z",
        .reprise = "0.1.0",
        .command = hostile,
        .allowed = allowed,
        .environment = environment,
    };
}

static void check_same(const struct rp_manifest *one, const struct rp_manifest *other)
{
    CHECK_EQ(one->run, other->run);
    CHECK_EQ(one->ranks, other->ranks);
    CHECK_EQ(one->launched_inside, other->launched_inside);
    CHECK_STR(one->mpi, other->mpi);
    CHECK_STR(one->mpi_version, other->mpi_version);
    CHECK_STR(one->program, other->program);
    CHECK_STR(one->build_id, other->build_id);
    CHECK_STR(one->directory, other->directory);
    CHECK_STR(one->host, other->host);
    CHECK_STR(one->started, other->started);
    CHECK_STR(one->reprise, other->reprise);
    size_t i = 0;
    for (; other->command[i]; i++)
        CHECK_STR(one->command[i], other->command[i]);
    CHECK(!one->command[i]);
    for (i = 0; other->allowed[i]; i++)
        CHECK_STR(one->allowed[i], other->allowed[i]);
    CHECK(!one->allowed[i]);
    for (i = 0; other->environment[i]; i++)
        CHECK_STR(one->environment[i], other->environment[i]);
    CHECK(!one->environment[i]);
}

TEST(hostile_strings_come_back)
{
    const char *directory = unit_temporary();
    struct rp_manifest before = sample(), after;
    struct rp_problem why;

    CHECK_OK(rp_manifest_write(directory, &before, &why), why);
    REQUIRE(rp_manifest_read(directory, &after, &why) == RP_OK);
    CHECK(!after.complete);
    check_same(&after, &before);
    rp_manifest_free(&after);
    CHECK(rp_manifest_write(directory, &before, &why) != RP_OK); /* nothing is overwritten */
    CHECK_OK(rp_manifest_complete(directory, &why), why);
    REQUIRE(rp_manifest_read(directory, &after, &why) == RP_OK);
    CHECK(after.complete);
    check_same(&after, &before);
    rp_manifest_free(&after);
    CHECK(rp_manifest_complete(directory, &why) != RP_OK);
    CHECK_HAS(why.text, "cannot rename");
    CHECK_EQ(rp_manifest_write(directory, &before, &why), RP_USAGE); /* nor beside a finished one */
}

TEST(nothing_set_is_empty_strings)
{
    const char *directory = unit_temporary();
    struct rp_manifest before = {.run = UINT64_MAX, .ranks = 1}, after;
    struct rp_problem why;

    CHECK_OK(rp_manifest_write(directory, &before, &why), why);
    REQUIRE(rp_manifest_read(directory, &after, &why) == RP_OK);
    CHECK(after.run == UINT64_MAX && after.ranks == 1 && !after.launched_inside);
    CHECK_STR(after.mpi, "");
    CHECK(!after.command[0] && !after.allowed[0]);
    rp_manifest_free(&after);
}

TEST(a_directory_without_one_is_not_a_record)
{
    const char *directory = unit_temporary();
    struct rp_manifest manifest;
    struct rp_problem why;

    CHECK_EQ(rp_manifest_read(directory, &manifest, &why), RP_USAGE);
    CHECK_HAS(why.text, "is not a record");
    CHECK_EQ(rp_manifest_read("/nowhere", &manifest, &why), RP_USAGE);
    rp_manifest_free(&manifest);
}

/* Reads a description of just these words. */
static enum rp_status read_raw(const char *text, struct rp_manifest *manifest,
                               struct rp_problem *why)
{
    const char *directory = unit_temporary();

    CHECK_OK(rp_write_new_file(unit_path(directory, "manifest.json"), text, strlen(text), why),
             *why);
    return rp_manifest_read(directory, manifest, why);
}

/* Reads a description of these words, with its checksum as the last member if it ends as an object
 * does. */
static enum rp_status read_text(const char *text, struct rp_manifest *manifest,
                                struct rp_problem *why)
{
    char signed_text[1024];
    size_t length = strlen(text);

    if (length < 2 || text[length - 1] != '}' || text[0] != '{')
        return read_raw(text, manifest, why);
    snprintf(signed_text, sizeof signed_text, "%.*s,\n  \"crc32c\": \"%08x\"\n}\n", (int)length - 1,
             text, rp_crc32c(text, length - 1));
    return read_raw(signed_text, manifest, why);
}

#define START "{\"format\": \"reprise-run\", \"major\": 1, \"minor\": 0"
#define RUN "\"run\": \"0123456789abcdef\""

TEST(descriptions_that_are_read)
{
    static const char *const good[] = {
        START ", " RUN ", \"ranks\": 3}",
        "{\"ranks\": 3, " RUN ", \"major\": 1, \"minor\": 99, \"format\": \"reprise-run\", "
        "\"new\": {\"deep\": [1, null]}}",
        START ", " RUN
              ", \"ranks\": 3, \"mpi\": 7, \"command\": \"x\", \"allowed\": [1, null, {}]}",
    };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct rp_manifest manifest;
        struct rp_problem why;
        CHECK_OK(read_text(good[i], &manifest, &why), why);
        CHECK(manifest.run == UINT64_C(0x0123456789abcdef) && manifest.ranks == 3 &&
              manifest.complete);
        CHECK_STR(manifest.mpi, "");
        CHECK(manifest.command && !manifest.command[0] && manifest.allowed && !manifest.allowed[0]);
        rp_manifest_free(&manifest);
    }
}

TEST(descriptions_that_are_refused)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "at byte"},
        {"{", "at byte"},
        {"[]", "not the description"},
        {"{ }", "at byte"}, /* a comma without a member before */
        {"{\"format\": 1}", "not the description"},
        {"{\"format\": \"reprise\"}", "not the description"},
        {"{\"format\": \"reprise-run\", \"major\": 2, \"minor\": 5, " RUN ", \"ranks\": 3}",
         "format 2.5 is newer"},
        {START "}", "'run' or 'ranks'"},
        {START ", " RUN "}", "'run' or 'ranks'"},
        {START ", \"ranks\": 3}", "'run' or 'ranks'"},
        {START ", " RUN ", \"ranks\": 0}", "'run' or 'ranks'"},
        {START ", " RUN ", \"ranks\": -1}", "'run' or 'ranks'"},
        {START ", " RUN ", \"ranks\": 99999999999}", "'run' or 'ranks'"},
        {START ", " RUN ", \"ranks\": \"3\"}", "'run' or 'ranks'"},
        {START ", \"run\": 5, \"ranks\": 3}", "'run' or 'ranks'"},
        {START ", \"run\": \"0123\", \"ranks\": 3}", "'run' or 'ranks'"},
        {START ", \"run\": \"0123456789abcdefg\", \"ranks\": 3}", "'run' or 'ranks'"},
        {START ", \"run\": \"0123456789abcdeg\", \"ranks\": 3}", "'run' or 'ranks'"},
        {START ", " RUN ", \"ranks\": 3} x", "follows the document"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rp_manifest manifest;
        struct rp_problem why;
        CHECK_EQ(read_text(bad[i].text, &manifest, &why), RP_DAMAGED);
        CHECK_HAS(why.text, bad[i].says);
        CHECK_HAS(why.text, "manifest.json");
        CHECK(!manifest.mpi && !manifest.command); /* nothing is left to free */
    }
}

TEST(sixteen_hex_digits_are_sixteen_hex_digits)
{
    static const char *const bad[] = {"-00000000000000a", "+00000000000000a", "0x0000000000000a",
                                      " 00000000000000a"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rp_manifest manifest;
        struct rp_problem why;
        char text[200];
        snprintf(text, sizeof text, START ", \"run\": \"%s\", \"ranks\": 3}", bad[i]);
        CHECK_EQ(read_text(text, &manifest, &why), RP_DAMAGED);
        rp_manifest_free(&manifest);
    }
}

TEST(new_keys_may_hold_any_json)
{
    static const char *const values[] = {"1.5", "1e300", "-0.25", "12345678901234567890"};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct rp_manifest manifest;
        struct rp_problem why;
        char text[200];
        snprintf(text, sizeof text, START ", " RUN ", \"ranks\": 3, \"new\": %s}", values[i]);
        CHECK_OK(read_text(text, &manifest, &why),
                 why); /* format.md: a reader ignores keys that it does not know */
        rp_manifest_free(&manifest);
    }
}

/* What `edit` leaves of a description that was written. */
static enum rp_status read_edited(bool complete, char *(*edit)(char *text), struct rp_problem *why)
{
    const char *directory = unit_temporary(), *name = complete ? "manifest.json" : "incomplete";
    struct rp_manifest before = sample(), after;
    struct rp_buffer text = {0};

    CHECK_OK(rp_manifest_write(directory, &before, why), *why);
    if (complete)
        CHECK_OK(rp_manifest_complete(directory, why), *why);
    CHECK_OK(rp_read_file(unit_path(directory, name), 1 << 20, &text, why), *why);
    unlink(unit_path(directory, name));
    char *edited = edit((char *)text.bytes);
    CHECK_OK(rp_write_new_file(unit_path(directory, name), edited, strlen(edited), why), *why);
    enum rp_status status = rp_manifest_read(directory, &after, why);
    rp_manifest_free(&after);
    rp_buffer_free(&text);
    return status;
}

static char copy[1 << 16];

static char *keep(char *text)
{
    return text;
}

static char *edit_word(char *text)
{
    memcpy(strstr(text, "openmpi"), "openmpj", 7);
    return text;
}

static char *rename_key(char *text)
{
    memcpy(strstr(text, "crc32c"), "crc32d", 6);
    return text;
}

static char *drop_sum(char *text)
{
    strcpy(strstr(text, ",\n  \"crc32c\""), "\n}\n");
    return text;
}

static char *add_behind(char *text)
{
    snprintf(copy, sizeof copy, "%.*s,\n  \"mpi\": \"mpich\"\n}\n",
             (int)(strrchr(text, '}') - text - 1), text);
    return copy;
}

static char *add_space(char *text)
{
    snprintf(copy, sizeof copy, "%s\n", text);
    return copy;
}

/* A right sum, behind a member that is there before. */
static char *add_twice(char *text)
{
    *strstr(text, ",\n  \"crc32c\"") = 0;
    int length = snprintf(copy, sizeof copy, "%s,\n  \"mpi\": \"mpich\"", text);
    snprintf(copy + length, sizeof copy - (size_t)length, ",\n  \"crc32c\": \"%08x\"\n}\n",
             rp_crc32c(copy, (size_t)length));
    return copy;
}

/* Two sums, of which the last is right. */
static char *add_sum(char *text)
{
    int length = snprintf(copy, sizeof copy, "%.*s", (int)(strrchr(text, '}') - text - 1), text);
    snprintf(copy + length, sizeof copy - (size_t)length, ",\n  \"crc32c\": \"%08x\"\n}\n",
             rp_crc32c(copy, (size_t)length));
    return copy;
}

TEST(a_description_that_was_changed_is_damaged)
{
    static char *(*const edits[])(char *) = {edit_word, rename_key, drop_sum, add_behind,
                                             add_space, add_twice,  add_sum};
    struct rp_problem why;

    for (int complete = 0; complete < 2; complete++) {
        CHECK_EQ(read_edited(complete, keep, &why), RP_OK);
        for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
            CHECK_EQ(read_edited(complete, edits[i], &why), RP_DAMAGED);
            CHECK_HAS(why.text, complete ? "manifest.json" : "incomplete");
        }
    }
}
