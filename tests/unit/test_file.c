/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/reopen_file.h"
#include "unit.h"

TEST(a_new_file_is_written_once)
{
    const char *path = unit_path(unit_temporary(), "x");
    struct rp_buffer text = {0};
    struct rp_problem why;

    CHECK_OK(rp_write_new_file(path, "hello", 5, &why), why);
    CHECK_EQ(rp_write_new_file(path, "other", 5, &why), RP_USAGE);
    CHECK_HAS(why.text, path);
    CHECK_OK(rp_read_file(path, 5, &text, &why), why);
    CHECK(text.length == 5 && strcmp((char *)text.bytes, "hello") == 0);
    CHECK_OK(rp_read_file(path, 5, &text, &why), why);
    CHECK(text.length == 10 && strcmp((char *)text.bytes, "hellohello") == 0);
    rp_buffer_free(&text);
}

TEST(a_file_over_the_limit_is_refused)
{
    const char *path = unit_path(unit_temporary(), "x");
    struct rp_buffer text = {0};
    struct rp_problem why;

    CHECK_OK(rp_write_new_file(path, "hello", 5, &why), why);
    CHECK_EQ(rp_read_file(path, 4, &text, &why), RP_DAMAGED);
    CHECK_HAS(why.text, "larger than 4");
    rp_buffer_free(&text);
    CHECK_EQ(rp_read_file("/dev/zero", 100000, &text, &why), RP_DAMAGED);
    rp_buffer_free(&text);
}

TEST(failures_name_the_path)
{
    const char *missing = unit_path(unit_temporary(), "none/x");
    struct rp_buffer text = {0};
    struct rp_problem why;

    CHECK_EQ(rp_read_file(missing, 100, &text, &why), RP_SYSTEM);
    CHECK_HAS(why.text, missing);
    CHECK_HAS(why.text, strerror(ENOENT));
    CHECK_EQ(rp_write_new_file(missing, "x", 1, &why), RP_SYSTEM);
    CHECK_HAS(why.text, missing);
    rp_buffer_free(&text);
}

static void make_socket(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    CHECK_EQ(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    close(fd);
}

TEST(only_regular_files_are_opened)
{
    const char *directory = unit_temporary();
    const char *fifo = unit_path(directory, "fifo"), *listener = unit_path(directory, "socket"),
               *link = unit_path(directory, "link"), *file = unit_path(directory, "file");
    const struct {
        const char *path, *says;
    } others[] = {{"/", "a directory"}, {"/dev/null", "a device"}, {"/dev/zero", "a device"},
                  {fifo, "a FIFO"},     {listener, "a socket"},    {link, "a FIFO"}};
    struct rp_buffer text = {0};
    struct rp_reopen kept;
    struct rp_problem why;

    CHECK_EQ(mkfifo(fifo, 0600), 0);
    make_socket(listener);
    CHECK_EQ(symlink(fifo, link), 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        CHECK_EQ(rp_read_file(others[i].path, 100, &text, &why), RP_DAMAGED);
        CHECK_HAS(why.text, others[i].path);
        CHECK_HAS(why.text, others[i].says);
        CHECK_STR(rp_not_regular(others[i].path), others[i].says);
        CHECK_EQ(rp_reopen_open(&kept, others[i].path, O_RDONLY), EMEDIUMTYPE);
        CHECK_EQ(rp_reopen_open(&kept, others[i].path, O_RDWR), EMEDIUMTYPE);
    }
    CHECK_OK(rp_write_new_file(file, "x", 1, &why), why);
    unlink(link);
    CHECK_EQ(symlink(file, link), 0);
    CHECK_OK(rp_read_file(link, 100, &text, &why),
             why); /* a link to a file is as good as the file */
    CHECK(!rp_not_regular(file) && !rp_not_regular(link) &&
          !rp_not_regular(unit_path(directory, "none")));
    CHECK_OK(rp_read_file("/proc/self/cmdline", 1 << 20, &text, &why), why);
    rp_buffer_free(&text);
}

static unsigned mode_of(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 ? about.st_mode & 07777 : 0;
}

TEST(what_is_made_is_private)
{
    const char *directory = unit_path(unit_temporary(), "new"),
               *file = unit_path(directory, "file"), *held = unit_path(directory, "kept");
    struct rp_reopen kept;
    struct rp_problem why;
    mode_t before = umask(0);

    CHECK_OK(rp_make_directory(directory, false, &why), why);
    CHECK_OK(rp_write_new_file(file, "x", 1, &why), why);
    CHECK_EQ(rp_reopen_open(&kept, held, O_RDWR | O_CREAT | O_EXCL), 0);
    rp_reopen_close(&kept);
    CHECK(mode_of(directory) == 0700 && mode_of(file) == 0600 && mode_of(held) == 0600);
    unlink(file);
    umask(0277);
    CHECK_OK(rp_write_new_file(file, "x", 1, &why), why);
    CHECK_EQ(mode_of(file), 0400); /* a umask that takes more away stays */
    umask(before);
}

TEST(a_failed_write_leaves_no_file)
{
    struct rp_problem why;

    CHECK_EQ(rp_write_new_file("/dev/full", "x", 1, &why), RP_USAGE); /* it exists */
    int fd = open("/dev/full", O_WRONLY);
    CHECK_EQ(rp_write_all(fd, "x", 1, 0), ENOSPC);
    close(fd);
}

TEST(reads_at_an_offset_are_whole)
{
    const char *path = unit_path(unit_temporary(), "x");
    char bytes[8] = {0};
    int fd = open(path, O_RDWR | O_CREAT, 0666);

    CHECK_EQ(rp_write_all(fd, "abcdef", 6, 2), 0);
    CHECK_EQ(rp_read_all(fd, bytes, 8, 0), 0);
    CHECK(memcmp(bytes, "\0\0abcdef", 8) == 0);
    CHECK_EQ(rp_read_all(fd, bytes, 3, 5), 0);
    CHECK(memcmp(bytes, "def", 3) == 0);
    CHECK(rp_read_all(fd, bytes, 4, 5) == -1);
    CHECK_EQ(rp_read_all(fd, bytes, 0, 100), 0);
    close(fd);
    CHECK_EQ(rp_read_all(fd, bytes, 1, 0), EBADF);
    CHECK_EQ(rp_write_all(fd, bytes, 1, 0), EBADF);
}

/* In place of the C library's: if `at_most` is not 0, it writes no more at a time. */
static size_t at_most;

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    char all[64];
    size_t length = 0;

    for (int i = 0; i < count; i++) {
        if (length + parts[i].iov_len > sizeof all) {
            errno = EINVAL;
            return -1;
        }
        memcpy(all + length, parts[i].iov_base, parts[i].iov_len);
        length += parts[i].iov_len;
    }
    return pwrite(fd, all, at_most && length > at_most ? at_most : length, offset);
}

