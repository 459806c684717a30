/* SPDX-License-Identifier: MIT */
/*
 * reprise ft: runs a command with libreprise-ft.so in front of an MPI with ULFM, and more processes
 * than ranks: the spares. The launcher is that MPI's own, whichever mpirun was named.
 */
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "cli/ft_launch.h"
#include "cli/stdin_feed.h"
#include "cli/jobentry.h"
#include "cli/jobwatch.h"
#include "cli/launch.h"
#include "cli/options.h"
#include "cli/running.h"
#include "reprise.h"

static const char *spares_text, *interval, *capacity, *span, *kill_list, *kill_random, *output,
    *files, *keep, *restart, *mtbf, *check, *compress, *respawn, *copies, *retries_text, *tasks;

static const struct rp_option options[] = {
    {"--spares", "-s", "N", "processes that wait to take the place of dead ranks (default 1)",
     &spares_text},
    {"--respawn", NULL, "N",
     "start up to N more processes when ranks die and no spare is left (default 0; on one host)",
     &respawn},
    {"--retries", NULL, "N",
     "start the job again, up to N times, if a process dies before ranks are out of MPI_Init "
     "(default 3)",
     &retries_text},
    {"--interval", NULL, "ITERATIONS",
     "take a checkpoint every so many iterations (default: what the program says, or 10)",
     &interval},
    {"--capacity", NULL, "BYTES",
     "limit of the message log of each rank; K, M and G are units (default: none)", &capacity},
    {"--capacity-iterations", NULL, "N",
     "iterations whose messages the log holds, with the current one (default: all since the "
     "checkpoint)",
     &span},
    {"--compress", NULL, NULL, "compress long messages in the log: less memory, more time",
     &compress},
    {"--mtbf", NULL, "SECONDS",
     "the mean time between failures: reprise chooses the interval by it and by the cost of a "
     "checkpoint",
     &mtbf},
    {"--checkpoints", NULL, "DIR", "also write checkpoints to files in this directory", &files},
    {"--keep", NULL, "N", "keep the files of so many checkpoints (default 2)", &keep},
    {"--restart", NULL, NULL, "begin with the last checkpoint in the files of --checkpoints",
     &restart},
    {"--copies", NULL, "K",
     "keep K copies of each checkpoint on other ranks: any K ranks may die at once (default 1)",
     &copies},
    {"--check", NULL, NULL,
     "do everything between two checkpoints twice, to find changes of memory that is not protected",
     &check},
    {"--kill", NULL, "R@I[:C]",
     "kill rank R in iteration I, at its C-th MPI call; several with commas; also R@setup:C, "
     "R@recovery:STEP and R@init:MICROSECONDS",
     &kill_list},
    {"--kill-random", NULL, "SEED:N[:I]",
     "kill N ranks at random, in iterations below I (default 100)", &kill_random},
    {"--tasks", NULL, NULL,
     "the program is one of tasks (reprise_tasks.h): it recovers by itself, without spares; other "
     "options: --retries, --kill P@MESSAGES",
     &tasks},
    {"--output", "-o", "DIR", "write what happened to events.jsonl in this directory", &output},
    {NULL, NULL, NULL, NULL, NULL},
};

enum { MOST_KILLS = 64, MOST_COPIES = 1000, MOST_RETRIES = 1000 };

/* Options */

static enum rp_status parse_bytes(const char *text, struct rp_problem *why)
{
    char value[32];
    long bytes;

    if (!rp_bytes_read(text, &bytes))
        return rp_fail(why, RP_USAGE, "--capacity %s: a number of bytes is expected, such as 64M",
                       text);
    snprintf(value, sizeof value, "%ld", bytes);
    setenv("REPRISE_FT_CAPACITY", value, 1);
    return RP_OK;
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Chooses kills at random, and prints them in the form that --kill takes. Every fourth is at a step
 * of a recovery. */
static enum rp_status choose_kills(long ranks, struct rp_problem *why)
{
    enum { STEPS = 4, CALLS = 20 };
    unsigned long long seed;
    long count, iterations = 100;
    int length = 0;
    struct rp_buffer list = {0};

