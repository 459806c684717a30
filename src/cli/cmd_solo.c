/* SPDX-License-Identifier: MIT */
/* reprise solo: runs ranks of a record alone, each as one process without a launcher. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "cli/options.h"
#include "cli/solorun.h"
#include "cli/print_writers.h"
#include "log/jobs.h"
#include "log/rundir.h"
#include "reprise.h"

static const char *ranks, *where, *mpi, *force, *until, *break_at, *who, *json;

static const struct rp_option options[] = {
    {"--rank", "-r", "R[,R]",
     "the ranks to run, such as 3 or 3,7-9, or one child, such as 0.1.2; the record must have "
     "their data (reprise record "
     "--ranks)",
     &ranks},
    {"--directory", NULL, "DIR", "run in this directory, not in the recorded one", &where},
    {"--until", NULL, "EVENT",
     "start gdb and run until so many events are replayed (reprise dump numbers them)", &until},
    {"--break", NULL, "PLACE",
     "start gdb and run to this place, named as in gdb: app.c:120, or a function", &break_at},
    {"--who", NULL, NULL,
     "at the end, print which rank wrote what each one-sided read got (reprise dump --who prints "
     "it again)",
     &who},
    {"--json", NULL, NULL, "with --who: print JSON, one object a line", &json},
    {"--mpi", NULL, "MPI", "openmpi, mpich or abi, where it cannot be seen from the program", &mpi},
    {"--force", NULL, NULL, "run although the program is another build", &force},
    {NULL, NULL, NULL, NULL, NULL},
};

static bool is_own(int status)
{
    return status >= REPRISE_EXIT_USAGE && status <= REPRISE_EXIT_INTERNAL;
}

/* Of a child, such as 0.1.2: leaves its rank in `ranks`, and returns the name of its job. */
static const char *job_of(const char *process, char job[RP_JOB_NAME])
{
    const char *dot = strrchr(process, '.');

    snprintf(job, RP_JOB_NAME, "%.*s", (int)(dot - process), process);
    if (rp_job_is_name(job))
        ranks = dot + 1;
    return rp_job_is_name(job) ? job : "";
}

/* To the directory of the job. */
static enum rp_status enter_job(char **directory, const char *job, struct rp_problem *why)
{
    char *own = rp_job_directory(*directory, job);
    enum rp_status status = RP_OK;

    if (!own || access(own, F_OK) != 0)
        status = rp_fail(why, RP_USAGE, "%s has no spawned job %s: 'reprise info' lists them",
                         *directory, job);
    free(*directory);
    *directory = own;
    return status;
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct rp_manifest manifest;
    struct rp_problem why;
    char *directory;
    int first = rp_options_parse(command, argc, argv);
    const char *name = NULL, *job = "";
    char job_name[RP_JOB_NAME];

    if (first < 0)
        return REPRISE_EXIT_USAGE;
    bool separated = first > 0 && strcmp(argv[first - 1], "--") == 0;
    if (!separated && first < argc) {
        name = argv[first];
        int more = rp_options_parse(command, argc - first - 1, argv + first + 1);
        if (more < 0)
            return REPRISE_EXIT_USAGE;
        first += 1 + more;
    }
    if (ranks && strchr(ranks, '.'))
        job = job_of(ranks, job_name);
    if (!ranks || !rp_ranks_are_good(ranks))
        return rp_usage_error(command, "which rank? -r 3, or several: -r 3,7-9");
    if (until && (*until == 0 || until[strspn(until, "0123456789")]))
        return rp_usage_error(command, "--until %s: a number of events is expected", until);
    if (json && !who)
        return rp_usage_error(command, "--json: only with --who");
    if (until && break_at)
        return rp_usage_error(command, "--until and --break: one of them is expected");
    enum rp_status status = rp_run_find(name ? name : rp_setting("REPRISE_RUN"), &directory, &why);
    if (status == RP_OK)
        status = enter_job(&directory, job, &why);
    if (status == RP_OK)
        status = rp_manifest_read(directory, &manifest, &why);
    if (status != RP_OK) {
        rp_error("cannot replay: %s", why.text);
        return rp_exit_status(status);
    }
    struct rp_solo solo = {.directory = directory,
                           .manifest = &manifest,
                           .ranks = ranks,
                           .command = first < argc ? argv + first : NULL,
                           .where = where,
                           .mpi = mpi,
                           .until = until,
                           .break_at = break_at,
                           .force = force != NULL,
                           .who = who != NULL};
    int exit_status = rp_solo_run(&solo);
    if (who && !is_own(exit_status)) {
        status = rp_print_writers(directory, &manifest, ranks, json != NULL, &why);
        if (status != RP_OK) {
            rp_error("%s", why.text);
            exit_status = rp_exit_status(status);
        }
    }
    rp_manifest_free(&manifest);
    free(directory);
    return exit_status;
}

const struct rp_command rp_command_solo = {
    .name = "solo",
    .synopsis = "-r RANK [options] [RUN] [-- COMMAND [ARGUMENT...]]",
    .about = "run one rank of a record, or a few, without the other ranks and without a launcher",
    .more =
        "RUN is a directory, a name in .reprise, or 'latest', which is the default. It must have "
        "been recorded with --ranks. Without COMMAND, the rank runs its recorded command:\n\n"
        "  reprise record --ranks 3 mpirun -n 64 ./app in.dat\n"
        "  reprise solo -r 3\n"
        "  reprise solo -r 3 -- gdb --args ./app in.dat\n\n"
        "Ends with 'rank N replayed alone: M events ...: identical', or with the first difference "
        "and exit status 121.",
    .options = options,
    .run = run,
};
