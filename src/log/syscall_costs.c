/* SPDX-License-Identifier: MIT */
#include "log/syscall_costs.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/file.h"

const struct rp_syscall_costs rp_syscall_costs_usual = {.microsecond = 1000,
                                                        .read = 1000,
                                                        .read_kib = 200,
                                                        .write = 1000,
                                                        .write_kib = 300,
                                                        .sync = 1000000};

static const struct {
    const char *name;
    size_t offset;
} names[] = {
    {"microsecond", offsetof(struct rp_syscall_costs, microsecond)},
    {"read", offsetof(struct rp_syscall_costs, read)},
    {"read_kib", offsetof(struct rp_syscall_costs, read_kib)},
    {"write", offsetof(struct rp_syscall_costs, write)},
    {"write_kib", offsetof(struct rp_syscall_costs, write_kib)},
    {"sync", offsetof(struct rp_syscall_costs, sync)},
};

enum { NAMES = sizeof names / sizeof *names };
#define MOST UINT64_C(1000000000000)

static uint64_t *cost(struct rp_syscall_costs *costs, const char *name)
{
    for (int i = 0; i < NAMES; i++)
        if (strcmp(names[i].name, name) == 0)
            return (uint64_t *)((char *)costs + names[i].offset);
    return NULL;
}

static bool read_line(const char *line, size_t length, struct rp_syscall_costs *costs)
{
    char name[32], rest[2];
    unsigned long long ticks;
    uint64_t *into =
        strlen(line) == length && sscanf(line, "%31s %llu %1s", name, &ticks, rest) == 2
            ? cost(costs, name)
            : NULL;

    if (!into || ticks > MOST || strchr(line, '-'))
        return false;
    *into = ticks;
    return true;
}

static enum rp_status read_lines(FILE *file, const char *path, struct rp_syscall_costs *costs,
                                 struct rp_problem *why)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length = getline(&line, &room, file);
    enum rp_status status = RP_OK;

    if (length < 0 || strcmp(line, "reprise costs 1\n") != 0)
        status = rp_fail(why, RP_USAGE,
                         "%s: not a file of costs: it does not begin with 'reprise costs 1'", path);
    for (int number = 2; status == RP_OK && (length = getline(&line, &room, file)) >= 0; number++)
        if (!read_line(line, (size_t)length, costs))
            status =
                rp_fail(why, RP_USAGE,
                        "%s:%d: not 'NAME TICKS' with a name and a number that are known: %.*s",
                        path, number, (int)strcspn(line, "\n"), line);
    free(line);
    return status;
}

enum rp_status rp_syscall_costs_read(const char *path, struct rp_syscall_costs *costs,
                                     struct rp_problem *why)
{
    struct rp_syscall_costs found = rp_syscall_costs_usual;
    int fd = rp_open_regular(path, O_RDONLY);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

    if (!file && rp_not_regular(path))
        return rp_fail_open(why, path, errno);
    if (!file)
        return rp_fail(why, RP_USAGE, "%s: cannot open: %s", path, strerror(errno));
    enum rp_status status = read_lines(file, path, &found, why);
    fclose(file);
    if (status == RP_OK)
        *costs = found;
    return status;
}

enum rp_status rp_syscall_costs_write(const char *path, const struct rp_syscall_costs *costs,
                                      struct rp_problem *why)
{
    struct rp_syscall_costs copy = *costs;
    FILE *file = fopen(path, "wx");

    if (!file)
        return rp_fail(why, RP_USAGE, "%s: cannot create: %s", path, strerror(errno));
    fprintf(file, "reprise costs 1\n");
    for (int i = 0; i < NAMES; i++)
        fprintf(file, "%s %llu\n", names[i].name, (unsigned long long)*cost(&copy, names[i].name));
    if (fclose(file) != 0)
        return rp_fail(why, RP_SYSTEM, "%s: cannot write: %s", path, strerror(errno));
    return RP_OK;
}