    if (sscanf(kill_random, "%llu:%ld%n", &seed, &count, &length) != 2 ||
        (kill_random[length] && sscanf(kill_random + length, ":%ld", &iterations) != 1) ||
        count < 1 || count > MOST_KILLS || iterations < 1)
        return rp_fail(why, RP_USAGE, "--kill-random %s: SEED:NUMBER[:ITERATIONS] is expected",
                       kill_random);
    uint64_t state = seed;
    for (long i = 0; i < count; i++) {
        long rank = (long)(next_random(&state) % (uint64_t)ranks);
        if (i > 0 && next_random(&state) % 4 == 0)
            rp_buffer_printf(&list, ",%ld@recovery:%d", rank,
                             1 + (int)(next_random(&state) % STEPS));
        else
            rp_buffer_printf(&list, "%s%ld@%ld:%d", i ? "," : "", rank,
                             (long)(next_random(&state) % (uint64_t)iterations),
                             (int)(next_random(&state) % CALLS));
    }
    rp_buffer_byte(&list, 0);
    if (list.failed)
        return rp_fail(why, RP_MEMORY, "out of memory");
    rp_note("--kill %s", (char *)list.bytes);
    setenv("REPRISE_FT_KILL", (char *)list.bytes, 1);
    rp_buffer_free(&list);
    return RP_OK;
}

static enum rp_status check_copies(long ranks, struct rp_problem *why)
{
    long wanted = copies ? strtol(copies, NULL, 10) : 1;

    if (!copies || wanted < ranks)
        return RP_OK;
    return rp_fail(why, RP_USAGE,
                   "--copies %s: copies are kept by other ranks, so that takes at "
                   "least %ld; there %s %ld",
                   copies, wanted + 1, ranks == 1 ? "is" : "are", ranks);
}

/* Fails if --kill names a rank that there is not. The ranks that are killed read the rest. */
static enum rp_status check_kills(long ranks, struct rp_problem *why)
{
    for (const char *at = kill_list; at; at = strchr(at, ',')) {
        char *rest;
        at += *at == ',';
        long rank = strtol(at, &rest, 10);
        if (*rest == '@' && (rank < 0 || rank >= ranks))
            return rp_fail(why, RP_USAGE, "--kill %s: there is no rank %ld, but 0 to %ld",
                           kill_list, rank, ranks - 1);
    }
    return RP_OK;
}

static bool has_checkpoints(const char *path)
{
    char *pattern = rp_path_join(path, "*.checkpoint");
    glob_t found;
    bool any = pattern && glob(pattern, 0, NULL, &found) == 0;

    if (any)
        globfree(&found);
    free(pattern);
    return any;
}

/* Checks the directory of --checkpoints, and makes it if necessary. Fails if it has checkpoints of
 * an earlier run, which must not be overwritten; with --restart, if it has none. The ranks check
 * whether the checkpoints can be used. */
static enum rp_status look_at_files(struct rp_problem *why)
{
    struct stat about;

    if (restart && (stat(files, &about) != 0 || !S_ISDIR(about.st_mode)))
        return rp_fail(why, RP_USAGE,
                       "--checkpoints %s: there is no such directory to restart from", files);
    enum rp_status status = rp_make_directory(files, true, why);
    if (status != RP_OK)
        return status;
    bool any = has_checkpoints(files);
    if (any && !restart)
        return rp_fail(
            why, RP_USAGE,
            "%s has checkpoints of an earlier run: begin with these (--restart), or remove them",
            files);
    if (!any && restart)
        return rp_fail(why, RP_USAGE, "%s has no checkpoints to restart from", files);
    char *path = rp_path_absolute(files);
    if (!path)
        return rp_fail(why, RP_MEMORY, "out of memory");
    setenv("REPRISE_FT_FILES", path, 1);
    free(path);
    return RP_OK;
}

static long retries = 3;

static enum rp_status apply_options(long *spares, struct rp_problem *why)
{
    enum rp_status status = RP_OK;
    long ignored;

