/* SPDX-License-Identifier: MIT */
/* reprise record: runs a command with libreprise.so in front of its MPI, and says what was
 * recorded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/job_names.h"
#include "job/settings.h"
#include "cli/launch.h"
#include "cli/options.h"
#include "cli/progressline.h"
#include "cli/tasksrun.h"
#include "cli/recorded_env.h"
#include "codec/codec.h"
#include "cdc/codec/row_codec.h"
#include "event/describe.h"
#include "log/progress.h"
#include "log/refusal.h"
#include "log/rundir.h"
#include "report/facts.h"
#include "reprise.h"

static const char *output, *mpi, *allow, *capture, *codec, *encoder, *timestamps, *clocks, *ranks,
    *tasks, *threads;
static const char *no_environment;

static const struct rp_option options[] = {
    {"--output", "-o", "DIR", "the directory of the record; it must not exist yet, or be empty",
     &output},
    {"--mpi", NULL, "MPI", "openmpi, mpich or abi, where it cannot be seen from the program", &mpi},
    {"--allow", NULL, "F[,F]", "let these refused MPI functions through, unrecorded", &allow},
    {"--capture", NULL, "V[,V]", "also record values from outside: time, random, pid, host or all",
     &capture},
    {"--threads", NULL, NULL,
     "also follow threads that never call MPI: record their locks and how they share work",
     &threads},
    {"--codec", NULL, "CODEC",
     "codec of the record: mix (smallest), tables (fastest), auto (default: mix while that costs "
     "next to nothing, else tables), or, with clocks in all messages, cdc, gzip or raw",
     &codec},
    {"--encoder", NULL, "MODE",
     "on (default): a thread encodes the events; off: the program's own thread does when the ring "
     "is full",
     &encoder},
    {"--timestamps", NULL, NULL, "also record the time of every event", &timestamps},
    {"--clocks", NULL, NULL,
     "piggyback Lamport clocks on all messages and record them: they tell what caused what",
     &clocks},
    {"--ranks", NULL, "R[,R]",
     "also record the data of these ranks, such as 3,7-9 or all, for partial replay (reprise "
     "solo); none: no data, even of a program that makes windows",
     &ranks},
    {"--no-environment", NULL, NULL,
     "leave environment variables out of the record: a replay uses those that it is started with",
     &no_environment},
    {"--tasks", NULL, NULL,
     "the program is one of tasks (reprise_tasks.h): it records only the order that its "
     "annotations leave open",
     &tasks},
    RP_OPTION_WRAPPERS,
    {NULL, NULL, NULL, NULL, NULL},
};

static void apply_options(void)
{
    if (output)
        setenv("REPRISE_OUTPUT", output, 1);
    if (allow)
        setenv("REPRISE_ALLOW", allow, 1);
    if (capture)
        setenv("REPRISE_CAPTURE", capture, 1);
    if (threads)
        setenv("REPRISE_THREADS", "1", 1);
    if (codec)
        setenv("REPRISE_CODEC", codec, 1);
    if (encoder)
        setenv("REPRISE_ENCODER", encoder, 1);
    if (timestamps)
        setenv("REPRISE_TIMESTAMPS", "1", 1);
    if (ranks)
        setenv("REPRISE_RANKS", ranks, 1);
    if (rp_setting("REPRISE_RANKS") && strcmp(rp_setting("REPRISE_RANKS"), "none") == 0)
        setenv("REPRISE_RANKS", "", 1); /* set to nothing: windows do not ask for data either */
    if (clocks)
        setenv("REPRISE_CLOCKS", "1", 1);
    if (no_environment)
        setenv("REPRISE_NO_ENVIRONMENT", "1", 1);
    if (!mpi)
        mpi = rp_setting("REPRISE_MPI");
    setenv("REPRISE_MODE", "record", 1);
}

static enum rp_status check_manner(struct rp_problem *why)
{
    const char *named = rp_setting("REPRISE_CODEC"), *thread = rp_setting("REPRISE_ENCODER");

