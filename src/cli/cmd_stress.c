/* SPDX-License-Identifier: MIT */
/*
 * reprise stress: runs a command many times, recorded and with its messages disturbed, and keeps
 * the records of the runs that are not like the others.
 *
 * Runs are alike that ended in the same way and wrote the same. Of the kinds that ended with status
 * 0 (of all, if none did) the one with the most runs is the usual one: of it the first record is
 * kept, to compare the others with. A good kind that more than half of all runs are of will be the
 * usual one, so that its records need not be kept until the end.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/file.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "base/text.h"
#include "cli/launch.h"
#include "cli/stress_run.h"
#include "cli/options.h"
#include "cli/output_digest.h"
#include "cli/running.h"
#include "log/rundir.h"
#include "report/facts.h"
#include "reprise.h"

static const char *runs_text, *seed_text, *output, *compare, *timeout_text, *delay, *mpi, *allow,
    *capture;

static const struct rp_option options[] = {
    {"--runs", "-n", "N", "number of runs (default 100)", &runs_text},
    {"--seed", NULL, "S", "the seed of the first run; run n has S + n - 1 (default: random)",
     &seed_text},
    {"--output", "-o", "DIR",
     "the directory of the records; it must not exist yet, or be empty (default: "
     ".reprise/NAME-stress-N)",
     &output},
    {"--compare", NULL, "WHAT",
     "what must be alike: status; output (default): status and the lines on standard output, in "
     "any order; or a command: status and what it makes of the output",
     &compare},
    {"--timeout", NULL, "SECONDS", "a run that takes longer counts as hanging (default 60)",
     &timeout_text},
    {"--delay", NULL, "US", "the longest single delay, in microseconds (default 10000)", &delay},
    {"--mpi", NULL, "MPI", "openmpi, mpich or abi, where it cannot be seen from the program", &mpi},
    {"--allow", NULL, "F[,F]", "let these refused MPI functions through, unrecorded", &allow},
    {"--capture", NULL, "V[,V]", "also record values from outside: time, random, pid, host or all",
     &capture},
    {NULL, NULL, NULL, NULL, NULL},
};

/* How a run ended. */
struct end {
    uint64_t seed, digest, events;
    int status;
    bool hung, kept;
    size_t first_alike; /* the first run of its kind */
    size_t alike;       /* of a first run: how many there are of its kind */
    struct rp_buffer stall;
};

struct stress {
    char **command;
    char *directory;
    uint64_t runs, seconds, seed;
    struct end *end;
    size_t done;
};

static enum rp_status parse_number(const char *name, const char *text, uint64_t least,
                                   uint64_t most, uint64_t *value, struct rp_problem *why)
{
    char *rest;

    if (!text)
        return RP_OK;
    errno = 0;
    unsigned long long number = strtoull(text, &rest, 10);
    if (errno || rest == text || *rest || text[strspn(text, "0123456789")] || number < least ||
        number > most)
        return rp_fail(why, RP_USAGE, "%s %s: a whole number from %llu to %llu is expected", name,
                       text, (unsigned long long)least, (unsigned long long)most);
    *value = number;
    return RP_OK;
}

static enum rp_status apply_options(struct stress *s, struct rp_problem *why)
{
    uint64_t longest = 10000;
    uint32_t seed = 0;

    if (allow)
        setenv("REPRISE_ALLOW", allow, 1);
    if (capture)
        setenv("REPRISE_CAPTURE", capture, 1);
    if (delay)
        setenv("REPRISE_DELAY", delay, 1);
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = (uint32_t)getpid();
    s->runs = 100;
    s->seconds = 60;
    s->seed = seed;
    enum rp_status status = parse_number("--runs", runs_text, 1, 1000000, &s->runs, why);
    if (status == RP_OK)
        status = parse_number("--seed", seed_text, 0, UINT64_MAX - 1000000, &s->seed, why);
    if (status == RP_OK)
        status = parse_number("--timeout", timeout_text, 1, 1000000, &s->seconds, why);
    if (status == RP_OK)
        status = parse_number("--delay", delay, 1, 1000000, &longest, why);
    if (status == RP_OK)
        status = rp_settings_check_capture(why);
    return status;
}

