/* SPDX-License-Identifier: MIT */
/* Journals: what was put is read, up to where it was cut off; damage is found. */
#include "unit.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/journal.h"

static char path[] = "/tmp/reprise-journal.XXXXXX";

/* The n-th entry: of another length and content than its neighbours. */
static size_t make_entry(uint64_t n, uint8_t bytes[200])
{
    size_t length = 1 + n * 37 % 199;

    for (size_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)(n * 31 + i);
    return length;
}

static void new_path(void)
{
    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    close(fd);
    unlink(path);
}

static struct rp_buffer read_back(void)
{
    struct rp_buffer file = {0};
    struct rp_problem why;

    CHECK_OK(rp_read_file(path, 1 << 26, &file, &why), why);
    return file;
}

/* How many entries are read, each as it was put. */
static uint64_t count_entries(const struct rp_buffer *file, bool *damaged)
{
    struct rp_journal_view view = rp_journal_view_of(file->bytes, file->length);
    const uint8_t *bytes;
    uint8_t expected[200];
    size_t length;
    uint64_t count = 0;

    for (; rp_journal_next(&view, &bytes, &length); count++) {
        CHECK_EQ(length, make_entry(count, expected));
        CHECK(memcmp(bytes, expected, length < sizeof expected ? length : sizeof expected) == 0);
    }
    *damaged = view.damaged;
    return count;
}

static void write_entries(uint64_t count, bool is_closed)
{
    struct rp_journal *journal;
    struct rp_problem why;
    uint8_t bytes[200];

    CHECK_OK(rp_journal_create(path, &journal, &why), why);
    for (uint64_t i = 0; i < count; i++)
        rp_journal_put(journal, bytes, make_entry(i, bytes));
    if (is_closed)
        rp_journal_close(journal, false);
}

TEST(entries_are_read_back)
{
    enum { MANY = 30000 }; /* more than one step of the file's growth */
    bool damaged;

    new_path();
    write_entries(MANY, true);
    struct rp_buffer file = read_back();
    CHECK(rp_journal_is(file.bytes, file.length));
    CHECK_EQ(count_entries(&file, &damaged), MANY);
    CHECK(!damaged);
    struct rp_journal *again;
    struct rp_problem why;
    CHECK_EQ(rp_journal_create(path, &again, &why), RP_SYSTEM); /* nothing is overwritten */
    CHECK_HAS(why.text, path);
    rp_buffer_free(&file);
    unlink(path);
}

TEST(a_killed_process_loses_no_entry)
{
    bool damaged;
    int status;

    new_path();
    fflush(stdout);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        write_entries(1234, false);
        raise(SIGKILL);
    }
    REQUIRE(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    struct rp_buffer file = read_back();
    CHECK_EQ(count_entries(&file, &damaged), 1234);
    CHECK(!damaged);
    rp_buffer_free(&file);
    unlink(path);
}

/* A changed bit is found at its entry, or was in the room behind all; what is cut off is missing,
 * and nothing else. */
TEST(a_process_that_was_killed_at_once_leaves_a_blank_one)
{
    static const uint8_t nothing[64];
    struct rp_journal *journal;
    struct rp_problem why;

    CHECK(rp_journal_is_blank(NULL, 0) && rp_journal_is_blank(nothing, sizeof nothing) &&
          !rp_journal_is_blank((const uint8_t *)"RPTASKS", 7));
    new_path();
    CHECK_EQ(rp_journal_create(path, &journal, &why), RP_OK);
    struct rp_buffer file = read_back();
    CHECK(rp_journal_is_blank(file.bytes, file.length));
    rp_buffer_free(&file);
    rp_journal_put(journal, "x", 1);
    file = read_back();
    CHECK(!rp_journal_is_blank(file.bytes, file.length));
    rp_buffer_free(&file);
    rp_journal_close(journal, true);
}

TEST(damage_is_found)
{
    bool damaged;

    new_path();
    write_entries(40, true);
    struct rp_buffer file = read_back();
    for (size_t i = 8; i < file.length; i++) {
        file.bytes[i] ^= 0x21;
        uint64_t count = count_entries(&file, &damaged);
        CHECK(count < 40 || !damaged); /* what fills up to the next entry says nothing */
        file.bytes[i] ^= 0x21;
        struct rp_buffer cut = {file.bytes, i, i, false};
        CHECK(count_entries(&cut, &damaged) < 40);
    }
    CHECK(!rp_journal_is(file.bytes, 7));
    rp_buffer_free(&file);
    unlink(path);
}
