/* SPDX-License-Identifier: MIT */
/*
 * reprise ft --tasks: runs a program of tasks, which survives dead processes by itself, with an MPI
 * that lets it. The program is not entered: it is linked with our library, and leaves in the
 * directory of the run what it does (job/task_progress.h).
 *
 * The exit status is not the launcher's, for which the death of a process is no failure, or is one
 * although it was survived. It is, in this order: what a process ended the job with; that of a
 * process that ended by itself with another than 0; one of ours, if a process died that nobody
 * replaced; and else 0.
 *
 * A job in which nothing moves is ended: all processes that live wait for each other, or for
 * MPI_Finalize. On several hosts only the processes of this one are seen, so that the launcher's
 * status counts, too, and nobody watches.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "job/job_progress.h"
#include "job/task_progress.h"
#include "cli/binary.h"
#include "cli/ft_launch.h"
#include "cli/stdin_feed.h"
#include "cli/jobwatch.h"
#include "cli/launch.h"
#include "reprise.h"

/* Whether it is a program of tasks */

static bool file_has_tasks(const char *path)
{
    static const char mark[] =
        "REPRISE_TASKS_KILL"; /* that our library reads; it is linked statically */
    struct rp_buffer bytes = {0};
    struct rp_problem why;
    bool found = rp_read_file(path, SIZE_MAX / 2, &bytes, &why) == RP_OK &&
                 memmem(bytes.bytes, bytes.length, mark, sizeof mark);

    rp_buffer_free(&bytes);
    return found;
}

/* Another library may have ours inside. */
static bool libraries_have_tasks(const char *program)
{
    char command[PATH_MAX + 64], line[PATH_MAX + 64], path[PATH_MAX];
    bool found = false;

    if (strchr(program, '\'') ||
        snprintf(command, sizeof command, "LD_TRACE_LOADED_OBJECTS=1 '%s' 2>/dev/null", program) >=
            (int)sizeof command)
        return true;
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe))
        found = found || (sscanf(line, " %*s => %4095s", path) == 1 && path[0] == '/' &&
                          file_has_tasks(path));
    if (pipe)
        pclose(pipe);
    return found;
}

/* Of what cannot be looked into, such as scripts, it is found out when it runs. */
static bool may_have_tasks(const char *word)
{
    struct rp_problem why;
    struct rp_binary binary;

    if (word[0] == '-' || rp_binary_look(word, &binary, &why) != RP_OK)
        return false;
    bool may = binary.kind == RP_BINARY_SCRIPT || rp_launch_is_interpreter(binary.path);
    if (binary.executable && (binary.kind == RP_BINARY_DYNAMIC || binary.kind == RP_BINARY_STATIC))
        may =
            may || file_has_tasks(binary.path) || (binary.mpi && libraries_have_tasks(binary.path));
    may = may && binary.executable;
    rp_binary_free(&binary);
    return may;
}

static enum rp_status check_program(char **words, struct rp_problem *why)
{
    struct rp_binary binary;
    const char *program = rp_launch_program(words);
    enum rp_status status = rp_binary_look(program, &binary, why);

    for (char **word = words + 1; *word; word++)
        if (may_have_tasks(*word)) {
            if (status == RP_OK)
                rp_binary_free(&binary);
            return RP_OK;
        }
    if (status != RP_OK || program == words[0])
        return rp_fail(why, RP_USAGE, "there is no program in the command that can be run");
    rp_binary_free(&binary);
    return rp_fail(why, RP_UNSUPPORTED,
                   "%s is no program of tasks: it is not linked with libreprise-tasks.a "
                   "(reprise_tasks.h, docs/tasks.md). Other programs run without --tasks",
                   program);
}

/* Options and settings */