static enum rp_status make_directory(struct stress *s, struct rp_problem *why)
{
    const char *program = rp_launch_program(s->command), *slash = strrchr(program, '/');
    char name[256];

    if (output)
        return rp_run_reserve(output, &s->directory, why);
    snprintf(name, sizeof name, "%.200s-stress", slash ? slash + 1 : program);
    return rp_run_new(name, &s->directory, why);
}

static void path_of(const struct stress *s, size_t i, const char *suffix, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/run-%zu%s", s->directory, i + 1, suffix);
}

static void forget(struct stress *s, size_t i)
{
    char path[PATH_MAX];

    path_of(s, i, "", path);
    rp_remove_directory(path);
    path_of(s, i, ".out", path);
    unlink(path);
    path_of(s, i, ".err", path);
    unlink(path);
    s->end[i].kept = false;
}

/* Removes all runs of a kind except the first. */
static void forget_alike(struct stress *s, size_t first)
{
    for (size_t i = first + 1; i < s->done; i++)
        if (s->end[i].kept && s->end[i].first_alike == first)
            forget(s, i);
}

static bool is_alike(const struct end *a, const struct end *b)
{
    return a->hung == b->hung && (a->hung || (a->status == b->status && a->digest == b->digest));
}

static int badness(const struct end *end)
{
    return end->hung ? 1 : end->status != 0 ? 2 : 0;
}

static void classify(struct stress *s, size_t i)
{
    size_t first = 0;

    while (first < i &&
           (s->end[first].first_alike != first || !is_alike(&s->end[first], &s->end[i])))
        first++;
    s->end[i].first_alike = first;
    s->end[first].alike++;
}

static enum rp_status digest(struct stress *s, size_t i, struct rp_problem *why)
{
    char path[PATH_MAX];

    path_of(s, i, ".out", path);
    if (compare && strcmp(compare, "status") == 0)
        return RP_OK;
    if (!compare || strcmp(compare, "output") == 0)
        return rp_output_digest(path, &s->end[i].digest, why);
    return rp_output_digest_by(compare, path, &s->end[i].digest, why);
}

static uint64_t count_events(const char *directory)
{
    struct rp_facts facts;
    struct rp_problem ignored;

    if (rp_facts_summary(directory, &facts, &ignored) != RP_OK)
        return 0;
    uint64_t events = facts.sum.events;
    rp_facts_free(&facts);
    return events;
}

static void say_end(const struct stress *s, size_t i)
{
    const struct end *end = &s->end[i];

    printf("run-%zu: seed %llu, ", i + 1, (unsigned long long)end->seed);
    if (end->hung)
        printf("no end within %llu s", (unsigned long long)s->seconds);
    else
        printf("status %d, output %016llx", end->status, (unsigned long long)end->digest);
    printf(", %llu events\n", (unsigned long long)end->events);
}

/* Repeats what run `i` printed, since reprise cannot run the program, or not any more. Returns the
 * exit status. */
static int give_up(const struct stress *s, size_t i)
{
    struct rp_buffer text = {0};
    struct rp_problem ignored;
    char path[PATH_MAX];

    path_of(s, i, ".err", path);
    if (rp_read_file(path, 1 << 20, &text, &ignored) == RP_OK && !text.failed)
        rp_text_print(stderr, text.bytes, text.length);
    rp_buffer_free(&text);
    rp_error("run-%zu ended with status %d, which is one of reprise: no more runs", i + 1,
             s->end[i].status);
    return s->end[i].status;
}

static bool is_recorded(const struct stress *s, size_t i)
{
    struct rp_manifest manifest;
    struct rp_problem ignored;
    char path[PATH_MAX];

    path_of(s, i, "", path);
    if (rp_manifest_read(path, &manifest, &ignored) != RP_OK)
        return false;
    rp_manifest_free(&manifest);
    return true;
}

/* Publishes the progress for `reprise status`. */
static void publish_progress(const struct stress *s, const char *record)
{
    char progress[160], state[PATH_MAX + 8];
    size_t hung = 0, failed = 0;

    for (size_t i = 0; i < s->done; i++) {
        hung += s->end[i].hung;
        failed += !s->end[i].hung && s->end[i].status != 0;
    }
    snprintf(progress, sizeof progress,
             "run %zu of %llu, seed %llu; %zu ended before, %zu of them with another status than "
             "0, %zu did not end in time",
             s->done + 1, (unsigned long long)s->runs, (unsigned long long)s->seed + s->done,
             s->done - hung, failed, hung);
    snprintf(state, sizeof state, "%s.state", record);
    rp_running_publish(progress, record, state);
}

