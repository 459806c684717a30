/* SPDX-License-Identifier: MIT */
/*
 * A process that waits knows what it waits for. After a second it notes that in the file that the
 * command reads. After a failure it also prints it, once it has waited for long. The command ends a
 * job in which all processes wait and nothing moves. A process inside an entry does not wait,
 * however long it takes.
 */
#include "task/task_stall.h"

#include <stdio.h>
#include <time.h>

#include "base/buffer.h"
#include "base/diagnostics.h"
#include "task/task_phases.h"
#include "task/task_recovery.h"
#include "task/task_watch.h"

static struct {
    double since;   /* 0: it was never idle */
    uint32_t steps; /* what had been done then */
    double say_after;
} idle;

static void put_silent(const struct rp_tasks *tasks, struct rp_buffer *out)
{
    const char *between = "";

    rp_buffer_printf(out, "process ");
    for (int i = 0; i < tasks->processes; i++)
        if (rp_task_recovery_awaits(tasks, i)) {
            rp_buffer_printf(out, "%s%d", between, i);
            between = ", ";
        }
    rp_buffer_printf(out, " to tell what is known of the dead");
}

static void describe(const struct rp_tasks *tasks, char text[RP_TASK_WAITS])
{
    static const char *const phases[] = {"the others",
                                         "the end of a run",
                                         "the end of a checkpoint",
                                         "the end of a run after a failure",
                                         "the end of a move",
                                         "the end of all"};
    struct rp_buffer out = {0};
    int first = rp_tasks_first_living(tasks);

    if (tasks->recovering)
        put_silent(tasks, &out);
    else if (tasks->missing > 0)
        rp_buffer_printf(&out, "the states of %u tasks that it takes over", tasks->missing);
    else if (first == tasks->self)
        rp_buffer_printf(&out, "%s: %d of %d processes have answered", phases[tasks->phase_kind],
                         rp_phase_answers(tasks), tasks->processes - tasks->dead_count);
    else
        rp_buffer_printf(&out, "%s, of which process %d tells", phases[tasks->phase_kind], first);
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

    if (tasks->dead_count == 0 || waited < idle.say_after)
        return;
    describe(tasks, text);
    rp_note("tasks: waits since %.0f seconds for %s", waited, text);
    idle.say_after = 2 * waited;
}

void rp_task_stall_idle(const struct rp_tasks *tasks)
{
    static const double a_while = 1, long_time = 20;
    uint32_t steps = (uint32_t)tasks->counts[RP_COUNT_MESSAGES] + tasks->phase + tasks->epoch;
    double time = now();

    if (idle.since == 0 || steps != idle.steps) {
        idle.since = time;
        idle.steps = steps;
        idle.say_after = long_time;
    }
    if (time - idle.since < a_while)
        return;
    if (rp_task_watch.own && !rp_task_watch.own->waits) {
        char text[RP_TASK_WAITS];
        describe(tasks, text);
        rp_task_watch_waits(text);
    }
    say(tasks, time - idle.since);
}
