/* SPDX-License-Identifier: MIT */
/*
 * How a process is found that dies before it leaves MPI_Init: by the roll; or, if it ended before
 * our library was loaded, or by itself, by two things together. The launcher has fewer children
 * than it started, more than those that ended later; and some process is in MPI_Init. Both must
 * hold for a while, since a launcher takes a while to start all processes. The roll says which
 * process it is, unless that ended before our library was loaded. Looking for the launcher's
 * children takes time, so it is done only if the roll gives a reason.
 */
#include "cli/jobwatch.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"

double rp_job_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

pid_t rp_process_parent(long process)
{
    char path[64], line[512], state;
    int parent = -1;

    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    FILE *file = fopen(path, "r");
    const char *behind_name = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (!behind_name || sscanf(behind_name, ") %c %d", &state, &parent) != 2 || state == 'Z' ||
        state == 'X')
        parent = -1;
    if (file)
        fclose(file);
    return parent;
}

/* The next process of this host; 0: that was the last. */
static long next_process(DIR *all)
{
    struct dirent *entry;

    while ((entry = readdir(all)))
        if (isdigit((unsigned char)entry->d_name[0]))
            return strtol(entry->d_name, NULL, 10);
    return 0;
}

bool rp_processes_each(bool (*look)(void *data, long process), void *data)
{
    DIR *all = opendir("/proc");

    for (long process; all && (process = next_process(all));)
        if (!look(data, process))
            break;
    if (all)
        closedir(all);
    return all != NULL;
}

struct children {
    pid_t launcher;
    int count;
};

static bool count_child(void *data, long process)
{
    struct children *children = data;

    children->count += rp_process_parent(process) == children->launcher;
    return true;
}

static int count_children(pid_t launcher)
{
    struct children children = {launcher, 0};

    return rp_processes_each(count_child, &children) ? children.count : -1;
}

static bool is_dead(const struct rp_process_progress *line)
{
    return line->process && rp_process_parent(line->process) < 0;
}

static bool waits_in_init(const struct rp_job *job)
{
    for (int i = 0; i < job->processes; i++)
        if (job->roll[i].state == RP_PROCESS_ENTERS && !is_dead(&job->roll[i]))
            return true;
    return false;
}

static bool all_have_ended(const struct rp_job *job)
{
    bool any = false;

    for (int i = 0; i < job->processes; i++) {
        if (job->roll[i].process && !is_dead(&job->roll[i]))
            return false;
        any |= job->roll[i].process != 0;
    }
    return any;
}

/* How many ended before they came out of MPI_Init. Where others than the launcher start them, or
 * scripts run them, only those count that are known to be dead. */
static int count_lost(const struct rp_job *job, pid_t launcher)
{
    int children = count_children(launcher), later = 0, earlier = 0;
    bool is_direct = false;

    for (int i = 0; i < job->processes; i++) {
        const struct rp_process_progress *line = &job->roll[i];
        bool dead = is_dead(line);
        later += dead && line->state == RP_PROCESS_INSIDE;
        earlier += dead && line->state != RP_PROCESS_INSIDE;
        is_direct |= line->process && rp_process_parent(line->process) == launcher;
    }
    int lost = children < 0 ? 0 : job->processes - children - later;
    return is_direct || lost < earlier ? lost : earlier;
}

static void name(const struct rp_job *job, int line, struct rp_buffer *out)
{
    bool is_rank = line < job->ranks;

    rp_buffer_printf(out, "%s%s %d", out->length ? ", " : "", is_rank ? "rank" : "spare",
                     is_rank ? line : line - job->ranks);
    if (job->roll[line].process)
        rp_buffer_printf(out, " (process %d, %s MPI_Init)", (int)job->roll[line].process,
                         job->roll[line].state == RP_PROCESS_ENTERS ? "in" : "before");
    else
        rp_buffer_printf(out, " (before it began)");
}

static bool is_lost(const struct rp_process_progress *line)
{
    return line->state != RP_PROCESS_INSIDE && is_dead(line);
}

/* By which of its ends a job is known to have failed: a kill comes before a SIGTERM, which the
 * launcher may have sent since another was killed, and that before an end of its own. */
static enum rp_process_end first_end(const struct rp_job *job)
{
    bool seen[] = {false, false, false};

    for (int i = 0; i < job->processes; i++)
        if (is_lost(&job->roll[i]))
            seen[job->roll[i].left] = true;
    return seen[RP_PROCESS_NO_WORD]      ? RP_PROCESS_NO_WORD
           : seen[RP_PROCESS_TERMINATED] ? RP_PROCESS_TERMINATED
                                         : RP_PROCESS_LEFT;
}