TEST(writes_that_come_to_a_part_go_on)
{
    const char *path = unit_path(unit_temporary(), "x"), *wanted = "abcdefghijklmnop";
    int fd = open(path, O_RDWR | O_CREAT, 0666);

    for (at_most = 1; at_most <= 16; at_most++) {
        struct iovec parts[] = {{"abc", 3}, {"d", 1}, {"", 0}, {"efghij", 6}, {"klmnop", 6}};
        char bytes[16] = {0};
        CHECK_EQ(ftruncate(fd, 0), 0);
        CHECK_EQ(rp_write_parts(fd, parts, 5, 0), 0);
        CHECK_EQ(rp_read_all(fd, bytes, 16, 0), 0);
        CHECK(memcmp(bytes, wanted, 16) == 0 && rp_read_all(fd, bytes, 1, 16) == -1);
    }
    at_most = 0;
    close(fd);
}

TEST(parts_are_written_one_behind_the_other)
{
    const char *path = unit_path(unit_temporary(), "x");
    char bytes[8] = {0};
    int fd = open(path, O_RDWR | O_CREAT, 0666), pipes[2];
    struct iovec parts[] = {{"", 0}, {"ab", 2}, {"", 0}, {"cde", 3}, {"f", 1}, {"", 0}},
                 none = {"", 0}, one = {"x", 1};

    CHECK_EQ(rp_write_parts(fd, parts, 6, 2), 0);
    CHECK_EQ(rp_read_all(fd, bytes, 8, 0), 0);
    CHECK(memcmp(bytes, "\0\0abcdef", 8) == 0);
    CHECK_EQ(rp_write_parts(fd, &none, 1, 0), 0);
    close(fd);
    CHECK_EQ(pipe(pipes), 0);
    CHECK_EQ(rp_write_parts(pipes[1], &one, 1, 0), ESPIPE);
    close(pipes[0]);
    close(pipes[1]);
}

TEST(directories_with_their_parents)
{
    const char *base = unit_temporary(), *path = unit_path(base, "a/b/c"),
               *file = unit_path(base, "file");
    struct rp_problem why;
    struct stat st;

    CHECK_OK(rp_make_directory(path, false, &why), why);
    CHECK(stat(path, &st) == 0 && S_ISDIR(st.st_mode));
    CHECK_EQ(rp_make_directory(path, false, &why), RP_USAGE);
    CHECK_HAS(why.text, "exists already");
    CHECK_OK(rp_make_directory(path, true, &why), why);
    CHECK_OK(rp_make_directory(unit_path(base, "d//e"), false, &why), why);
    CHECK_OK(rp_write_new_file(file, "", 0, &why), why);
    CHECK_EQ(rp_make_directory(unit_path(base, "file/x"), true, &why), RP_SYSTEM);
    CHECK_HAS(why.text, strerror(ENOTDIR));
    CHECK_EQ(rp_make_directory("", true, &why), RP_SYSTEM);
}

TEST(paths)
{
    char *joined = rp_path_join("a", "b"), *same = rp_path_absolute("/x/../y");
    char here[4096], *absolute = rp_path_absolute("z");

    CHECK_STR(joined, "a/b");
    CHECK_STR(same, "/x/../y");
    REQUIRE(getcwd(here, sizeof here));
    CHECK(strncmp(absolute, here, strlen(here)) == 0 && strcmp(absolute + strlen(here), "/z") == 0);
    free(joined);
    free(same);
    free(absolute);
}