    if (named && strcmp(named, "auto") != 0 && !rp_codec_by_name(named) &&
        !rp_row_codec_by_name(named))
        return rp_fail(why, RP_USAGE, "--codec %s: auto, mix, tables, cdc, gzip or raw is expected",
                       named);
    if (thread && strcmp(thread, "on") != 0 && strcmp(thread, "off") != 0)
        return rp_fail(why, RP_USAGE, "--encoder %s: on or off is expected", thread);
    if (rp_setting("REPRISE_RANKS") && !rp_ranks_are_good(rp_setting("REPRISE_RANKS")))
        return rp_fail(why, RP_USAGE,
                       "--ranks %s: ranks are expected, such as 3,7-9, or all, or none",
                       rp_setting("REPRISE_RANKS"));
    if (rp_setting("REPRISE_RANKS") &&
        (rp_setting("REPRISE_CLOCKS") || (named && rp_row_codec_by_name(named))))
        return rp_fail(why, RP_USAGE,
                       "--ranks: the data of ranks cannot be recorded while messages carry clocks");
    if (rp_setting("REPRISE_THREADS") &&
        (rp_setting("REPRISE_CLOCKS") || (named && rp_row_codec_by_name(named))))
        return rp_fail(why, RP_USAGE,
                       "--threads: threads cannot be followed while messages carry clocks");
    if (named && rp_row_codec_by_name(named) && rp_setting("REPRISE_TIMESTAMPS"))
        return rp_fail(why, RP_USAGE,
                       "--timestamps: %s stores no events, and so no times; mix and tables do",
                       named);
    return RP_OK;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static enum rp_status reserve_directory(char **command, char **directory, struct rp_problem *why)
{
    const char *wanted = rp_setting("REPRISE_OUTPUT");
    enum rp_status status = RP_OK;

    if (wanted)
        status = rp_run_reserve(wanted, directory, why);
    else
        status = rp_run_new(base_name(rp_launch_program(command)), directory, why);
    if (status != RP_OK)
        return status;
    setenv("REPRISE_RUN", *directory, 1);
    setenv("REPRISE_PARENT", "1", 1);
    return RP_OK;
}

/* `said`: lines so far. */
static void say_unfinished_of(const struct rp_facts *facts, uint32_t *said)
{
    enum { LINES = 8 };
    char name[RP_PROCESS_NAME];

    for (uint32_t i = 0; i < facts->manifest.ranks && *said < LINES; i++) {
        const struct rp_rank_facts *r = &facts->rank[i];
        struct rp_buffer end = {0};
        if (r->reason == RP_END_FINALIZE)
            continue;
        rp_facts_put_end(&end, r->reason, r->code);
        rp_buffer_byte(&end, 0);
        if (!end.failed)
            rp_note("  rank %s: %llu events, then it %s",
                    rp_process_name(facts->manifest.job, i, name), (unsigned long long)r->events,
                    (char *)end.bytes);
        rp_buffer_free(&end);
        ++*said;
    }
}

static void say_unfinished(const struct rp_facts *facts)
{
    uint32_t said = 0;

    say_unfinished_of(facts, &said);
    for (size_t i = 0; i < facts->jobs; i++)
        say_unfinished_of(&facts->job[i], &said);
}

/* Prints which ranks of --ranks the job does not have. Else a mistyped number would go unnoticed
 * until the data is needed. */
static void say_no_such_ranks(uint32_t count)
{
    char *beyond = rp_ranks_beyond(rp_setting("REPRISE_RANKS"), count);

    if (beyond)
        rp_note("--ranks %s: the job has ranks 0 to %u, and no %s", rp_setting("REPRISE_RANKS"),
                count - 1, beyond);
    free(beyond);
}

/* Reads the summary of the record. Waits up to 10 s for ranks that outlive the launcher. */
static enum rp_status collect(const char *directory, struct rp_facts *facts, struct rp_problem *why)
{
    enum { TRIES = 100 };
    enum rp_status status = rp_facts_summary(directory, facts, why);

