/* SPDX-License-Identifier: MIT */
/*
 * Whoever waits knows for what. It says so in the file that the command reads as soon as it has
 * waited for a second, and to the user after a failure, when it has waited for long. The command
 * ends a job in which all wait and nothing moves; a process inside an entry does not wait, however
 * long it takes.
 */
#include "task/task_watch.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/diagnostics.h"
#include "task/task.h"

struct rp_task_process *rp_task_watch_line;

static struct rp_task_process *lines;
static size_t line_count;
static uint32_t idle_steps; /* what had been done when it was last idle */
static double idle_since, say_after;

void rp_task_watch_open(const char *directory, size_t process)
{
    lines = rp_task_progress_open(directory, &line_count);
    rp_task_watch_line = process < line_count ? &lines[process] : NULL;
}

void rp_task_watch_state(enum rp_task_state state)
{
    if (rp_task_watch_line)
        rp_task_watch_line->state = (int32_t)state;
    rp_task_watch_did();
}

void rp_task_watch_left(int status)
{
    if (!rp_task_watch_line)
        return;
    rp_task_watch_line->status = status;
    rp_task_watch_state(RP_TASK_LEFT);
}

void rp_task_watch_learnt(int process)
{
    if ((size_t)process < line_count)
        lines[process].dead = 1;
}

static void put_silent(const struct rp_tasks *tasks, struct rp_buffer *out)
{
    const char *between = "";

    rp_buffer_printf(out, "process ");
    for (int i = 0; i < tasks->processes; i++)
        if (i != tasks->self && !tasks->dead[i] &&
            (tasks->heard[i] == 0 || tasks->heard[i] != tasks->parts[i])) {
            rp_buffer_printf(out, "%s%d", between, i);
            between = ", ";
        }
    rp_buffer_printf(out, " to tell what is known of the dead");
}

static void describe(const struct rp_tasks *tasks, char text[RP_TASK_WAITS])
{
    static const char *const stages[] = {"the others",
                                         "the end of a run",
                                         "the end of a checkpoint",
                                         "the end of a run after a failure",
                                         "the end of a move",
                                         "the end of all"};
    struct rp_buffer out = {0};
    int first = rp_stage_first(tasks);

    if (tasks->recovering)
        put_silent(tasks, &out);
    else if (tasks->wanted > 0)
        rp_buffer_printf(&out, "the states of %u tasks that it takes over", tasks->wanted);
    else if (first == tasks->self)
        rp_buffer_printf(&out, "%s: %d of %d processes have answered", stages[tasks->kind],
                         tasks->answers, tasks->processes - tasks->dead_count);
    else
        rp_buffer_printf(&out, "%s, of which process %d tells", stages[tasks->kind], first);
    rp_buffer_byte(&out, 0);
    snprintf(text, RP_TASK_WAITS, "%s", out.failed ? "?" : (char *)out.bytes);
    rp_buffer_free(&out);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void say(const struct rp_tasks *tasks, double waited)
{
    char text[RP_TASK_WAITS];

    if (tasks->dead_count == 0 || waited < say_after)
        return;
    describe(tasks, text);
    rp_note("tasks: waits since %.0f seconds for %s", waited, text);
    say_after = 2 * waited;
}

void rp_task_watch_idle(const struct rp_tasks *tasks)
{
    static const double a_while = 1, long_time = 20;
    uint32_t steps = (uint32_t)tasks->counts[RP_COUNT_MESSAGES] + tasks->stage + tasks->epoch;
    double time = now();

    if (idle_since == 0 || steps != idle_steps) {
        idle_since = time;
        idle_steps = steps;
        say_after = long_time;
    }
    if (time - idle_since < a_while)
        return;
    if (rp_task_watch_line && !rp_task_watch_line->waits) {
        describe(tasks, rp_task_watch_line->what);
        rp_task_watch_line->waits = 1;
    }
    say(tasks, time - idle_since);
}

void rp_task_watch_blocks(const char *what)
{
    if (!rp_task_watch_line)
        return;
    snprintf(rp_task_watch_line->what, RP_TASK_WAITS, "%s", what);
    rp_task_watch_line->waits = 1;
}