static enum rp_status check_options(const struct rp_command *command, struct rp_problem *why)
{
    for (const struct rp_option *option = command->options; option->name; option++)
        if (*option->value && strcmp(option->name, "--tasks") != 0 &&
            strcmp(option->name, "--kill") != 0 && strcmp(option->name, "--retries") != 0)
            return rp_fail(why, RP_USAGE,
                           "%s is not for programs of tasks (--tasks): they have neither spares "
                           "nor iterations; REPRISE_TASKS, REPRISE_TASKS_SPREAD and "
                           "REPRISE_TASKS_COPIES say how they recover",
                           option->name);
    return RP_OK;
}

static enum rp_status check_mode(struct rp_problem *why)
{
    const char *mode = rp_setting("REPRISE_TASKS");

    if (mode && !rp_list_has("partial,full,restart", mode))
        return rp_fail(why, RP_USAGE,
                       "REPRISE_TASKS=%s: with 'reprise ft --tasks' it is partial (the default), "
                       "full or restart",
                       mode);
    setenv("REPRISE_TASKS", mode ? mode : "partial", 1);
    return RP_OK;
}

static enum rp_status check_kills(const char *kills, long processes, struct rp_problem *why)
{
    for (const char *at = kills; at && *at;) {
        int process, used = 0, moving = 0;
        unsigned long long messages;
        if (sscanf(at, "%d@move%n", &process, &moving) == 1 && moving > 0)
            used = moving;
        else if (sscanf(at, "%d@%llu%n", &process, &messages, &used) != 2)
            used = 0;
        if (used == 0 || (at[used] && at[used] != ','))
            return rp_fail(why, RP_USAGE,
                           "--kill %s: with --tasks PROCESS@MESSAGES or PROCESS@move is expected, "
                           "several with commas",
                           kills);
        if (process < 0 || process >= processes)
            return rp_fail(why, RP_USAGE, "--kill %s: there is no process %d, but 0 to %ld", kills,
                           process, processes - 1);
        at += used + (at[used] == ',');
    }
    if (kills)
        setenv("REPRISE_TASKS_KILL", kills, 1);
    return RP_OK;
}

/* The job */

struct job {
    char directory[PATH_MAX], verdict[PATH_MAX + 16];
    bool one_host;
    int processes;
    struct rp_task_process *lines; /* NULL: nothing is known of them */
    struct rp_job starts;
    double next, still_since; /* when nothing had moved yet that has not moved since */
    uint64_t moved;
    long patience; /* seconds in which nothing moves */
    int status;    /* that ends it; -1: none yet */
    double since;
    bool signalled; /* the launcher got SIGTERM */
    bool not_begun; /* no process had begun with tasks */
    char why[512];  /* then: who died */
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void read_verdict(struct job *job)
{
    FILE *file = job->status < 0 ? fopen(job->verdict, "r") : NULL;

    if (!file)
        return;
    if (fscanf(file, "%d", &job->status) != 1)
        job->status = -1;
    fclose(file);
    job->since = now();
}

static void end_job(struct job *job, int status)
{
    job->status = status;
    job->since = now();
}

/* Its state as the kernel calls it; 0: it is gone. */
static char kernel_state(const struct rp_task_process *line)
{
    char path[64], text[512], state = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)line->process);
    FILE *file = line->process ? fopen(path, "r") : NULL;
    const char *behind_name = file && fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
    if (!behind_name || sscanf(behind_name, ") %c", &state) != 1 || state == 'Z' || state == 'X')
        state = 0;
    if (file)
        fclose(file);
    return state;
}

/* Whether all that live wait, and at least one does. Those that are stopped do not. */
static bool all_wait(const struct job *job)
{
    bool any = false;

    for (int i = 0; i < job->processes; i++) {
        const struct rp_task_process *line = &job->lines[i];
        char state =
            line->state > RP_TASK_UNSEEN && line->state < RP_TASK_LEFT ? kernel_state(line) : 0;
        bool waits = line->waits || line->state == RP_TASK_FINALIZES;
        if (state && (!waits || state == 'T' || state == 't'))
            return false;
        any |= state != 0;
    }
    return any;
}

