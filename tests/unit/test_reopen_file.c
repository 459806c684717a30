/* SPDX-License-Identifier: MIT */
#include "base/reopen_file.h"

#include <errno.h>
#include <fcntl.h>

#include "unit.h"

static long size_of(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 ? (long)about.st_size : -1;
}

/* As a program does that closes everything and then opens a file of its own. */
static void take_number(int fd, const char *path)
{
    close(fd);
    int other = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (other != fd) {
        CHECK_EQ(dup2(other, fd), fd);
        close(other);
    }
}

TEST(a_file_that_was_closed_is_opened_again)
{
    const char *path = unit_path(unit_temporary(), "ours");
    struct rp_reopen file;
    char back[8] = "";

    CHECK_EQ(rp_reopen_open(&file, path, O_RDWR | O_CREAT | O_EXCL), 0);
    CHECK_EQ(rp_reopen_write(&file, "one", 3, 0), 0);
    close(file.fd);
    CHECK_EQ(rp_reopen_write(&file, "two", 3, 3), 0);
    CHECK(rp_reopen_read(&file, back, 6, 0) == 0 && memcmp(back, "onetwo", 6) == 0);
    CHECK_EQ(rp_reopen_read(&file, back, 7, 0), -1);
    rp_reopen_close(&file);
    CHECK_EQ(size_of(path), 6);
    CHECK_EQ(rp_reopen_open(&file, path, O_RDWR | O_CREAT | O_EXCL), EEXIST);
    rp_reopen_close(&file);
}

TEST(files_of_others_under_its_number_are_left_alone)
{
    const char *folder = unit_temporary();
    char *path = strdup(unit_path(folder, "ours")), *theirs = strdup(unit_path(folder, "theirs"));
    struct rp_reopen file;

    CHECK_EQ(rp_reopen_open(&file, path, O_RDWR | O_CREAT | O_EXCL), 0);
    int first = file.fd;
    take_number(first, theirs);
    CHECK_EQ(rp_reopen_write(&file, "three", 5, 0), 0);
    CHECK_EQ(rp_reopen_truncate(&file, 4), 0);
    CHECK_EQ(size_of(path), 4);
    CHECK_EQ(size_of(theirs), 0);
    int second = file.fd;
    CHECK(second != first);
    take_number(second, theirs);
    rp_reopen_close(&file);
    CHECK(fcntl(first, F_GETFD) >= 0 && fcntl(second, F_GETFD) >= 0);
    close(first);
    close(second);
    free(path);
    free(theirs);
}

TEST(another_file_at_its_place_is_none)
{
    const char *folder = unit_temporary();
    char *path = strdup(unit_path(folder, "ours")), *moved = strdup(unit_path(folder, "moved"));
    struct rp_reopen file;

    CHECK_EQ(rp_reopen_open(&file, path, O_RDWR | O_CREAT | O_EXCL), 0);
    close(file.fd);
    CHECK_EQ(rename(path, moved), 0);
    CHECK_EQ(rp_reopen_write(&file, "x", 1, 0), ENOENT);
    close(open(path, O_RDWR | O_CREAT, 0666));
    CHECK_EQ(rp_reopen_write(&file, "x", 1, 0), ESTALE);
    CHECK_EQ(size_of(path), 0);
    rp_reopen_close(&file);
    free(path);
    free(moved);
}

TEST(what_cannot_be_opened_is_told)
{
    struct rp_reopen file;

    CHECK_EQ(rp_reopen_open(&file, "/nowhere/at/all", O_RDWR), ENOENT);
    CHECK_EQ(file.fd, -1);
    rp_reopen_close(&file);
}
