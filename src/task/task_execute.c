/* SPDX-License-Identifier: MIT */
/*
 * What is delivered goes into the queue of ready messages. What the queue returns runs if it may
 * (task_order.c), else it waits at its task, and is tried again after each entry that ran there.
 */
#include "task/task_execute.h"

#include <stdlib.h>

#include "base/diagnostics.h"
#include "task/task_arrivals.h"
#include "task/task_check.h"
#include "task/task_order.h"
#include "task/task_state.h"
#include "task/task_trace.h"
#include "task/task_watch.h"

static void end_region(struct rp_tasks *tasks, struct rp_task *task,
                       const struct rp_task_message *last)
{
    uint32_t entry = last->entry;
    const struct reprise_entry *spec = rp_task_entry(tasks, task, entry);

    if (spec->finish) {
        /* Its sends are named by the region, not by the task's count: regions that overlap may end
         * in any order. Regions of one message, by that: they may come in any order, too. */
        struct rp_task_message end = {.entry = entry};
        tasks->handled = task->regions[entry].size == 1 ? last : &end;
        tasks->in_finish = true;
        tasks->children = 0;
        spec->finish(task->state);
        tasks->in_finish = false;
        tasks->handled = NULL;
    }
    rp_task_check_region(tasks, task, entry);
}

static void open_region(struct rp_tasks *tasks, struct rp_task *task, uint32_t entry)
{
    size_t count = rp_task_entry(tasks, task, entry)->count(task->state);

    if (count == 0) {
        char name[RP_TASK_NAME];
        rp_task_name(tasks, task, name);
        rp_tasks_fail(tasks, "task %s, entry %s: a message has come for a region of no messages",
                      name, rp_task_entry(tasks, task, entry)->name);
        return;
    }
    task->regions[entry].left = task->regions[entry].size = count;
    task->regions[entry].ordinal++;
    if (count > 1)
        task->regions[entry].sends = 0;
}

static void execute_message(struct rp_tasks *tasks, struct rp_task *task, struct rp_task_message *m)
{
    const struct reprise_entry *entry = rp_task_entry(tasks, task, m->entry);
    struct reprise_message message = {m->ref, m->data, m->bytes};
    bool commutes = entry->order == REPRISE_COMMUTATIVE;

    rp_task_watch_did();
    rp_task_trace_note(tasks, task, m);
    tasks->counts[RP_COUNT_MESSAGES]++;
    tasks->running = task;
    task->clock = (m->clock > task->clock ? m->clock : task->clock) + 1;
    if (entry->count && task->regions[m->entry].left == 0)
        open_region(tasks, task, m->entry);
    if (!tasks->has_failed) {
        rp_task_order_note(tasks, task, m);
        tasks->handled = commutes ? m : NULL;
        tasks->children = 0;
        entry->run(task->state, &message);
        if (entry->count && --task->regions[m->entry].left == 0 && commutes)
            end_region(tasks, task, m);
    }
    tasks->handled = NULL;
    tasks->running = NULL;
    free(m);
}

static bool may_run(struct rp_tasks *tasks, const struct rp_task *task,
                    const struct rp_task_message *m)
{
    const struct reprise_entry *entry = rp_task_entry(tasks, task, m->entry);

    return task->state && (!entry->ready || entry->ready(task->state, m->ref)) &&
           rp_task_order_may_run(tasks, task, m) && rp_task_trace_may_run(tasks, task, m);
}

static void retry_waiting(struct rp_tasks *tasks, struct rp_task *task)
{
    size_t at = 0;

    for (const struct rp_task_message *m = task->waiting.first; m && !tasks->has_failed;) {
        if (!may_run(tasks, task, m)) {
            m = m->next, at++;
            continue;
        }
        execute_message(tasks, task, rp_task_queue_take(&task->waiting, at));
        m = task->waiting.first, at = 0;
    }
}

static void put_ready_or_drop(struct rp_tasks *tasks, struct rp_task_message *m, bool is_duplicate)
{
    if (!is_duplicate) {
        rp_task_queue_put(&tasks->ready, m);
        return;
    }
    tasks->counts[RP_COUNT_DUPLICATES]++;
    free(m);
}

void rp_task_deliver(struct rp_tasks *tasks, struct rp_task_message *m)
{
    RP_BUG_ON(m->task >= tasks->task_count || tasks->tasks[m->task].owner != tasks->self);
    if (tasks->mode == RP_TASKS_RESTART && m->epoch < tasks->epoch)
        free(m);
    else
        put_ready_or_drop(tasks, m,
                          rp_tasks_has_log(tasks) && !rp_task_arrivals_add(tasks, m->task, &m->id));
}

/* It need not be remembered: sender and receiver die together. But a task that we took
 * over may send again what its receiver had from elsewhere. */
void rp_task_deliver_local(struct rp_tasks *tasks, struct rp_task_message *m)
{
    put_ready_or_drop(tasks, m,
                      tasks->running && tasks->running->adopted && rp_tasks_has_log(tasks) &&
                          rp_message_ids_has(&tasks->tasks[m->task].seen, &m->id));
}

static uint64_t next_random(struct rp_tasks *tasks)
{
    tasks->random ^= tasks->random << 13;
    tasks->random ^= tasks->random >> 7;
    tasks->random ^= tasks->random << 17;
    return tasks->random;
}

/* Returns whether to wait a little for others that may run before it: where messages are shuffled,
 * and there are few to shuffle. */
static bool is_patient(struct rp_tasks *tasks)
{
    enum { FEW = 3, PATIENCE = 40 };

    if (!tasks->shuffles || tasks->ready.count == 0 || tasks->ready.count > FEW ||
        tasks->idle_turns > PATIENCE)
        return false;
    tasks->idle_turns++;
    return next_random(tasks) % 8 != 0;
}

bool rp_tasks_run_one(struct rp_tasks *tasks)
{
    if (tasks->ready.count == 0 || is_patient(tasks))
        return tasks->ready.count > 0;
    tasks->idle_turns = 0;
    struct rp_task_message *m =
        rp_task_queue_take(&tasks->ready,
                           tasks->random ? next_random(tasks) % tasks->ready.count : 0);
    struct rp_task *task = &tasks->tasks[m->task];
    if (!may_run(tasks, task, m)) {
        rp_task_queue_put(&task->waiting, m);
        return true;
    }
    execute_message(tasks, task, m);
    if (task->waiting.count > 0)
        retry_waiting(tasks, task);
    return true;
}
