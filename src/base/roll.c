/* SPDX-License-Identifier: MIT */
#include "base/roll.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
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

enum gate { UNDECIDED, OPEN, CLOSED };

/* The first line is the gate's. */
struct rp_roll_line *rp_roll_make(const char *directory, size_t lines)
{
    int fd = open_in(directory, O_CREAT | O_EXCL);
    off_t bytes = (off_t)((lines + 1) * sizeof(struct rp_roll_line));
    struct rp_roll_line *all = fd >= 0 && ftruncate(fd, bytes) == 0 ? map(fd, lines + 1) : NULL;

    if (fd >= 0)
        close(fd);
    return all ? all + 1 : NULL;
}

static bool has_line(int fd, size_t line)
{
    struct stat is;

    return fstat(fd, &is) == 0 && (size_t)is.st_size / sizeof(struct rp_roll_line) > line;
}

struct rp_roll_line *rp_roll_open(const char *directory, size_t line)
{
    int fd = open_in(directory, 0);
    struct rp_roll_line *all = fd >= 0 && has_line(fd, line + 1) ? map(fd, line + 2) : NULL;

    if (fd >= 0)
        close(fd);
    return all ? all + 1 + line : NULL;
}

static bool decide(struct rp_roll_line *line, size_t number, int32_t wanted)
{
    int32_t is = UNDECIDED;

    return atomic_compare_exchange_strong(&(line - number - 1)->state, &is, wanted) || is == wanted;
}

bool rp_roll_open_gate(struct rp_roll_line *line, size_t number)
{
    return decide(line, number, OPEN);
}

bool rp_roll_close_gate(struct rp_roll_line *line, size_t number)
{
    return decide(line, number, CLOSED);
}

bool rp_roll_gate_is_open(const struct rp_roll_line *line, size_t number)
{
    return (line - number - 1)->state == OPEN;
}

const struct rp_roll_line *rp_roll_look(const char *directory, size_t *lines)
{
    int fd = open_in(directory, 0);
    struct stat is;
    size_t count = fd >= 0 && fstat(fd, &is) == 0 ? (size_t)is.st_size / sizeof(struct rp_roll_line) : 0;
    const struct rp_roll_line *all = count > 1 ? map(fd, count) : NULL;

    if (fd >= 0)
        close(fd);
    *lines = all ? count - 1 : 0;
    return all ? all + 1 : NULL;
}