    *spares = 1;
    if (spares_text)
        status = rp_ft_number("--spares", spares_text, 0, RP_FT_MOST_SPARES, spares, why);
    if (status == RP_OK && respawn)
        status = rp_ft_number("--respawn", respawn, 0, RP_FT_MOST_SPARES, &ignored, why);
    if (status == RP_OK && respawn)
        setenv("REPRISE_FT_RESPAWN", respawn, 1);
    if (status == RP_OK && interval)
        status = rp_ft_number("--interval", interval, 1, LONG_MAX, &ignored, why);
    if (status == RP_OK && interval)
        setenv("REPRISE_FT_INTERVAL", interval, 1);
    if (status == RP_OK && capacity)
        status = parse_bytes(capacity, why);
    if (status == RP_OK && span)
        status = rp_ft_number("--capacity-iterations", span, 0, LONG_MAX, &ignored, why);
    if (status == RP_OK && span)
        setenv("REPRISE_FT_CAPACITY_ITERATIONS", span, 1);
    if (status == RP_OK && copies)
        status = rp_ft_number("--copies", copies, 1, MOST_COPIES, &ignored, why);
    if (status == RP_OK && copies)
        setenv("REPRISE_FT_COPIES", copies, 1);
    if (status == RP_OK && keep)
        status = rp_ft_number("--keep", keep, 2, 1000000, &ignored, why);
    if (status == RP_OK && mtbf)
        status = rp_ft_number("--mtbf", mtbf, 1, LONG_MAX, &ignored, why);
    if (status == RP_OK && mtbf && interval)
        return rp_fail(why, RP_USAGE, "either --mtbf or --interval");
    if (status == RP_OK && restart && !files)
        return rp_fail(why, RP_USAGE, "--restart needs --checkpoints DIR");
    if (status == RP_OK && files)
        status = look_at_files(why);
    if (keep)
        setenv("REPRISE_FT_KEEP", keep, 1);
    if (mtbf)
        setenv("REPRISE_FT_MTBF", mtbf, 1);
    if (restart)
        setenv("REPRISE_FT_RESTART", "1", 1);
    if (compress)
        setenv("REPRISE_FT_COMPRESS", "1", 1);
    if (check)
        setenv("REPRISE_FT_CHECK", "1", 1);
    if (kill_list && kill_random)
        return rp_fail(why, RP_USAGE, "either --kill or --kill-random");
    if (kill_list)
        setenv("REPRISE_FT_KILL", kill_list, 1);
    return status;
}

static void keep_events(const char *directory)
{
    char from[PATH_MAX + 32];
    struct rp_buffer text = {0};
    struct rp_problem why;

    snprintf(from, sizeof from, "%s/events.jsonl", directory);
    char *to = rp_path_join(output, "events.jsonl");
    if (!to || rp_read_file(from, SIZE_MAX / 2, &text, &why) != RP_OK ||
        rp_write_new_file(to, text.bytes, text.length, &why) != RP_OK)
        rp_error("the events are not kept: %s", why.text);
    free(to);
    rp_buffer_free(&text);
}

/* One launch of the job. A rank that ends the job leaves the status in a file, since the launcher
 * may not get to its end. */

struct ending {
    const char *directory;
    int status; /* -1: none yet */
    time_t since;
    bool at_once;     /* nobody ends the job but us */
    double childless; /* then: since when the launcher is */
    bool signalled;   /* the launcher got SIGTERM */
    bool in_init;     /* no rank is out of it */
    char why[512];    /* then: who died */
    struct rp_job job;
    struct rp_entries *entries;
};

/* Reads the file in which a rank says that the job ends: "STATUS", or, if a process cannot leave
 * MPI_Init, "STATUS init WHO". */
static void read_ending(struct ending *ending)
{
    char path[PATH_MAX + 16], who[256];

    snprintf(path, sizeof path, "%s/ending", ending->directory);
    FILE *file = ending->status < 0 ? fopen(path, "r") : NULL;
    if (!file)
        return;
    int count = fscanf(file, "%d init %255[^\n]", &ending->status, who);
    if (count < 1)
        ending->status = -1;
    if (count == 2 && !rp_job_failed_in_init(&ending->job, ending->why))
        snprintf(ending->why, sizeof ending->why, "%s died", who);
    ending->in_init = ending->at_once = count == 2;
    fclose(file);
    ending->since = time(NULL);
}

static void end_with(struct ending *ending, int status)
{
    ending->status = status;
    ending->since = time(NULL);
    ending->at_once = true;
}

static void look_at_job(struct ending *ending)
{
    char text[512];

    if (rp_launch_was_stopped())
        return;
    if (rp_entries_find_outsider(ending->entries, rp_launch_process(), text)) {
        rp_error("%s. The job was ended: it would have run on %d ranks instead of %d", text,
                 ending->job.processes, ending->job.ranks);
        end_with(ending, REPRISE_EXIT_UNSUPPORTED);
    } else if (rp_job_is_stuck(&ending->job, rp_launch_process(), ending->why)) {
        ending->in_init = ending->job.lost[0];
        end_with(ending, REPRISE_EXIT_INTERNAL);
    }
}

/* Open MPI's launcher was seen to kill its own process group, with us in it, when it got SIGTERM
 * while it started processes. So it gets SIGTERM when it has no process left. */
static bool is_time_to_signal(struct ending *ending)
{
    enum { PATIENCE = 1 };
    static const double pause = 0.3;
    double now = rp_job_now();

    if (!ending->at_once)
        return time(NULL) > ending->since + PATIENCE;
    if (rp_job_kill_children(rp_launch_process()) > 0)
        ending->childless = 0;
    else if (!ending->childless)
        ending->childless = now;
    return ending->childless && now - ending->childless > pause;
}

static void watch(void *data)
{
    enum { MORE = 4 };
    struct ending *ending = data;

    if (ending->job.roll && rp_job_progress_gate_is_open(ending->job.roll, 0))
        rp_stdin_last();
    read_ending(ending);
    if (ending->status < 0)
        look_at_job(ending);
    if (ending->status >= 0 && !ending->signalled && is_time_to_signal(ending)) {
        rp_launch_signal(SIGTERM);
        ending->signalled = true;
    }
    if (ending->status >= 0 && time(NULL) > ending->since + MORE)
        rp_launch_signal(SIGKILL);
}

static void keep_roll(const char *directory, bool one_host, int spares, struct rp_job *job)
{
    job->ranks = (int)strtol(getenv("REPRISE_FT_RANKS"), NULL, 10);
    job->processes = job->ranks + spares;
    if (one_host)
        job->roll = rp_job_progress_make(directory, (size_t)job->processes);
}

/* Ends the processes that a killed launcher left behind. `is_known`: reprise ended the job itself,
 * and has printed why. */
static void end_rest(const char *directory, bool is_known)
{
    char variable[PATH_MAX + 16];

    if (!rp_launch_ended_by() && !is_known)
        return;
    snprintf(variable, sizeof variable, "REPRISE_FT_DIR=%s", directory);
    int rest = rp_job_end_rest(variable);
    if (!is_known)
        rp_error("the launcher was ended by signal %d: so are the processes that it left behind "
                 "(%d on this host)",
                 rp_launch_ended_by(), rest);
}

static bool is_marked(const char *directory, const char *name)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

/* Returns whether all ranks ended normally. Sets *status to the first exit status that is not 0. */
static bool all_ended(const char *directory, int ranks, int *status)
{
    char path[PATH_MAX + 32];
    int one, count = 0;

    *status = 0;
    for (int i = 0; i < ranks; i++) {
        snprintf(path, sizeof path, "%s/exit-%d", directory, i);
        FILE *file = fopen(path, "r");
        bool ended = file && fscanf(file, "%d", &one) == 1;
        count += ended;
        *status = ended && *status == 0 ? one : *status;
        if (file)
            fclose(file);
    }
    return count == ranks;
}

/* Returns the exit status of a job of which no rank said how it ends. `result`: of the launcher. A
 * launcher that takes the death of a process for no failure returns 0 even if all die. The files
 * of ranks on other hosts are not seen. */
static int check_end(struct ending *ending, char **words, int result)
{
    struct rp_job *job = &ending->job;
    char text[512];
    int status;

    if (!rp_launch_ended_by() && is_marked(ending->directory, "respawned") &&
        all_ended(ending->directory, job->ranks, &status))
        return status;
    /* Those that end behind the launcher's death may do so for that reason. */
    if ((!rp_launch_ended_by() || (job->lost[0] && !rp_launch_was_stopped())) &&
        rp_job_failed_in_init(job, ending->why)) {
        ending->in_init = true;
        return REPRISE_EXIT_INTERNAL;
    }
    bool all_died = result == 0 && rp_ft_is_on_one_host(words) &&
                    is_marked(ending->directory, "began") && !is_marked(ending->directory, "ended");
    if (all_died)
        rp_error("all processes died, spares as well");
    if (all_died || rp_launch_ended_by() || !rp_entries_ran_outside(ending->entries, result, text))
        return all_died ? REPRISE_EXIT_INTERNAL : result;
    rp_error("nothing was made fault-tolerant: %s", text);
    return REPRISE_EXIT_UNSUPPORTED;
}

static int run_once(struct ending *ending, char **words, int spares)
{
    keep_roll(ending->directory, rp_ft_is_on_one_host(words), spares, &ending->job);
    ending->entries = rp_entries_new(&ending->job, ending->directory);
    int result = ending->entries ? rp_launch_run(words, watch, ending) : REPRISE_EXIT_INTERNAL;
    read_ending(ending);
    end_rest(ending->directory, ending->status >= 0);
    result = ending->status >= 0 ? ending->status : check_end(ending, words, result);
    rp_entries_free(ending->entries);
    return result;
}

/* Returns whether to launch the job again: it died before any rank left MPI_Init, so nothing was
 * computed. */
static bool begins_again(struct ending *ending, long launches)
{
    char what[600];

    snprintf(what, sizeof what, "%s, and no rank was out of MPI_Init yet", ending->why);
    return ending->in_init &&
           rp_ft_begins_again(ending->directory, &ending->job, what, launches, retries);
}

static int run_launches(const char *directory, char **words, int spares)
{
    struct ending ending;
    long launches = 0;
    int result;

    rp_stdin_start();
    rp_stdin_begin();
    if (retries == 0)
        rp_stdin_last();
    do {
        ending = (struct ending){.directory = directory, .status = -1};
        result = run_once(&ending, words, spares);
    } while (begins_again(&ending, ++launches));
    if (ending.in_init)
        rp_error("%s, and MPI_Init cannot end: who is not out of it yet cannot be replaced%s",
                 ending.why,
                 launches > 1 ? "; nor did it when the job was started again (--retries)" : "");
    else if (ending.why[0])
        rp_error("%s", ending.why);
    return result;
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct rp_problem why;
    char prefix[PATH_MAX], directory[PATH_MAX], **words = NULL;
    long spares;
    int first = rp_options_parse(command, argc, argv);

    if (first < 0)
        return REPRISE_EXIT_USAGE;
    if (first == argc)
        return rp_usage_error(command, "what is to be run? A launcher and a program");
    if (rp_launch_is_inside())
        return rp_usage_error(
            command,
            "it starts the launcher, not the other way round: reprise ft mpirun -n 4 ./program");
    enum rp_status status =
        retries_text ? rp_ft_number("--retries", retries_text, 0, MOST_RETRIES, &retries, &why)
                     : RP_OK;
    if (status == RP_OK && tasks)
        return rp_ft_run_tasks(command, argv + first, kill_list, retries);
    if (status == RP_OK)
        status = apply_options(&spares, &why);
    if (status == RP_OK)
        status = rp_ft_find_mpi(argv[first], prefix, &why);
    if (status == RP_OK)
        status = rp_ft_rewrite(argv + first, prefix, spares, &words, &why);
    if (status == RP_OK && respawn && !rp_ft_is_on_one_host(argv + first))
        status = rp_fail(&why, RP_UNSUPPORTED,
                         "--respawn starts processes on this host only, and the command names "
                         "hosts: take --spares");
    if (status == RP_OK)
        status = check_copies(strtol(getenv("REPRISE_FT_RANKS"), NULL, 10), &why);
    if (status == RP_OK)
        status = check_kills(strtol(getenv("REPRISE_FT_RANKS"), NULL, 10), &why);
    if (status == RP_OK && kill_random)
        status = choose_kills(strtol(getenv("REPRISE_FT_RANKS"), NULL, 10), &why);
    if (status == RP_OK)
        status = rp_job_check_program(argv + first, &why);
    if (status == RP_OK)
        status = rp_ft_make_directory(directory, &why);
    if (status == RP_OK && output)
        status = rp_make_directory(output, true, &why);
    if (status == RP_OK)
        status = rp_launch_preload("openmpi", NULL, words, &why);
    if (status != RP_OK) {
        rp_error("cannot run: %s", why.text);
        return rp_exit_status(status);
    }
    rp_ft_set_up_mpi(words, prefix, directory);
    rp_running_begin("ft", argv + first, output);
    rp_running_publish_roll(directory, strtol(getenv("REPRISE_FT_RANKS"), NULL, 10));
    int result = run_launches(directory, words, (int)spares);
    rp_running_end();
    if (output)
        keep_events(directory);
    rp_remove_directory(directory);
    return result;
}

const struct rp_command rp_command_ft = {
    .name = "ft",
    .synopsis = "[options] LAUNCHER -n RANKS [...] PROGRAM [ARGUMENT...]",
    .about = "run a program that survives dead ranks: only what died is done again",
    .more = "The program marks its loop and the state that changes in it (reprise.h), and is "
            "linked with libreprise.a. When a rank dies, a spare process takes its place: it "
            "begins with the last\n"
            "checkpoint and gets the messages since then from the logs of the other ranks. These "
            "go on from where they were. It needs an Open MPI 5 with ULFM.",
    .options = options,
    .run = run,
};
