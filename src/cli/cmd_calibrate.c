/* SPDX-License-Identifier: MIT */
/* reprise calibrate: measures what system calls take on this machine, and writes a file of costs
 * for deterministic runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log/syscall_costs.h"
#include "base/diagnostics.h"
#include "cli/options.h"
#include "reprise.h"

static const struct rp_option options[] = {{NULL, NULL, NULL, NULL, NULL}};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

enum { TRIES = 9 };

static int compare(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;

    return (a > b) - (a < b);
}

/* Returns the nanoseconds that action(data) takes: the median of some tries, of `times` calls each.
 */
static double measure(void (*action)(void *), void *data, int times)
{
    double found[TRIES];

    for (int i = 0; i < TRIES; i++) {
        double start = now();
        for (int k = 0; k < times; k++)
            action(data);
        found[i] = (now() - start) / times;
    }
    qsort(found, TRIES, sizeof *found, compare);
    return found[TRIES / 2];
}

/* A step is about ten instructions, none of which the compiler can leave out. */
enum { STEPS = 100000, STEP = 10 };

static void compute(void *data)
{
    volatile unsigned long *sum = data;
    unsigned long x = *sum | 1;

    for (int i = 0; i < STEPS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        if (x == 0)
            x = 1;
    }
    *sum = x;
}

struct file {
    int descriptor;
    size_t bytes;
    char *data;
};

static void read_some(void *data)
{
    struct file *file = data;

    if (pread(file->descriptor, file->data, file->bytes, 0) < 0)
        file->bytes = 0;
}

static void write_some(void *data)
{
    struct file *file = data;

    if (pwrite(file->descriptor, file->data, file->bytes, 0) < 0)
        file->bytes = 0;
}

static void sync_it(void *data)
{
    write_some(data);
    fsync(((struct file *)data)->descriptor);
}

static uint64_t ticks(double nanoseconds, double per_microsecond)
{
    double found = nanoseconds * per_microsecond / 1000;

    return found < 1 ? 1 : (uint64_t)found;
}

static enum rp_status measure_all(struct rp_syscall_costs *costs, struct rp_problem *why)
{
    enum { LONG = 1 << 20, SHORT = 16 };
    char name[] = "reprise-calibrate-XXXXXX";
    unsigned long sum = 1;
    struct file file = {mkstemp(name), LONG, calloc(1, LONG)};

    if (file.descriptor < 0 || !file.data || pwrite(file.descriptor, file.data, LONG, 0) != LONG)
        return rp_fail(why, RP_SYSTEM, "%s: cannot be written in the working directory", name);
    double rate = STEPS * STEP * 1000.0 / measure(compute, &sum, 3), kib = LONG / 1024.0;
    double long_read = measure(read_some, &file, 20), long_write = measure(write_some, &file, 20);
    file.bytes = SHORT;
    double short_read = measure(read_some, &file, 500),
           short_write = measure(write_some, &file, 500);
    *costs = (struct rp_syscall_costs){
        .microsecond = ticks(1000, rate),
        .read = ticks(short_read, rate),
        .read_kib = ticks((long_read - short_read) / kib, rate),
        .write = ticks(short_write, rate),
        .write_kib = ticks((long_write - short_write) / kib, rate),
        .sync = ticks(measure(sync_it, &file, 3), rate),
    };
    close(file.descriptor);
    unlink(name);
    free(file.data);
    return RP_OK;
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct rp_problem why;
    struct rp_syscall_costs costs;
    int first = rp_options_parse(command, argc, argv);

    if (first < 0)
        return REPRISE_EXIT_USAGE;
    if (argc - first != 1)
        return rp_usage_error(command, "one FILE is expected");
    if (access(argv[first], F_OK) == 0) {
        rp_error("%s exists: it is not overwritten", argv[first]);
        return REPRISE_EXIT_USAGE;
    }
    enum rp_status status = measure_all(&costs, &why);
    if (status == RP_OK)
        status = rp_syscall_costs_write(argv[first], &costs, &why);
    if (status != RP_OK) {
        rp_error("cannot calibrate: %s", why.text);
        return rp_exit_status(status);
    }
    rp_note("costs of this machine are in %s: reprise det --costs %s", argv[first], argv[first]);
    return 0;
}

const struct rp_command rp_command_calibrate = {
    .name = "calibrate",
    .synopsis = "FILE",
    .about = "measure the costs of system calls, for deterministic runs",
    .more = "Without such a file, deterministic runs use a table that is the same everywhere. "
            "Other costs make another run.",
    .options = options,
    .run = run,
};
