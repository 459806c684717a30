/* SPDX-License-Identifier: MIT */
/* The whole of the unit tests' framework. A test program is one file: TEST(name) { ... CHECK(...)
 * ... }; main is here. */
#ifndef UNIT_H
#define UNIT_H

#include <ftw.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct unit_test {
    const char *name;
    void (*run)(void);
};

enum { UNIT_TESTS_LIMIT = 256, UNIT_FAILURES_SHOWN = 20 };

static struct unit_test unit_tests[UNIT_TESTS_LIMIT];
static int unit_test_count, unit_checks, unit_failures;
static char unit_directory[4096];

/* Prints where, and what; goes on. */
__attribute__((unused, format(printf, 3, 4))) static void unit_fail(const char *file, int line,
                                                                    const char *format, ...)
{
    va_list arguments;

    if (++unit_failures > UNIT_FAILURES_SHOWN)
        return;
    printf("%s:%d: ", file, line);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

#define TEST(name)                                                                                 \
    static void name(void);                                                                        \
    __attribute__((constructor)) static void unit_register_##name(void)                            \
    {                                                                                              \
        unit_tests[unit_test_count++] = (struct unit_test){#name, name};                           \
    }                                                                                              \
    static void name(void)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        unit_checks++;                                                                             \
        if (!(condition))                                                                          \
            unit_fail(__FILE__, __LINE__, "not so: %s", #condition);                               \
    } while (0)

#define CHECK_EQ(left, right)                                                                      \
    do {                                                                                           \
        unsigned long long unit_left = (unsigned long long)(left),                                 \
                           unit_right = (unsigned long long)(right);                               \
        unit_checks++;                                                                             \
        if (unit_left != unit_right)                                                               \
            unit_fail(__FILE__, __LINE__, "%s is %llu (%#llx), %s is %llu (%#llx)", #left,         \
                      unit_left, unit_left, #right, unit_right, unit_right);                       \
    } while (0)

#define CHECK_STR(left, right)                                                                     \
    do {                                                                                           \
        const char *unit_left = (left), *unit_right = (right);                                     \
        unit_checks++;                                                                             \
        if (!unit_left || strcmp(unit_left, unit_right) != 0)                                      \
            unit_fail(__FILE__, __LINE__, "%s is \"%s\", not \"%s\"", #left,                       \
                      unit_left ? unit_left : "(null)", unit_right);                               \
    } while (0)

#define CHECK_HAS(text, part)                                                                      \
    do {                                                                                           \
        const char *unit_text = (text), *unit_part = (part);                                       \
        unit_checks++;                                                                             \
        if (!strstr(unit_text, unit_part))                                                         \
            unit_fail(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", unit_text, unit_part);     \
    } while (0)

/* The status, with the message if it is not RP_OK. */
#define CHECK_OK(call, why)                                                                        \
    do {                                                                                           \
        int unit_status = (int)(call);                                                             \
        unit_checks++;                                                                             \
        if (unit_status != 0)                                                                      \
            unit_fail(__FILE__, __LINE__, "%s: status %d: %s", #call, unit_status, (why).text);    \
    } while (0)

/* For what the rest of the test cannot do without. */
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        unit_checks++;                                                                             \
        if (!(condition)) {                                                                        \
            unit_fail(__FILE__, __LINE__, "not so: %s", #condition);                               \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/* splitmix64: the same numbers everywhere, for ever. */
__attribute__((unused)) static uint64_t unit_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

__attribute__((unused)) static uint64_t unit_below(uint64_t *state, uint64_t limit)
{
    return unit_random(state) % limit;
}

/* A number that is small, large or an edge, each often enough. */
__attribute__((unused)) static uint64_t unit_edge(uint64_t *state)
{
    static const uint64_t edges[] = {0,          1,
                                     127,        128,
                                     255,        256,
                                     16383,      16384,
                                     INT32_MAX,  (uint64_t)INT32_MAX + 1,
                                     UINT32_MAX, (uint64_t)UINT32_MAX + 1,
                                     INT64_MAX,  (uint64_t)INT64_MAX + 1,
                                     UINT64_MAX};
    uint64_t choice = unit_random(state);

    switch (choice % 4) {
    case 0:
        return edges[(choice >> 8) % (sizeof edges / sizeof *edges)];
    case 1:
        return (choice >> 8) % 16;
    default:
        return unit_random(state) >> ((choice >> 8) % 64);
    }
}

static int unit_remove(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static void unit_clean_up(void)
{
    if (*unit_directory)
        nftw(unit_directory, unit_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* `directory/name`, kept to the end. */
__attribute__((unused)) static const char *unit_path(const char *directory, const char *name)
{
    static char *paths[1 << 16];
    static unsigned next;
    char **path = &paths[next++ % (1 << 16)];

    if (asprintf(path, "%s/%s", directory, name) < 0)
        exit(2);
    return *path;
}

/* A new empty directory, removed at the end. */
__attribute__((unused)) static const char *unit_temporary(void)
{
    static int count;
    char name[16];

    snprintf(name, sizeof name, "%d", ++count);
    const char *path = unit_path(unit_directory, name);
    if (mkdir(path, 0777) != 0) {
        perror(path);
        exit(2);
    }
    return path;
}

/* fork, for a child that ends in unit_child_exit. */
__attribute__((unused)) static pid_t unit_fork(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        unit_failures = 0;
    return child;
}

/* Counts of lines, where there are any, are written by whoever ends without exit. */
void __gcov_dump(void) __attribute__((weak));

/* A child that the test forked ends here: what it found is its exit status. */
__attribute__((unused, noreturn)) static void unit_child_exit(void)
{
    fflush(stdout);
    if (__gcov_dump)
        __gcov_dump();
    _exit(unit_failures > 0);
}

int main(int argc, char **argv)
{
    const char *base = getenv("TMPDIR");
    int run = 0;

    snprintf(unit_directory, sizeof unit_directory, "%s/reprise-unit.XXXXXX",
             base && *base ? base : "/tmp");
    if (!mkdtemp(unit_directory)) {
        perror(unit_directory);
        return 2;
    }
    for (int i = 0; i < unit_test_count; i++) {
        int before = unit_failures;
        if (argc > 1 && strcmp(argv[1], unit_tests[i].name) != 0)
            continue;
        unit_tests[i].run();
        run++;
        if (unit_failures > before)
            printf("FAILED %s: to see it alone: %s %s\n", unit_tests[i].name, argv[0],
                   unit_tests[i].name);
    }
    unit_clean_up();
    printf("%d tests, %d checks, %d failed\n", run, unit_checks, unit_failures);
    return unit_failures > 0 || run == 0 || unit_checks == 0;
}

#endif