static void say_who_waits(const struct job *job, double seconds)
{
    rp_error("nothing has moved for %.0f seconds, so the job is ended", seconds);
    for (int i = 0; i < job->processes; i++) {
        const struct rp_task_process *line = &job->lines[i];
        if (line->state == RP_TASK_UNSEEN || line->state == RP_TASK_LEFT || !kernel_state(line))
            continue;
        rp_error("process %d waits for %.*s", i, RP_TASK_WAITS - 1,
                 line->state == RP_TASK_FINALIZES ? "MPI_Finalize, which does not return"
                                                  : line->what);
    }
}

static bool is_still(struct job *job)
{
    static const double every = 0.5;
    double time = now();
    uint64_t moved = 0;

    if (!job->lines || time < job->next)
        return false;
    job->next = time + every;
    for (int i = 0; i < job->processes; i++)
        moved += job->lines[i].steps + (uint64_t)job->lines[i].state;
    if (moved != job->moved || !all_wait(job)) {
        job->moved = moved;
        job->still_since = time;
        return false;
    }
    if (time - job->still_since < (double)job->patience)
        return false;
    say_who_waits(job, time - job->still_since);
    return true;
}

static void watch(void *data)
{
    static const double patience = 3,
                        more =
                            6; /* who ends the job may say why to the launcher, one after another */
    struct job *job = data;

    if (job->starts.roll && rp_job_progress_gate_is_open(job->starts.roll, 0))
        rp_stdin_last();
    read_verdict(job);
    if (job->status < 0 && rp_job_is_stuck(&job->starts, rp_launch_process(), job->why)) {
        job->not_begun = job->starts.lost[0];
        end_job(job, REPRISE_EXIT_INTERNAL);
        rp_launch_signal(
            SIGKILL); /* at SIGTERM while it starts processes, it was seen to kill us, too */
    }
    if (job->status < 0 && is_still(job))
        end_job(job, REPRISE_EXIT_INTERNAL);
    if (job->status < 0)
        return;
    if (now() > job->since + patience && !job->signalled) {
        rp_launch_signal(SIGTERM);
        job->signalled = true;
    }
    if (now() > job->since + more)
        rp_launch_signal(SIGKILL);
}

/* How it ended */

static int count_state(const struct job *job, enum rp_task_state least)
{
    int count = 0;

    for (int i = 0; i < job->processes && job->lines; i++)
        count += job->lines[i].state >= (int32_t)least;
    return count;
}

/* The first status that is not 0 of those that ended by themselves. */
static int own_status(const struct job *job)
{
    for (int i = 0; i < job->processes; i++)
        if (job->lines[i].state == RP_TASK_LEFT && job->lines[i].status != 0)
            return job->lines[i].status & 0xff ? job->lines[i].status & 0xff
                                               : REPRISE_EXIT_INTERNAL;
    return 0;
}

/* Nobody takes over from who dies when all is over. */
static int died_unseen(const struct job *job)
{
    for (int i = 0; i < job->processes; i++) {
        const struct rp_task_process *line = &job->lines[i];
        if (line->state == RP_TASK_LEFT || line->dead)
            continue;
        rp_error("process %d died %s: nobody took over what it had yet to do", i,
                 line->state >= RP_TASK_ENDED ? "after reprise_tasks_end"
                                              : "before the others had learnt of it");
        return REPRISE_EXIT_INTERNAL;
    }
    return 0;
}

static int never_began(struct job *job, int result)
{
    if (rp_job_failed_in_init(&job->starts, job->why) && !own_status(job)) {
        job->not_begun = true;
        return REPRISE_EXIT_INTERNAL;
    }
    if (own_status(job))
        return own_status(job);
    rp_error("no process came to reprise_tasks_begin: nothing was made fault-tolerant. Is it a "
             "program of tasks (reprise_tasks.h)?");
    return result ? result : REPRISE_EXIT_UNSUPPORTED;
}