/* Where all end alike at once, somebody has ended the job, by its launcher. */
static void note_first(struct rp_job *job)
{
    struct rp_buffer list = {0};
    int count = 0;

    if (job->lost[0])
        return;
    enum rp_process_end end = first_end(job);
    for (int i = 0; i < job->processes; i++)
        if (is_lost(&job->roll[i]) && job->roll[i].left == (int32_t)end) {
            name(job, i, &list);
            count++;
        }
    rp_buffer_byte(&list, 0);
    if (count > 0 && !list.failed)
        snprintf(job->lost, sizeof job->lost, "%s", (char *)list.bytes);
    job->killed = count > 0 && end != RP_PROCESS_LEFT && (count < job->processes || count == 1);
    rp_buffer_free(&list);
}

/* Some processes ended before our library was loaded: names them as far as they are known. */
static void note_unseen(struct rp_job *job, int lost)
{
    struct rp_buffer list = {0};
    int unseen = 0;

    for (int i = 0; i < job->processes; i++)
        unseen += job->roll[i].state == RP_PROCESS_UNSEEN;
    for (int i = 0; i < job->processes && unseen <= lost; i++)
        if (job->roll[i].state == RP_PROCESS_UNSEEN)
            name(job, i, &list);
    rp_buffer_byte(&list, 0);
    snprintf(job->lost, sizeof job->lost, "%s",
             !list.failed && list.length > 1 ? (char *)list.bytes : "a process");
    job->killed = true;
    rp_buffer_free(&list);
}

static void say_lost(const struct rp_job *job, char text[512])
{
    snprintf(text, 512, "%s %s", job->lost[0] ? job->lost : "a process",
             job->killed ? "died" : "ended");
}

bool rp_job_failed_in_init(struct rp_job *job, char text[512])
{
    bool entered = false;

    if (!job->roll || rp_job_progress_gate_is_open(job->roll, 0))
        return false;
    note_first(job); /* all may have ended since it was last looked at */
    for (int i = 0; i < job->processes; i++)
        entered |= job->roll[i].state == RP_PROCESS_ENTERS;
    if (entered)
        say_lost(job, text);
    return entered;
}

bool rp_job_can_begin_again(struct rp_job *job)
{
    return job->roll && job->killed && rp_job_progress_close_gate(job->roll, 0);
}

/* Others would wait for the dead: with certainty if one of them is known, else if it is long so. */
static bool waits_for_dead(struct rp_job *job, int lost, double waited)
{
    static const double patience = 2;

    if (rp_job_progress_gate_is_open(job->roll, 0) ||
        (!job->killed && (lost <= 0 || waited < patience)))
        return false;
    if (!rp_job_progress_close_gate(job->roll, 0))
        return false;
    if (!job->lost[0])
        note_unseen(job, lost);
    return true;
}

bool rp_job_is_stuck(struct rp_job *job, pid_t launcher, char text[512])
{
    static const double every = 0.25, patience = 10;
    double time = rp_job_now();

    if (!job->roll)
        return false;
    note_first(job);
    if (time < job->next && (!job->killed || rp_job_progress_gate_is_open(job->roll, 0)))
        return false;
    job->next = time + every;
    int lost = waits_in_init(job) ? count_lost(job, launcher) : 0;
    bool is_over = lost <= 0 && all_have_ended(job) && count_children(launcher) == 0;
    if (!job->since || (lost <= 0 && !is_over))
        job->since = time;
    if (waits_for_dead(job, lost, time - job->since)) {
        say_lost(job, text);
        return true;
    }
    if (!is_over || time - job->since < patience)
        return false;
    if (!rp_job_failed_in_init(job, text))
        snprintf(text, 512, "all processes have ended, but the launcher does not");
    return true;
}

bool rp_process_environment(long process, struct rp_buffer *text)
{
    enum { STEP = 65536 };
    char path[64];
    ssize_t got = 1;

    snprintf(path, sizeof path, "/proc/%ld/environ", process);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    text->length = 0;
    while (fd >= 0 && got > 0 && rp_buffer_reserve(text, STEP)) {
        got = read(fd, text->bytes + text->length, STEP);
        text->length += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return text->length > 0;
}

static bool was_started_with(long process, const char *variable, struct rp_buffer *text)
{
    return rp_process_environment(process, text) &&
           memmem(text->bytes, text->length, variable, strlen(variable) + 1);
}

static int kill_all(const char *variable)
{
    DIR *all = opendir("/proc");
    struct rp_buffer text = {0};
    int count = 0;

    for (long process; all && (process = next_process(all));)
        if (process != getpid() && was_started_with(process, variable, &text) &&
            rp_process_parent(process) >= 0 && kill((pid_t)process, SIGKILL) == 0)
            count++;
    if (all)
        closedir(all);
    rp_buffer_free(&text);
    return count;
}

int rp_job_end_rest(const char *variable)
{
    static const double patience = 5;
    const struct timespec pause = {0, 20000000};
    double since = rp_job_now();
    int first = kill_all(variable);

    for (int left = first; left > 0 && rp_job_now() - since < patience; left = kill_all(variable))
        nanosleep(&pause, NULL);
    return first;
}