/* Makes one run. Returns false if there are to be no more; sets *exit_status if reprise failed. */
static bool run_one(struct stress *s, int *exit_status)
{
    size_t i = s->done;
    struct end *end = &s->end[i];
    struct rp_problem why;
    char path[PATH_MAX];

    path_of(s, i, "", path);
    end->seed = s->seed + i;
    publish_progress(s, path);
    struct rp_stress_end ended =
        rp_stress_run(&(struct rp_stress_run){s->command, path, mpi, end->seed, s->seconds});
    if (ended.interrupted) {
        forget(s, i);
        rp_buffer_free(&ended.stall);
        return false;
    }
    end->status = ended.status;
    end->hung = ended.hung;
    end->stall = ended.stall;
    end->kept = true;
    s->done++;
    if (!end->hung && (end->status == REPRISE_EXIT_UNSUPPORTED || !is_recorded(s, i))) {
        *exit_status = give_up(s, i);
        return false;
    }
    if (digest(s, i, &why) != RP_OK) {
        rp_error("%s", why.text);
        *exit_status = REPRISE_EXIT_USAGE;
        return false;
    }
    end->events = count_events(path);
    say_end(s, i);
    fflush(stdout);
    classify(s, i);
    if (badness(end) == 0 && s->end[end->first_alike].alike * 2 > s->runs)
        forget_alike(s, end->first_alike);
    return true;
}

/* Returns the shortest form of the path: relative if it is below the working directory. */
static const char *short_path(const char *path)
{
    char *here = getcwd(NULL, 0);
    size_t length = here ? strlen(here) : 0;
    bool below = here && strncmp(path, here, length) == 0 && path[length] == '/';

    free(here);
    return below ? path + length + 1 : path;
}

static size_t usual_run(const struct stress *s)
{
    size_t usual = 0;

    for (size_t i = 0; i < s->done; i++) {
        const struct end *one = &s->end[i], *best = &s->end[usual];
        bool good = badness(one) == 0, best_good = badness(best) == 0;
        if (one->first_alike == i && (good == best_good ? one->alike > best->alike : good))
            usual = i;
    }
    return usual;
}

static bool is_finding(const struct stress *s, size_t i, size_t usual)
{
    return s->end[i].first_alike != usual || badness(&s->end[i]) > 0;
}

/* Returns the number of the finding to show first: a run that failed by itself before one that
 * hung, and that before one with another output; among equals the one with the fewest events.
 * Returns s->done if there is none. */
static size_t best_finding(const struct stress *s, size_t usual)
{
    size_t best = s->done;

    for (size_t i = 0; i < s->done; i++) {
        if (!s->end[i].kept || !is_finding(s, i, usual))
            continue;
        int more = best == s->done ? 1 : badness(&s->end[i]) - badness(&s->end[best]);
        if (more > 0 || (more == 0 && s->end[i].events < s->end[best].events))
            best = i;
    }
    return best;
}

static void say_line(const char *line)
{
    printf("  ");
    rp_text_print(stdout, line, strcspn(line, "\n"));
    printf("\n");
}

static void say_finding(const struct stress *s, size_t i, size_t usual)
{
    const struct end *end = &s->end[i];
    int last = 0;

    printf("  run-%zu, seed %llu: ", i + 1, (unsigned long long)end->seed);
    if (end->hung)
        printf("no end within %llu s\n", (unsigned long long)s->seconds);
    else if (end->status != s->end[usual].status || s->end[usual].hung)
        printf("status %d\n", end->status);
    else if (i != usual && end->first_alike != usual)
        printf("another output\n");
    else
        printf("status %d, like most\n", end->status);
    for (const char *at = (const char *)end->stall.bytes; at && last < (int)end->stall.length;
         last++)
        if (last == 0 || at[last - 1] == '\n')
            say_line(at + last);
}

