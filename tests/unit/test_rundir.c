/* SPDX-License-Identifier: MIT */
#include "log/rundir.h"

#include <sys/wait.h>

#include "base/file.h"
#include "unit.h"

static const char *use_base(void)
{
    const char *base = unit_path(unit_temporary(), "base");

    setenv("REPRISE_DIR", base, 1);
    return base;
}

TEST(names_count_up)
{
    const char *base = use_base();
    struct rp_problem why;

    for (int i = 1; i <= 3; i++) {
        char *path = NULL, name[32];
        CHECK_OK(rp_run_new("app", &path, &why), why);
        snprintf(name, sizeof name, "app-%d", i);
        CHECK_STR(path, unit_path(base, name));
        CHECK(path && access(path, W_OK) == 0);
        free(path);
    }
    CHECK_EQ(rmdir(unit_path(base, "app-2")), 0);
    char *path = NULL;
    CHECK_OK(rp_run_new("app", &path, &why), why);
    CHECK_STR(path, unit_path(base, "app-2"));
    free(path);
    CHECK_OK(rp_run_new("b", &path, &why), why);
    CHECK_STR(path, unit_path(base, "b-1"));
    free(path);
}

TEST(the_base_is_here_by_default)
{
    char here[4096], *path = NULL;
    const char *directory = unit_temporary();
    struct rp_problem why;

    REQUIRE(getcwd(here, sizeof here) && chdir(directory) == 0);
    unsetenv("REPRISE_DIR");
    CHECK_OK(rp_run_new("x", &path, &why), why);
    CHECK(path && path[0] == '/' && strstr(path, "/.reprise/x-1"));
    free(path);
    CHECK_EQ(chdir(here), 0);
}

TEST(latest_follows)
{
    char *one = NULL, *two = NULL, *found = NULL;
    struct rp_problem why;

    use_base();
    CHECK_EQ(rp_run_find(NULL, &found, &why), RP_USAGE);
    CHECK_HAS(why.text, "no record yet");
    CHECK(rp_run_new("x", &one, &why) == RP_OK && rp_run_new("x", &two, &why) == RP_OK);
    rp_run_set_latest(one);
    CHECK_OK(rp_run_find(NULL, &found, &why), why);
    CHECK_STR(found, one);
    free(found);
    rp_run_set_latest(two);
    CHECK_OK(rp_run_find("latest", &found, &why), why);
    CHECK_STR(found, two);
    free(found);
    CHECK_EQ(rmdir(two), 0); /* a latest that is gone */
    CHECK_EQ(rp_run_find(NULL, &found, &why), RP_USAGE);
    free(one);
    free(two);
}

TEST(records_are_found_by_path_and_by_name)
{
    const char *base = use_base();
    char *made = NULL, *found = NULL;
    struct rp_problem why;

    REQUIRE(rp_run_new("x", &made, &why) == RP_OK);
    CHECK_OK(rp_run_find("x-1", &found, &why), why);
    CHECK_STR(found, made);
    free(found);
    CHECK_OK(rp_run_find(made, &found, &why), why);
    CHECK_STR(found, made);
    free(found);
    CHECK_EQ(rp_run_find("x-2", &found, &why), RP_USAGE);
    CHECK_HAS(why.text, "no record 'x-2'");
    const char *file = unit_path(base, "file");
    CHECK_OK(rp_write_new_file(file, "", 0, &why), why);
    CHECK_EQ(rp_run_find(file, &found, &why), RP_USAGE);
    CHECK_HAS(why.text, "not a directory");
    free(made);
}

TEST(a_given_directory_must_be_new_or_empty)
{
    const char *base = unit_temporary();
    const char *path = unit_path(base, "p/q"), *with_slash = unit_path(base, "p/r/");
    char *made = NULL;
    struct rp_problem why;

    CHECK_OK(rp_run_new_at(path, &made, &why), why);
    CHECK_STR(made, path);
    free(made);
    CHECK_OK(rp_run_new_at(path, &made, &why), why); /* still empty */
    free(made);
    CHECK_OK(rp_run_new_at(with_slash, &made, &why), why);
    free(made);
    CHECK_OK(rp_write_new_file(unit_path(path, "x"), "", 0, &why), why);
    made = NULL;
    CHECK_EQ(rp_run_new_at(path, &made, &why), RP_USAGE);
    CHECK_HAS(why.text, "exists already");
    CHECK(!made);
    CHECK_EQ(rp_run_new_at(unit_path(path, "x"), &made, &why), RP_USAGE); /* a file */
    CHECK_EQ(rp_run_new_at(unit_path(path, "x/y"), &made, &why), RP_SYSTEM);
    CHECK(!made);
}

TEST(a_base_that_cannot_be_is_told)
{
    char *made = NULL;
    struct rp_problem why;

    setenv("REPRISE_DIR", "/dev/null/x", 1);
    CHECK_EQ(rp_run_new("x", &made, &why), RP_SYSTEM);
    CHECK_HAS(why.text, "/dev/null");
    rp_run_set_latest("/tmp"); /* best effort: nothing happens */
    setenv("REPRISE_DIR", "/dev/null", 1);
    CHECK_EQ(rp_run_new("x", &made, &why), RP_SYSTEM);
    unsetenv("REPRISE_DIR");
}

/* In another process: reserves, says as what, and holds it until told to end. */
static pid_t reserve_elsewhere(const char *path, char name[200], int *until)
{
    int told[2], end[2];
    struct rp_problem why = {""};
    char *out = NULL;

    CHECK(pipe(told) == 0 && pipe(end) == 0);
    pid_t child = fork();
    if (child == 0) {
        close(end[1]);
        rp_run_reserve(path, &out, &why);
        snprintf(name, 200, "%s", out ? out : why.text);
        if (write(told[1], name, 200) == 200 && read(end[0], name, 1) == 0)
            _exit(0);
        _exit(1);
    }
    CHECK_EQ(read(told[0], name, 200), 200);
    close(end[0]), close(told[0]), close(told[1]);
    *until = end[1];
    return child;
}

TEST(two_recordings_into_one_directory_get_two)
{
    const char *both = unit_path(unit_temporary(), "both");
    char first[200], second[200], expected[300], *out = NULL;
    struct rp_problem why;
    int ends[2];

    pid_t one = reserve_elsewhere(both, first, &ends[0]);
    CHECK_STR(first, both);
    snprintf(expected, sizeof expected, "%s/", both);
    pid_t other = reserve_elsewhere(expected, second, &ends[1]);
    snprintf(expected, sizeof expected, "%s.2", both);
    CHECK_STR(second, expected);
    CHECK_EQ(rp_run_new_at(both, &out, &why), RP_BUSY); /* nor does anybody else take it */
    CHECK_HAS(why.text, "another recording");
    close(ends[0]), close(ends[1]);
    waitpid(one, NULL, 0), waitpid(other, NULL, 0);
    CHECK_OK(rp_run_reserve(both, &out, &why), why); /* what was left empty is free again */
    CHECK_STR(out, both);
    free(out);
}
