/* SPDX-License-Identifier: MIT */
/* reprise det: runs a command with libreprise-det.so in front of its MPI: every run is the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/syscall_costs.h"
#include "log/det_digest.h"
#include "base/file.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "cli/launch.h"
#include "cli/options.h"
#include "cli/running.h"
#include "log/rundir.h"
#include "reprise.h"

static const char *mpi, *latency, *threshold, *buffer, *reductions, *check, *record, *output,
    *costs, *children;

static const struct rp_option options[] = {
    {"--check", NULL, NULL,
     "print a digest of all matches and answers at the end, to compare runs by", &check},
    {"--record", NULL, NULL, "record the run, too", &record},
    {"--output", "-o", "DIR",
     "with --record: the directory of the record; with --check alone: a directory for the digests "
     "of the ranks, for 'reprise diff'",
     &output},
    {"--reductions", NULL, "HOW",
     "fixed: reductions add up in the order of ranks; native (default): as the MPI library does",
     &reductions},
    {"--latency", NULL, "TIME",
     "logical time from a send until tests can see the message; an MPI call takes 1000 (default "
     "3000)",
     &latency},
    {"--costs", NULL, "FILE",
     "a file of 'reprise calibrate': the logical time that system calls take (default: a table "
     "that is the same everywhere)",
     &costs},
    {"--threshold", NULL, "BYTES",
     "longer sends wait for their receiver; k, M and G are units (default 64k)", &threshold},
    {"--buffer", NULL, "BYTES",
     "memory of each rank for messages that are sent and not yet received; k, M and G are units "
     "(default 16M)",
     &buffer},
    {"--children", NULL, "N", "room for N processes that the program spawns (default 64)",
     &children},
    {"--mpi", NULL, "MPI", "openmpi, mpich or abi, where it cannot be seen from the program", &mpi},
    RP_OPTION_WRAPPERS,
    {NULL, NULL, NULL, NULL, NULL},
};

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
}

/* Names what was set by an option as that option. */
static enum rp_status check_bytes(const char *option, const char *text, const char *setting,
                                  struct rp_problem *why)
{
    long ignored;

    if (text && !rp_bytes_read(text, &ignored))
        return rp_fail(why, RP_USAGE,
                       "%s %s: a number of bytes is expected, such as 65536, 64k or 16M", option,
                       text);
    return rp_setting_bytes(setting, 0, &ignored, why);
}

static enum rp_status check_latency(struct rp_problem *why)
{
    long ignored;
    enum rp_status status = rp_setting_number("REPRISE_LATENCY", 1, 1, &ignored, why);

    if (status != RP_OK && latency)
        return rp_fail(why, status, "--latency %s: a whole number of at least 1 is expected",
                       latency);
    return status;
}

static enum rp_status check_children(struct rp_problem *why)
{
    long ignored;
    enum rp_status status = rp_setting_number("REPRISE_CHILDREN", 0, 0, &ignored, why);

    if (status != RP_OK && children)
        return rp_fail(why, RP_USAGE, "--children %s: a whole number is expected", children);
    return status;
}

static enum rp_status check_costs(struct rp_problem *why)
{
    const char *file = costs ? costs : rp_setting("REPRISE_COSTS");
    struct rp_syscall_costs found;

    if (!file)
        return RP_OK;
    char *path = rp_path_absolute(file);
    set("REPRISE_COSTS", path);
    free(path);
    return rp_syscall_costs_read(file, &found, why);
}

static enum rp_status apply_options(struct rp_problem *why)
{
    set("REPRISE_CHECK", check);
    set("REPRISE_LATENCY", latency);
    set("REPRISE_CHILDREN", children);
    set("REPRISE_THRESHOLD", threshold);
    set("REPRISE_BUFFER", buffer);
    set("REPRISE_REDUCTIONS", reductions);
    set("REPRISE_DET", "1");
    const char *how = rp_setting("REPRISE_REDUCTIONS");
    if (how && strcmp(how, "fixed") != 0 && strcmp(how, "native") != 0)
        return rp_fail(why, RP_USAGE, "--reductions %s: fixed or native is expected", how);
    enum rp_status status = check_costs(why);
    if (status == RP_OK)
        status = check_latency(why);
    if (status == RP_OK)
        status = check_children(why);
    if (status == RP_OK)
        status = check_bytes("--threshold", threshold, "REPRISE_THRESHOLD", why);
    if (status == RP_OK)
        status = check_bytes("--buffer", buffer, "REPRISE_BUFFER", why);
    return status;
}

/*
 * The ranks write their decisions to a file, even if nobody asked for it. Its first line shows that
 * reprise's library was in the program at all; without it, the program would run as ever, without a
 * warning. The file is in the directory of records, since a launcher may start all its ranks on
 * other hosts. If it cannot be written, there is no such warning. If the ranks ended the job for an
 * error of the program, the file also has the exit status.
 */
struct witness {
    char *directory; /* that we made */
    char *path;
};

static enum rp_status keep_witness(struct witness *witness, struct rp_problem *why)
{
    enum rp_status status = rp_run_new_at(output, &witness->directory, why);

