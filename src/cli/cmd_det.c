/* SPDX-License-Identifier: MIT */
/* reprise det: runs a command with libreprise-det.so in front of its MPI: every run is the same. */
#include <stdlib.h>
#include <string.h>

#include "base/costs.h"
#include "base/file.h"
#include "base/message.h"
#include "base/settings.h"
#include "cli/launch.h"
#include "cli/options.h"
#include "reprise.h"

static const char *mpi, *latency, *threshold, *buffer, *reductions, *check, *record, *output, *costs;

static const struct rp_option options[] = {
    {"--check", NULL, NULL, "tell a digest of all matches and answers at the end, by which runs can be compared", &check},
    {"--record", NULL, NULL, "record the run, too", &record},
    {"--output", "-o", "DIR", "with --record: the directory of the record", &output},
    {"--reductions", NULL, "HOW", "fixed: reductions add up in the order of ranks, whatever the MPI does (default: native)", &reductions},
    {"--latency", NULL, "TIME", "logical time after which a message can be seen; an MPI call takes 1000 (default 10000)", &latency},
    {"--costs", NULL, "FILE", "logical time that system calls take, as 'reprise calibrate' measures it (default: the same everywhere)", &costs},
    {"--threshold", NULL, "BYTES", "sends of more wait for their receiver (default 65536)", &threshold},
    {"--buffer", NULL, "BYTES", "room for copies of messages that were sent and not received yet, for each rank (default 16777216)", &buffer},
    {"--mpi", NULL, "MPI", "openmpi or mpich, where it cannot be seen from the program", &mpi},
    {NULL, NULL, NULL, NULL, NULL},
};

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
}

static enum rp_status apply_options(struct rp_problem *why)
{
    long ignored;

    set("REPRISE_CHECK", check);
    set("REPRISE_LATENCY", latency);
    set("REPRISE_THRESHOLD", threshold);
    set("REPRISE_BUFFER", buffer);
    set("REPRISE_REDUCTIONS", reductions);
    set("REPRISE_DET", "1");
    const char *file = costs ? costs : rp_setting("REPRISE_COSTS");
    if (file) {
        struct rp_costs found;
        char *path = rp_path_absolute(file);
        set("REPRISE_COSTS", path);
        free(path);
        enum rp_status readable = rp_costs_read(file, &found, why);
        if (readable != RP_OK)
            return readable;
    }
    const char *how = rp_setting("REPRISE_REDUCTIONS");
    if (how && strcmp(how, "fixed") != 0 && strcmp(how, "native") != 0)
        return rp_fail(why, RP_USAGE, "--reductions %s: fixed or native is expected", how);
    enum rp_status status = rp_setting_number("REPRISE_LATENCY", 1, 1, &ignored, why);
    if (status == RP_OK)
        status = rp_setting_number("REPRISE_THRESHOLD", 0, 0, &ignored, why);
    if (status == RP_OK)
        status = rp_setting_number("REPRISE_BUFFER", 0, 0, &ignored, why);
    return status;
}

/* What the command `record` does, with the other library behind its own. */
static int run_recorded(char **words)
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

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct rp_problem why;
    int first = rp_options_parse(command, argc, argv);

    if (first < 0)
        return REPRISE_EXIT_USAGE;
    if (first == argc)
        return rp_usage_error(command, "what is to be run? A program, or a launcher and a program");
    if (output && !record)
        return rp_usage_error(command, "-o is for records: --record makes one");
    char **words = argv + first;
    enum rp_status status = apply_options(&why);
    if (status == RP_OK && record)
        return run_recorded(words);
    if (status == RP_OK)
        status = rp_launch_preload(mpi ? mpi : rp_setting("REPRISE_MPI"), NULL, words, &why);
    if (status != RP_OK) {
        rp_error("cannot run: %s", why.text);
        return rp_exit_status(status);
    }
    return rp_launch_is_inside() ? rp_launch_become(words) : rp_launch_run(words, NULL, NULL);
}

const struct rp_command rp_command_det = {
    .name = "det",
    .synopsis = "[options] COMMAND [ARGUMENT...]",
    .about = "run a program so that every run is the same, without a record",
    .more = "COMMAND is as in 'reprise record'. Messages, the answers of tests and probes, and so the results are the same in every run, on Open MPI and MPICH.\n"
            "Programs compiled by reprise-cc lose less time by it. The exit status is the application's; 124: its ranks wait for each other.",
    .options = options,
    .run = run,
};
