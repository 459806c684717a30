/* SPDX-License-Identifier: MIT */
/*
 * Shared parts of the workloads; app.h has the contracts.
 *
 * Every rank reads the same command line, so that a mistake in it is found by all ranks at once and
 * needs no message; only rank 0 speaks about it. A failed verification, in contrast, is known to
 * one rank: the failures are gathered with the hashes, and the verdict goes back to all ranks so
 * that they end with the same status.
 */
#include "app.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mpi.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2 };

#define SPIN_FACTOR UINT64_C(6364136223846793005)
#define SPIN_ADDEND UINT64_C(1442695040888963407)

static struct app_option seed_option = {"seed", "seed of all random choices", 1, 0, UINT64_MAX};

static _Noreturn void end_program(int status)
{
    fflush(stdout);
    MPI_Finalize();
    exit(status);
}

_Noreturn void app_usage_error(const struct app *app, const char *format, ...)
{
    if (app->rank == 0) {
        va_list arguments;
        va_start(arguments, format);
        fprintf(stderr, "%s: ", app->spec->name);
        vfprintf(stderr, format, arguments);
        fprintf(stderr, "; see --help\n");
        va_end(arguments);
    }
    end_program(STATUS_USAGE);
}

static void print_option(const struct app_option *option)
{
    printf("  --%-8s N  %s (default %" PRIu64 ")\n", option->name, option->help, option->value);
}

static _Noreturn void print_help(const struct app *app)
{
    if (app->rank == 0) {
        printf("usage: %s [option N]...\n%s\n", app->spec->name, app->spec->about);
        for (const struct app_option *option = app->spec->options; option->name; option++)
            print_option(option);
        print_option(&seed_option);
        printf("  --help        print this and exit\n");
    }
    end_program(STATUS_OK);
}

static struct app_option *find_option(const struct app_spec *spec, const char *name, size_t length)
{
    for (struct app_option *option = spec->options; option->name; option++)
        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0)
            return option;
    return strlen(seed_option.name) == length && memcmp(seed_option.name, name, length) == 0
               ? &seed_option
               : NULL;
}

static void set_option(const struct app *app, struct app_option *option, const char *text)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
        app_usage_error(app, "--%s needs a number, not '%s'", option->name, text);
    if (value < option->minimum || value > option->maximum)
        app_usage_error(app, "--%s must be from %" PRIu64 " to %" PRIu64 ", not %s", option->name,
                        option->minimum, option->maximum, text);
    option->value = value;
}

/* Reads the option at argv[index], written "--name value" or "--name=value", and returns the index
 * of the next. */
static int read_option(const struct app *app, int argc, char **argv, int index)
{
    const char *text = argv[index];
    if (strcmp(text, "--help") == 0)
        print_help(app);
    if (strncmp(text, "--", 2) != 0)
        app_usage_error(app, "unexpected argument '%s'", text);

    size_t length = strcspn(text + 2, "=");
    struct app_option *option = find_option(app->spec, text + 2, length);
    if (!option)
        app_usage_error(app, "unknown option '%s'", text);

    bool value_inside = text[2 + length] == '=';
    if (!value_inside && index + 1 == argc)
        app_usage_error(app, "--%s needs a number", option->name);
    set_option(app, option, value_inside ? text + 2 + length + 1 : argv[index + 1]);
    return index + (value_inside ? 1 : 2);
}

void app_start(struct app *app, const struct app_spec *spec, int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    *app = (struct app){.spec = spec};
    MPI_Comm_rank(MPI_COMM_WORLD, &app->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &app->ranks);
    for (int index = 1; index < *argc;)
        index = read_option(app, *argc, *argv, index);
    if (app->ranks < spec->minimum_ranks)
        app_usage_error(app, "needs at least %d ranks, not %d", spec->minimum_ranks, app->ranks);
    app->seed = seed_option.value;
}

void app_verify(struct app *app, bool holds, const char *format, ...)
{
    if (holds)
        return;
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    fprintf(stderr, "VERIFY FAILED: %s, rank %d of %d, seed %" PRIu64 ": %s\n", app->spec->name,
            app->rank, app->ranks, app->seed, what);
    app->failed = true;
}