static void say_findings(const struct stress *s, size_t usual)
{
    enum { LINES = 20 };
    size_t lines = 0, more = 0;

    for (size_t i = 0; i < s->done; i++) {
        if (!s->end[i].kept || !is_finding(s, i, usual))
            continue;
        if (lines++ < LINES)
            say_finding(s, i, usual);
        else
            more++;
    }
    if (more > 0)
        printf("  and %zu more\n", more);
}

static void say_commands(const struct stress *s, size_t best, size_t usual)
{
    char path[PATH_MAX], other[PATH_MAX];

    path_of(s, best, "", path);
    path_of(s, usual, "", other);
    rp_run_set_latest(path);
    printf("the shortest replay:      reprise replay %s\n", rp_text_shown(short_path(path)));
    if (best != usual)
        printf("where it parts:           reprise diff %s %s\n", rp_text_shown(short_path(other)),
               rp_text_shown(short_path(path)));
    printf("the same delays again:    reprise stress --runs 1 --seed %llu ...\n",
           (unsigned long long)s->end[best].seed);
}

static void say_counts(const struct stress *s, size_t usual)
{
    size_t ended = 0, alike = s->end[usual].hung ? 0 : s->end[usual].alike;

    for (size_t i = 0; i < s->done; i++)
        ended += !s->end[i].hung;
    printf("%zu runs: ", s->done);
    if (ended < s->done)
        printf("%zu ended, %zu did not end within %llu s", ended, s->done - ended,
               (unsigned long long)s->seconds);
    else
        printf("all ended");
    if (ended > 0)
        printf("; %s%zu alike, %zu differ", ended < s->done ? "of those that ended, " : "", alike,
               ended - alike);
    printf("; records in %s\n", rp_text_shown(short_path(s->directory)));
}

static int summarise(struct stress *s)
{
    size_t usual = usual_run(s);
    char path[PATH_MAX];

    if (s->done == 0)
        return 0;
    forget_alike(s, usual);
    say_counts(s, usual);
    say_findings(s, usual);
    size_t best = best_finding(s, usual);
    if (best < s->done) {
        say_commands(s, best, usual);
        return 1;
    }
    path_of(s, usual, "", path);
    rp_run_set_latest(path);
    return 0;
}

static int run_all(struct stress *s)
{
    int exit_status = 0;

    s->end = calloc(s->runs, sizeof *s->end);
    if (!s->end) {
        rp_error("out of memory");
        return REPRISE_EXIT_INTERNAL;
    }
    rp_note("%llu runs from seed %llu on, records in %s", (unsigned long long)s->runs,
            (unsigned long long)s->seed, short_path(s->directory));
    rp_running_begin("stress", s->command, s->directory);
    while (s->done < s->runs && run_one(s, &exit_status))
        ;
    rp_running_end();
    if (exit_status == 0)
        exit_status = summarise(s);
    for (size_t i = 0; i < s->done; i++)
        rp_buffer_free(&s->end[i].stall);
    free(s->end);
    return exit_status;
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct stress s = {0};
    struct rp_problem why;
    int first = rp_options_parse(command, argc, argv);

    if (first < 0)
        return REPRISE_EXIT_USAGE;
    if (first == argc)
        return rp_usage_error(command, "what is to be run? A launcher and a program");
    if (rp_launch_is_inside())
        return rp_usage_error(
            command, "it starts the launcher itself, many times: 'reprise stress mpirun ... %s'",
            argv[first]);
    s.command = argv + first;
    enum rp_status status = apply_options(&s, &why);
    if (status == RP_OK)
        status = make_directory(&s, &why);
    if (status != RP_OK) {
        rp_error("cannot stress: %s", why.text);
        return rp_exit_status(status);
    }
    int exit_status = run_all(&s);
    rmdir(s.directory); /* if nothing is in it */
    free(s.directory);
    return exit_status;
}

const struct rp_command rp_command_stress = {
    .name = "stress",
    .synopsis = "[options] COMMAND [ARGUMENT...]",
    .about =
        "run a program many times with delayed messages, and keep the records of runs that differ",
    .more = "COMMAND is a launcher with its options and the program:\n\n"
            "  reprise stress --runs 200 mpirun -n 4 ./app\n\n"
            "It delays sends, holds back messages that have arrived, and lets wildcard receives "
            "take other messages. MPI allows all of that.\n"
            "The exit status is 0 if all runs ended with status 0 and alike, and 1 if not.",
    .options = options,
    .run = run,
};