static int true_status(struct job *job, int result)
{
    if (job->status >= 0)
        return job->status;
    if (rp_launch_ended_by() || rp_launch_was_stopped() || !job->lines)
        return result;
    if (count_state(job, RP_TASK_RUNS) == 0)
        return never_began(job, result);
    if (count_state(job, RP_TASK_LEFT) == 0) {
        rp_error("all processes died");
        return REPRISE_EXIT_INTERNAL;
    }
    int status = own_status(job);
    return status ? status : died_unseen(job);
}

/* A launcher that was killed, by us or by others, cannot end what it started. */
static void end_rest(const struct job *job)
{
    char variable[PATH_MAX + 16];

    if (!rp_launch_ended_by() && job->status < 0)
        return;
    snprintf(variable, sizeof variable, "REPRISE_FT_DIR=%s", job->directory);
    int rest = rp_job_end_rest(variable);
    if (job->status < 0)
        rp_error("the launcher was ended by signal %d: so are the processes that it left behind "
                 "(%d on this host)",
                 rp_launch_ended_by(), rest);
}

static int run_once(char **words, struct job *job)
{
    if (job->one_host) {
        job->lines = rp_task_progress_make(job->directory, (size_t)job->processes);
        job->starts =
            (struct rp_job){.roll = rp_job_progress_make(job->directory, (size_t)job->processes),
                            .ranks = job->processes,
                            .processes = job->processes};
    }
    int result = rp_launch_run(words, watch, job);
    read_verdict(job);
    end_rest(job);
    return true_status(job, result);
}

static void say_why(const struct job *job, long launches)
{
    if (job->not_begun)
        rp_error("%s before the end of reprise_tasks_begin, where it cannot be replaced%s",
                 job->why,
                 launches > 1 ? "; so it was when the job was started again (--retries)" : "");
    else if (job->why[0])
        rp_error("%s", job->why);
}

/* Who dies before tasks begin is not replaced; but nothing of them was done. */
static int run_launches(char **words, const char *prefix, const struct job *fresh, long retries)
{
    char what[600];
    struct job job;
    long launches = 0;
    int result;

    rp_ft_set_up_mpi(words, prefix, fresh->directory);
    rp_launch_for_openmpi();
    unsetenv("REPRISE_FT_RANKS"); /* which is for programs that are entered */
    setenv("REPRISE_TASKS_VERDICT", fresh->verdict, 1);
    rp_stdin_start();
    rp_stdin_begin();
    if (retries == 0)
        rp_stdin_last();
    do {
        job = *fresh;
        result = run_once(words, &job);
        snprintf(what, sizeof what, "%s, and no process had left reprise_tasks_begin yet", job.why);
    } while (job.not_begun &&
             rp_ft_begins_again(fresh->directory, &job.starts, what, ++launches, retries));
    say_why(&job, launches);
    return result;
}

int rp_ft_run_tasks(const struct rp_command *command, char **words, const char *kills, long retries)
{
    struct rp_problem why;
    char prefix[PATH_MAX], **launched = NULL;
    struct job job = {.status = -1, .one_host = rp_ft_is_on_one_host(words)};
    enum rp_status status = check_options(command, &why);

    if (status == RP_OK)
        status = check_mode(&why);
    if (status == RP_OK)
        status = rp_setting_number("REPRISE_TASKS_PATIENCE", 1, 30, &job.patience, &why);
    if (status == RP_OK)
        status = rp_ft_find_mpi(words[0], prefix, &why);
    if (status == RP_OK)
        status = rp_ft_rewrite(words, prefix, 0, &launched, &why);
    if (status == RP_OK)
        status = check_program(words, &why);
    if (status == RP_OK) {
        job.processes = (int)strtol(getenv("REPRISE_FT_RANKS"), NULL, 10);
        status = check_kills(kills, job.processes, &why);
    }
    if (status == RP_OK)
        status = rp_ft_make_directory(job.directory, &why);
    if (status != RP_OK) {
        rp_error("cannot run: %s", why.text);
        return rp_exit_status(status);
    }
    snprintf(job.verdict, sizeof job.verdict, "%s/ending", job.directory);
    int result = run_launches(launched, prefix, &job, retries);
    rp_remove_directory(job.directory);
    return result;
}