uint64_t app_combine(const struct app *app, uint64_t value)
{
    uint64_t *values = app_allocate((size_t)app->ranks, sizeof *values);
    uint64_t combined = 0;
    MPI_Gather(&value, 1, MPI_UINT64_T, values, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    app_hash_add_words(&combined, values, (size_t)app->ranks);
    free(values);
    return combined;
}

uint64_t app_sum(uint64_t value)
{
    uint64_t sum;
    MPI_Allreduce(&value, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

double app_sum_double(double value)
{
    double sum;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

void app_verify_hashes(struct app *app, uint64_t hash, const uint64_t *expected, const char *what)
{
    uint64_t *hashes = app_allocate((size_t)app->ranks, sizeof *hashes);
    MPI_Gather(&hash, 1, MPI_UINT64_T, hashes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int rank = 0; app->rank == 0 && rank < app->ranks; rank++)
        app_verify(app, hashes[rank] == expected[rank],
                   "%s of rank %d differs from a serial computation", what, rank);
    free(hashes);
}

void app_tick(const struct app *app, long iteration)
{
    static long every = -1;
    static double last;
    struct timespec time;

    if (every < 0)
        every = app->rank == 0 && getenv("APP_TIMES") ? strtol(getenv("APP_TIMES"), NULL, 10) : 0;
    if (every <= 0 || iteration % every != 0)
        return;
    clock_gettime(CLOCK_MONOTONIC, &time);
    double now = (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
    if (iteration > 0)
        fprintf(stderr, "time %.6f\n", now - last);
    last = now;
}

int app_part_first(int total, int parts, int part)
{
    return (int)((int64_t)total * part / parts);
}

FILE *app_truth_file(const struct app *app)
{
    char path[4096];

    if (!getenv("APP_TRUTH"))
        return NULL;
    snprintf(path, sizeof path, "%s.%d", getenv("APP_TRUTH"), app->rank);
    return fopen(path, "wx");
}

void *app_truth_memory(size_t bytes)
{
    char path[4096];
    void *memory = MAP_FAILED;

    if (!getenv("APP_TRUTH"))
        return NULL;
    snprintf(path, sizeof path, "%s.map", getenv("APP_TRUTH"));
    int fd = open(path, O_RDWR | O_CREAT, 0666);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

int app_result(struct app *app, const char *fields, ...)
{
    uint64_t hash = app_combine(app, app->hash);
    bool failed = app_sum(app->failed) > 0;
    if (getenv("APP_HASHES")) {
        printf("rank %d: %016" PRIx64 "\n", app->rank, app->hash);
        fflush(stdout);
    }
    if (app->rank == 0) {
        char rest[512]; /* one printf: launchers put lines of other ranks between two */
        va_list arguments;
        va_start(arguments, fields);
        vsnprintf(rest, sizeof rest, fields, arguments);
        va_end(arguments);
        printf("RESULT hash=%016" PRIx64 " app=%s ranks=%d seed=%" PRIu64 " verified=%s %s\n", hash,
               app->spec->name, app->ranks, app->seed, failed ? "no" : "yes", rest);
        fflush(stdout);
    }
    MPI_Finalize();
    return failed ? STATUS_FAILED : STATUS_OK;
}

void *app_allocate(size_t count, size_t element_size)
{
    void *memory = calloc(count ? count : 1, element_size);
    if (!memory) {
        fprintf(stderr, "no memory for %zu elements of %zu bytes; try a smaller --size\n", count,
                element_size);
        MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
        abort();
    }
    return memory;
}

void app_yield(void)
{
    sched_yield();
}

uint64_t app_mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

void app_hash_add(uint64_t *hash, uint64_t value)
{
    uint64_t rotated = (*hash << 23) | (*hash >> 41);
    *hash = app_mix(rotated + value + UINT64_C(0x9e3779b97f4a7c15));
}

void app_hash_add_double(uint64_t *hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    app_hash_add(hash, bits);
}

void app_hash_add_words(uint64_t *hash, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        app_hash_add(hash, words[i]);
}

struct app_random app_random_from(uint64_t seed, uint64_t owner, uint64_t stream)
{
    struct app_random random = {0};
    app_hash_add(&random.state, seed);
    app_hash_add(&random.state, owner);
    app_hash_add(&random.state, stream);
    return random;
}

uint64_t app_random_next(struct app_random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    return app_mix(random->state);
}

uint64_t app_random_below(struct app_random *random, uint64_t limit)
{
    return app_random_next(random) % limit;
}

double app_random_unit(struct app_random *random)
{
    return (double)(app_random_next(random) >> 11) * 0x1p-53;
}

uint64_t app_spin(uint64_t start, uint64_t steps)
{
    uint64_t value = start;
    for (uint64_t i = 0; i < steps; i++)
        value = value * SPIN_FACTOR + SPIN_ADDEND;
    return value;
}

uint64_t app_spin_expected(uint64_t start, uint64_t steps)
{
    uint64_t factor = SPIN_FACTOR, addend = SPIN_ADDEND; /* of 2^i steps at once, as i grows */
    uint64_t value = start;
    for (; steps; steps >>= 1) {
        if (steps & 1)
            value = value * factor + addend;
        addend = factor * addend + addend;
        factor = factor * factor;
    }
    return value;
}
