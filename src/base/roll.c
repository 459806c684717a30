/* SPDX-License-Identifier: MIT */
#include "base/roll.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct rp_roll_line *map(int fd, size_t lines)
{
    void *memory = mmap(NULL, lines * sizeof(struct rp_roll_line), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static int open_in(const char *directory, int flags)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%s/roll", directory) < PATH_MAX ? open(path, O_RDWR | O_CLOEXEC | flags, 0600) : -1;
}

struct rp_roll_line *rp_roll_make(const char *directory, size_t lines)
{
    int fd = open_in(directory, O_CREAT | O_EXCL);
    struct rp_roll_line *all = fd >= 0 && ftruncate(fd, (off_t)(lines * sizeof *all)) == 0 ? map(fd, lines) : NULL;

    if (fd >= 0)
        close(fd);
    return all;
}

struct rp_roll_line *rp_roll_open(const char *directory, size_t line)
{
    int fd = open_in(directory, 0);
    struct stat is;
    struct rp_roll_line *all = fd >= 0 && fstat(fd, &is) == 0 && (size_t)is.st_size / sizeof *all > line ? map(fd, line + 1) : NULL;

    if (fd >= 0)
        close(fd);
    return all ? all + line : NULL;
}

const struct rp_roll_line *rp_roll_look(const char *directory, size_t *lines)
{
    int fd = open_in(directory, 0);
    struct stat is;
    const struct rp_roll_line *all = NULL;

    *lines = fd >= 0 && fstat(fd, &is) == 0 ? (size_t)is.st_size / sizeof *all : 0;
    if (*lines > 0)
        all = map(fd, *lines);
    if (fd >= 0)
        close(fd);
    return all;
}
