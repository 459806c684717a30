/* SPDX-License-Identifier: MIT */
#include "job/task_progress.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_in(const char *directory, int flags)
{
    char path[PATH_MAX];
    bool fits = snprintf(path, sizeof path, "%s/tasks", directory) < PATH_MAX;

    return fits ? open(path, O_RDWR | O_CLOEXEC | flags, 0600) : -1;
}

static struct rp_task_process *map(int fd, size_t bytes)
{
    void *memory =
        bytes > 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;

    return memory == MAP_FAILED ? NULL : memory;
}

struct rp_task_process *rp_task_progress_make(const char *directory, size_t lines)
{
    int fd = open_in(directory, O_CREAT | O_EXCL);
    size_t bytes = lines * sizeof(struct rp_task_process);
    struct rp_task_process *all =
        fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 ? map(fd, bytes) : NULL;

    if (fd >= 0)
        close(fd);
    return all;
}

struct rp_task_process *rp_task_progress_open(const char *directory, size_t *lines)
{
    int fd = open_in(directory, 0);
    struct stat is;
    struct rp_task_process *all =
        fd >= 0 && fstat(fd, &is) == 0 ? map(fd, (size_t)is.st_size) : NULL;

    if (fd >= 0)
        close(fd);
    *lines = all ? (size_t)is.st_size / sizeof *all : 0;
    return all;
}
