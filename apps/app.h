/* SPDX-License-Identifier: MIT */
/*
 * What the workloads share: options, random numbers, an order-sensitive hash, verification and the
 * result line.
 *
 * A workload calls app_start(), works, says what must hold with app_verify(), folds what it
 * computed into app.hash with app_hash_add(), and returns app_result() from main. The exit status
 * is 0 when everything verified, 1 when something on any rank did not, 2 when the command line or
 * the number of ranks is wrong.
 *
 * The workloads pass real arrays of statuses even where they read none of them: gcc takes MPICH's
 * MPI_STATUSES_IGNORE for an array of length zero and warns.
 */
#ifndef APP_H
#define APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A numeric option. A table of them ends with a null name; --seed and --help are understood by
 * every workload. */
struct app_option {
    const char *name; /* without the dashes */
    const char *help;
    uint64_t value; /* the default, then what the command line says */
    uint64_t minimum;
    uint64_t maximum;
};

struct app_spec {
    const char *name;
    const char *about;
    int minimum_ranks;
    struct app_option *options;
};

struct app {
    const struct app_spec *spec;
    int rank;
    int ranks;
    uint64_t seed;
    uint64_t hash; /* this rank's part of the result */
    bool failed;   /* something on this rank did not verify */
};

/* Initialises MPI and reads the command line into spec->options. Ends the program on --help or on a
 * mistake. */
void app_start(struct app *app, const struct app_spec *spec, int *argc, char ***argv);

/* Ends the program with status 2 on every rank, after rank 0 has printed the message. All ranks
 * must call it. */
_Noreturn void app_usage_error(const struct app *app, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints "VERIFY FAILED: ..." and remembers the failure unless `holds`. Any rank may call it
 * alone. */
void app_verify(struct app *app, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Collective. Combines the ranks' hashes in rank order, prints "RESULT hash=... <fields>" at rank 0
 * as the last line of stdout, finalises MPI and returns the exit status. `fields` is read at rank 0
 * only. Where APP_HASHES is set, every rank prints its own hash, too.
 */
int app_result(struct app *app, const char *fields, ...) __attribute__((format(printf, 2, 3)));

/*
 * Where APP_TRUTH names a file, the one-sided workloads tell there who wrote what, past MPI, so
 * that those who infer it can be tested: each rank in a file of its own, and, before that, in
 * memory that all ranks of the host map. NULL if nothing is asked for, or the rank's file is there
 * already: then this is a replay.
 */
FILE *app_truth_file(const struct app *app);
void *app_truth_memory(size_t bytes);

/* Collective. The ranks' values folded in rank order; the return value means something at rank 0
 * only. */
uint64_t app_combine(const struct app *app, uint64_t value);

/* Collective. The sum over all ranks, modulo 2^64. */
uint64_t app_sum(uint64_t value);
double app_sum_double(double value);

/* Collective. Whether the ranks' hashes are those that rank 0 expects of them; read at rank 0,
 * where it is verified. */
void app_verify_hashes(struct app *app, uint64_t hash, const uint64_t *expected, const char *what);

/* At the beginning of each iteration: where APP_TIMES is set to a number, rank 0 tells what so many
 * iterations took, "time SECONDS" on stderr. */
void app_tick(const struct app *app, long iteration);

/* The first of the items 0 to total-1 that belong to a part, when all are cut into parts of nearly
 * equal length. */
int app_part_first(int total, int parts, int part);

/* Zeroed memory for `count` elements (at least one), or the end of the job: never null. Free it
 * with free(). */
void *app_allocate(size_t count, size_t element_size);

/* Gives the core away where a polling loop found nothing, so that more ranks than cores still get
 * on. */
void app_yield(void);

/* Folds a value into a hash whose result depends on the order of the additions. */
void app_hash_add(uint64_t *hash, uint64_t value);
void app_hash_add_double(uint64_t *hash, double value);
void app_hash_add_words(uint64_t *hash, const uint64_t *words, size_t count);

/* A bijection of 64 bits that looks random (splitmix64's finaliser). */
uint64_t app_mix(uint64_t value);

/* Random numbers (splitmix64) that depend on the seed and on whose they are, never on the order of
 * events. */
struct app_random {
    uint64_t state;
};

struct app_random app_random_from(uint64_t seed, uint64_t owner, uint64_t stream);
uint64_t app_random_next(struct app_random *random);
uint64_t app_random_below(struct app_random *random, uint64_t limit); /* 0 .. limit-1 */
double app_random_unit(struct app_random *random);                    /* 0 <= x < 1 */

/*
 * Arithmetic that takes time: `steps` dependent steps of a linear congruential generator, 1 to 2 ns
 * each. app_spin_expected() gives the same value in O(log steps), so that the work can be verified
 * without doing it again.
 */
uint64_t app_spin(uint64_t start, uint64_t steps);
uint64_t app_spin_expected(uint64_t start, uint64_t steps);

#endif