    if (status != RP_OK)
        return status;
    witness->path = rp_path_join(witness->directory, RP_DECISIONS_NAME);
    return witness->path ? rp_write_new_file(witness->path, "", 0, why)
                         : rp_fail(why, RP_MEMORY, "out of memory");
}

static void make_witness(struct witness *witness)
{
    const char *base = rp_setting("REPRISE_DIR");
    char *directory = rp_path_absolute(base ? base : ".reprise");

    if (directory && mkdir(directory, RP_PRIVATE_DIRECTORY) == 0)
        witness->directory = directory;
    if (asprintf(&witness->path, "%s/det-XXXXXX", directory ? directory : ".") < 0)
        witness->path = NULL;
    int fd = witness->path ? mkstemp(witness->path) : -1;
    if (fd >= 0) {
        close(fd);
    } else {
        free(witness->path);
        witness->path = NULL;
    }
    if (!witness->directory)
        free(directory);
}

static bool was_deterministic(const struct witness *witness)
{
    struct stat about;

    return !witness->path || stat(witness->path, &about) != 0 || about.st_size > 0;
}

/*
 * Returns the exit status: that by which the ranks themselves ended the job, if they did, else
 * `status`, the launcher's, which may be made of the statuses of several ranks. Removes the file
 * unless `keeps`.
 */
static int close_witness(struct witness *witness, bool keeps, int status)
{
    int ended = witness->path ? rp_det_digest_ended(witness->path) : 0;

    if (witness->path && !keeps)
        unlink(witness->path);
    if (witness->directory && !keeps)
        rmdir(witness->directory);
    free(witness->path);
    free(witness->directory);
    return ended ? ended : status;
}

static int summarise(struct witness *witness, char **words, int status)
{
    bool is_entered = was_deterministic(witness);

    status = close_witness(witness, output && is_entered, status);
    return is_entered ? status : rp_launch_say_untouched("made deterministic", words, status);
}

static int run_watched(char **words)
{
    struct witness witness = {NULL, NULL};
    struct rp_problem why;
    enum rp_status status = output ? keep_witness(&witness, &why) : RP_OK;

    if (status != RP_OK) {
        rp_error("cannot run: %s", why.text);
        return rp_exit_status(status);
    }
    if (!output)
        make_witness(&witness);
    set("REPRISE_DECISIONS", witness.path);
    rp_running_begin("det", words, output);
    set("REPRISE_STATE", rp_running_state());
    int exit_status = rp_launch_run(words, NULL, NULL);
    rp_running_end();
    return summarise(&witness, words, exit_status);
}

/* Runs the command `record`, with the library of deterministic runs preloaded behind its own. */
static int record_too(char **words)
{
    char *arguments[64];
    int count = 0, given = 0;

    while (words[given])
        given++;
    char **all = calloc((size_t)given + 8, sizeof *all);
    if (!all)
        return REPRISE_EXIT_INTERNAL;
    if (output) {
        arguments[count++] = "-o";
        arguments[count++] = (char *)output;
    }
    if (mpi) {
        arguments[count++] = "--mpi";
        arguments[count++] = (char *)mpi;
    }
    arguments[count++] = "--";
    memcpy(all, arguments, (size_t)count * sizeof *all);
    memcpy(all + count, words, (size_t)given * sizeof *all);
    int status = rp_command_record.run(&rp_command_record, count + given, all);
    free(all);
    return status;
}

static int run_recorded(char **words, bool inside)
{
    struct witness witness = {NULL, NULL};

    if (inside)
        return record_too(words);
    make_witness(&witness);
    set("REPRISE_DECISIONS", witness.path);
    return close_witness(&witness, false, record_too(words));
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct rp_problem why;
    int first = rp_options_parse(command, argc, argv);
    bool inside = rp_launch_is_inside();

    if (first < 0)
        return REPRISE_EXIT_USAGE;
    if (first == argc)
        return rp_usage_error(command, "what is to be run? A program, or a launcher and a program");
    if (output && !record && !check)
        return rp_usage_error(command,
                              "-o keeps the results of --check or --record: give one of them, too");
    if (output && !record && inside)
        return rp_usage_error(command, "-o keeps digests only where reprise starts the launcher, "
                                       "as in 'reprise det --check -o DIR mpirun -n 4 ./app'");
    char **words = argv + first;
    enum rp_status status = apply_options(&why);
    if (status == RP_OK && record)
        return run_recorded(words, inside);
    if (status == RP_OK)
        status = rp_launch_preload(mpi ? mpi : rp_setting("REPRISE_MPI"), NULL, words, &why);
    if (status != RP_OK) {
        rp_error("cannot run: %s", why.text);
        return rp_exit_status(status);
    }
    return inside ? rp_launch_become(words) : run_watched(words);
}

const struct rp_command rp_command_det = {
    .name = "det",
    .synopsis = "[options] COMMAND [ARGUMENT...]",
    .about = "run a program deterministically: every run is the same, and nothing is recorded",
    .more =
        "COMMAND is as in 'reprise record'. Every run matches the same messages and gets the same "
        "answers from tests and probes, on Open MPI and MPICH. So the results are the same, too.\n"
        "Programs compiled by reprise-cc wait less. The exit status is the application's;\n"
        "118: reprise found an error of the program; 119: its ranks are deadlocked.",
    .options = options,
    .run = run,
};
