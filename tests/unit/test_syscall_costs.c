/* SPDX-License-Identifier: MIT */
#include "log/syscall_costs.h"

#include <unistd.h>

#include "unit.h"

static const char *const file = "costs.txt";

static enum rp_status read_text(const char *text, struct rp_syscall_costs *costs,
                                struct rp_problem *why)
{
    FILE *out = fopen(file, "w");

    fputs(text, out);
    fclose(out);
    enum rp_status status = rp_syscall_costs_read(file, costs, why);
    unlink(file);
    return status;
}

TEST(what_is_written_is_read)
{
    struct rp_syscall_costs written = {1, 2, 3, 4, 5, 6}, found = {0};
    struct rp_problem why;

    unlink(file);
    CHECK_OK(rp_syscall_costs_write(file, &written, &why), why);
    CHECK_OK(rp_syscall_costs_read(file, &found, &why), why);
    CHECK(memcmp(&written, &found, sizeof found) == 0);
    CHECK_EQ(rp_syscall_costs_write(file, &written, &why), RP_USAGE); /* never overwritten */
    unlink(file);
}

TEST(what_is_not_named_is_as_usual)
{
    struct rp_syscall_costs found = {0};
    struct rp_problem why;

    CHECK_OK(read_text("reprise costs 1\nread 77\n", &found, &why), why);
    CHECK_EQ(found.read, 77);
    CHECK_EQ(found.write, rp_syscall_costs_usual.write);
}

TEST(other_files_are_refused_by_name_and_line)
{
    static const char *const wrong[] = {"",
                                        "reprise costs 2\n",
                                        "reprise costs 1\nrad 5\n",
                                        "reprise costs 1\nread\n",
                                        "reprise costs 1\nread 5 6\n",
                                        "reprise costs 1\nread -5\n",
                                        "reprise costs 1\nread 99999999999999\n"};
    struct rp_syscall_costs found = {.read = 42};
    struct rp_problem why;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_EQ(read_text(wrong[i], &found, &why), RP_USAGE);
        CHECK_HAS(why.text, i < 2 ? file : "costs.txt:2");
        CHECK_EQ(found.read, 42);
    }
    CHECK_EQ(rp_syscall_costs_read("no such file", &found, &why), RP_USAGE);
}