    for (int i = 0; status == RP_BUSY && i < TRIES; i++) {
        usleep(100000);
        status = rp_facts_summary(directory, facts, why);
    }
    return status;
}

static bool is_record(const char *directory)
{
    struct rp_manifest manifest;
    struct rp_problem ignored;

    if (rp_manifest_read(directory, &manifest, &ignored) == RP_USAGE)
        return false;
    rp_manifest_free(&manifest);
    return true;
}

/* Launchers may end with another status than the rank that ended the job, or crash. */
static int status_of(const char *directory, int status)
{
    struct rp_refusal refusal;

    return status != 0 && rp_refusal_read(directory, &refusal) ? REPRISE_EXIT_UNSUPPORTED : status;
}

static int summarise(const char *directory, char **command, int status)
{
    struct rp_facts facts;
    struct rp_problem why;
    struct rp_buffer line = {0};

    if (!is_record(directory)) {
        rmdir(directory);
        return rp_launch_say_untouched("recorded", command, status);
    }
    status = status_of(directory, status);
    enum rp_status collected = collect(directory, &facts, &why);
    if (collected == RP_BUSY) {
        rp_error("the launcher has ended, but %s", why.text);
        return status ? status : REPRISE_EXIT_DAMAGED;
    }
    if (collected != RP_OK) {
        rp_error("the record is damaged: %s", why.text);
        return status ? status : REPRISE_EXIT_DAMAGED;
    }
    rp_facts_put_summary(&line, &facts);
    rp_buffer_byte(&line, 0);
    if (!line.failed)
        rp_note("%s", (char *)line.bytes);
    if (facts.sum.events == 0 && facts.sum.data == 0 && facts.unfinished == 0)
        rp_note(RP_NOTHING_OPEN);
    say_unfinished(&facts);
    say_no_such_ranks(facts.manifest.ranks);
    if (status == 0 && facts.stopped > 0)
        status = REPRISE_EXIT_DAMAGED;
    if (status == 0 && facts.unfinished > 0 &&
        rp_launch_was_stopped()) /* after SIGTERM, Hydra calls that success now and then */
        status = 128 + rp_launch_was_stopped();
    rp_buffer_free(&line);
    rp_facts_free(&facts);
    return status;
}

static void show_progress(void *data)
{
    struct rp_manifest manifest;
    struct rp_progress p;
    struct rp_problem ignored;
    char text[200];

    if (!rp_progress_line_due() || rp_manifest_read(data, &manifest, &ignored) != RP_OK)
        return;
    if (rp_progress_read(data, &manifest, &p, &ignored) == RP_OK) {
        snprintf(text, sizeof text,
                 "reprise: %llu events on %u ranks, %llu bytes; fewest on rank %s: %llu",
                 (unsigned long long)p.events, p.ranks, (unsigned long long)p.bytes,
                 p.ranks ? p.rank[p.behind].name : "",
                 (unsigned long long)(p.ranks ? p.rank[p.behind].events : 0));
        rp_progress_line_show(text);
        rp_progress_free(&p);
    }
    rp_manifest_free(&manifest);
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct rp_problem why;
    char *directory = NULL;
    int first = rp_options_parse(command, argc, argv);
    bool inside = rp_launch_is_inside();

    if (first < 0)
        return REPRISE_EXIT_USAGE;
    if (first == argc)
        return rp_usage_error(command,
                              "what is to be recorded? A program, or a launcher and a program");
    char **words = argv + first;
    apply_options();
    enum rp_status status = rp_settings_check_capture(&why);
    if (status == RP_OK)
        status = check_manner(&why);
    if (tasks && inside)
        status = rp_fail(&why, RP_USAGE,
                         "--tasks: start the launcher by reprise, as in 'reprise record --tasks "
                         "mpirun -n 4 ./app'");
    if (status == RP_OK && !tasks)
        status = rp_launch_preload(mpi, NULL, words, &why);
    if (status == RP_OK)
        status = rp_launch_note_command(words, inside, &why);
    if (!inside) {
        rp_launch_note_place();
        rp_recorded_env_note();
    }
    if (status == RP_OK && !inside)
        status = reserve_directory(words, &directory, &why);
    if (status != RP_OK) {
        rp_error("cannot record: %s", why.text);
        return rp_exit_status(status);
    }
    if (inside)
        return rp_launch_become(words);
    if (tasks) {
        int recorded = rp_tasks_record(words, directory);
        free(directory);
        return recorded;
    }
    int exit_status =
        rp_launch_run(words, rp_progress_line_wanted() ? show_progress : NULL, directory);
    rp_progress_line_clear();
    exit_status = summarise(directory, words, exit_status);
    free(directory);
    return exit_status;
}

const struct rp_command rp_command_record = {
    .name = "record",
    .synopsis = "[options] COMMAND [ARGUMENT...]",
    .about = "run a program and record what MPI left open",
    .more = "COMMAND is a launcher with its options and the program. Started by a launcher, it is "
            "the program:\n\n"
            "  reprise record mpirun -n 4 ./app\n"
            "  mpirun -n 4 reprise record ./app\n\n"
            "The exit status is the application's. The record goes to .reprise/NAME-N, and "
            ".reprise/latest points there.",
    .options = options,
    .run = run,
};
