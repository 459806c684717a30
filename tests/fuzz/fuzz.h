/* SPDX-License-Identifier: MIT */
/* What every fuzz target shares. A target is LLVMFuzzerTestOneInput; libFuzzer or driver.c calls
 * it. */
#ifndef FUZZ_H
#define FUZZ_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* A property that does not hold. */
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static char fuzz_path[4096];

__attribute__((unused)) static void fuzz_remove(void)
{
    char name[8192];
    static const char *const names[] = {"rank-00001.log",
                                        "rank-00001.0.ring",
                                        "rank-00001.data",
                                        "rank-00001.tail",
                                        "manifest.json",
                                        "incomplete",
                                        "rank-00000.data",
                                        "rank-00000.order",
                                        "rank-00000.accesses",
                                        "rank-00001.order",
                                        "rank-00001.accesses",
                                        "events.jsonl",
                                        "rank-00001.regions",
                                        "rank-00002.regions",
                                        "rank-00001.given",
                                        "decisions",
                                        "costs",
                                        "jobs"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "%s/%s", fuzz_path, names[i]);
        unlink(name);
    }
    rmdir(fuzz_path);
}

/* A directory of this process, in memory where possible. */
__attribute__((unused)) static const char *fuzz_directory(void)
{
    if (*fuzz_path)
        return fuzz_path;
    snprintf(fuzz_path, sizeof fuzz_path, "%s/reprise-fuzz.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    FUZZ_CHECK(mkdtemp(fuzz_path));
    atexit(fuzz_remove);
    return fuzz_path;
}

__attribute__((unused)) static void fuzz_write(const char *name, const void *bytes, size_t length)
{
    char path[8192];

    snprintf(path, sizeof path, "%s/%s", fuzz_directory(), name);
    int fd = open(path, O_WRONLY | O_CREAT, 0666);
    FUZZ_CHECK(fd >= 0 && pwrite(fd, bytes, length, 0) == (ssize_t)length &&
               ftruncate(fd, (off_t)length) == 0);
    close(fd);
}

/* A failure has words. */
__attribute__((unused)) static void fuzz_check_status(enum rp_status status,
                                                      const struct rp_problem *why)
{
    if (status != RP_OK)
        FUZZ_CHECK(status != RP_MEMORY && why->text[0] && strlen(why->text) < sizeof why->text);
}

#endif
