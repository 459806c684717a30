/* SPDX-License-Identifier: MIT */
/*
 * Where tasks live, and how they get there. The owner of a task follows from the map of its
 * collection and from the order in which processes died, so that all agree on it, whether they
 * made, or mapped, the collection before they learnt of a failure or after.
 *
 * A task moves as a copy of itself, right after a checkpoint, so that its state is also what the
 * checkpoint holds. So if a process dies meanwhile, whoever has no state of a task of its own asks
 * all others for their copy of it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "task/task.h"

/* Among the first `deaths` that died. */
static bool was_dead(const struct rp_tasks *tasks, int process, int deaths)
{
    for (int i = 0; i < deaths; i++)
        if (tasks->deaths[i] == process)
            return true;
    return false;
}

static int next_then(const struct rp_tasks *tasks, int process, int deaths)
{
    do
        process = (process + 1) % tasks->processes;
    while (was_dead(tasks, process, deaths));
    return process;
}

int rp_owners_next_living(const struct rp_tasks *tasks, int process)
{
    return next_then(tasks, process, tasks->dead_count);
}

/* The tasks of the `nth` that died go to the processes behind it, in turn. */
static void pass_on(struct rp_tasks *tasks, const struct rp_collection *c, int nth, bool *passed)
{
    int dead = tasks->deaths[nth], living = tasks->processes - nth - 1,
        spread = tasks->spread < living ? tasks->spread : living;
    int to = dead, taken = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        struct rp_task *task = &tasks->tasks[c->first + i];
        if (task->owner != dead)
            continue;
        to = next_then(tasks, taken++ % spread == 0 ? dead : to, nth + 1);
        task->owner = to;
        if (passed)
            passed[c->first + i] = true;
    }
}

void rp_owners_map(struct rp_tasks *tasks, const struct rp_collection *c,
                   int (*map)(struct reprise_index, int))
{
    for (uint32_t i = 0; i < c->count; i++) {
        struct rp_task *task = &tasks->tasks[c->first + i];
        int owner = map ? map(rp_task_index(tasks, task), tasks->processes) % tasks->processes
                        : (int)((uint64_t)i * (uint64_t)tasks->processes / c->count);
        task->owner = owner < 0 ? owner + tasks->processes : owner;
    }
    for (int nth = 0; nth < tasks->dead_count; nth++)
        pass_on(tasks, c, nth, NULL);
}

void rp_owners_died(struct rp_tasks *tasks)
{
    bool *passed = rp_task_memory(tasks->task_count * sizeof *passed);

    for (int i = 0; i < tasks->collection_count; i++)
        pass_on(tasks, &tasks->collections[i], tasks->dead_count - 1, passed);
    for (uint32_t i = 0; i < tasks->task_count; i++) {
        struct rp_task *task = &tasks->tasks[i];
        if (!passed[i])
            continue;
        task->adopted = true;
        if (task->owner == tasks->self) {
            rp_task_empty(tasks, task);
            task->due = true;
        }
    }
    free(passed);
}

/* Moves */

static void send_task(struct rp_tasks *tasks, uint32_t number)
{
    struct rp_task *task = &tasks->tasks[number];
    struct rp_parcel_head head = {.kind = RP_PARCEL_MOVE,
                                  .epoch = tasks->epoch,
                                  .stage = tasks->stage,
                                  .task = number};
    struct rp_buffer out = {0};

    rp_task_save(tasks, task, &out);
    rp_buffer_byte(&out, task->has_first);
    rp_buffer_varint(&out, task->made.count);
    for (size_t k = 0; k < task->made.count; k++)
        rp_put_determinant(&out, &task->made.list[k]);
    task->made.count = 0;
    rp_task_empty(tasks, task);
    rp_tasks_tell_buffer(tasks, task->owner, head, &out);
}

void rp_owners_move(struct rp_tasks *tasks, int collection, int (*map)(struct reprise_index, int))
{
    const struct rp_collection *c = &tasks->collections[collection];

    tasks->has_moved = true;
    rp_owners_map(tasks, c, map);
    for (uint32_t i = c->first; i < c->first + c->count; i++) {
        struct rp_task *task = &tasks->tasks[i];
        if (task->owner == tasks->self)
            task->due = !task->state;
        else if (task->state)
            send_task(tasks, i);
        else
            task->due = false; /* we were to take it over, before it moved on */
    }
    if (tasks->dead_since > 0)
        rp_owners_want(tasks);
}

static bool is_due(const struct rp_tasks *tasks, uint32_t number)
{
    return tasks->tasks[number].owner == tasks->self && tasks->tasks[number].due;
}

static void count_due(struct rp_tasks *tasks)
{
    tasks->wanted = 0;
    for (uint32_t i = 0; tasks->wants && i < tasks->task_count; i++)
        tasks->wanted += is_due(tasks, i);
    tasks->wants = tasks->wanted > 0;
}

/* What waited for its state is looked at again. */
static void wake(struct rp_tasks *tasks, struct rp_task *task)
{
    for (struct rp_task_message *m; (m = rp_queue_take(&task->waiting, 0));)
        rp_queue_put(&tasks->ready, m);
}

void rp_owners_moved(struct rp_tasks *tasks, const struct rp_parcel_head *head, const uint8_t *data)
{
    struct rp_view view = rp_view_of(data, head->bytes);
    struct rp_determinant one;

    RP_BUG_ON(head->task >= tasks->task_count);
    struct rp_task *task = &tasks->tasks[head->task];
    if (task->state) /* from a copy of the checkpoint, which is the same */
        return;
    RP_BUG_ON(!rp_task_load(tasks, task, &view));
    task->has_first = rp_view_byte(&view);
    for (uint64_t count = rp_view_varint(&view); count > 0; count--) {
        RP_BUG_ON(!rp_get_determinant(&view, &one));
        rp_determinants_add(&task->made, &one);
    }
    wake(tasks, task);
    count_due(tasks);
}

/* Copies */

/* There is no copy of what is still due. */
void rp_owners_lost(struct rp_tasks *tasks)
{
    char name[160];

    for (uint32_t i = 0; i < tasks->task_count && !tasks->is_lost; i++)
        if (is_due(tasks, i)) {
            rp_task_name(tasks, &tasks->tasks[i], name);
            rp_tasks_lost(tasks,
                          "the state of task %s is lost: both processes that held it have died "
                          "since the last checkpoint; the program must be started again",
                          name);
        }
}

void rp_owners_want(struct rp_tasks *tasks)
{
    struct rp_parcel_head head = {.kind = RP_PARCEL_WANT,
                                  .epoch = tasks->epoch,
                                  .stage = tasks->stage,
                                  .ref = ++tasks->asks};
    struct rp_buffer list = {0};

    for (uint32_t i = 0; i < tasks->task_count; i++)
        if (is_due(tasks, i) && !rp_tasks_ft_restore(tasks, i))
            rp_buffer_varint(&list, i);
    tasks->wants = true;
    count_due(tasks);
    RP_BUG_ON(list.failed);
    tasks->answers_due =
        (uint64_t)tasks->wanted * (uint64_t)(tasks->processes - tasks->dead_count - 1);
    for (int p = 0; p < tasks->processes && tasks->wanted > 0; p++)
        if (p != tasks->self && !tasks->dead[p])
            rp_tasks_tell(tasks, p, &head, list.bytes, list.length);
    rp_buffer_free(&list);
    if (tasks->answers_due == 0)
        rp_owners_lost(tasks);
}

/* Each is answered for itself, so that nothing is longer than a task: with our copy, or with
 * nothing. */
void rp_owners_wanted(struct rp_tasks *tasks, int process, const struct rp_parcel_head *wanted,
                      const uint8_t *data)
{
    struct rp_view list = rp_view_of(data, wanted->bytes);

    while (list.at < list.end) {
        uint64_t number = rp_view_varint(&list);
        static const struct rp_task_copy none;
        RP_BUG_ON(list.failed);
        const struct rp_task_copy *copy =
            number < tasks->task_count ? &tasks->tasks[number].copy : &none;
        bool has = copy->version > 0 && copy->version == tasks->version;
        struct rp_parcel_head head = {.kind = RP_PARCEL_GIVE,
                                      .epoch = tasks->epoch,
                                      .stage = tasks->stage,
                                      .task = (uint32_t)number,
                                      .srn = has,
                                      .ref = wanted->ref,
                                      .clock = copy->version};
        rp_tasks_tell(tasks, process, &head, copy->bytes, has ? copy->length : 0);
    }
}

void rp_owners_given(struct rp_tasks *tasks, const struct rp_parcel_head *head, const uint8_t *data)
{
    RP_BUG_ON(head->task >= tasks->task_count);
    struct rp_task *task = &tasks->tasks[head->task];

    if (head->srn && is_due(tasks, head->task) && head->clock == tasks->version) {
        rp_copy_set(&task->copy, data, head->bytes, head->clock);
        if (!tasks->recovering &&
            rp_tasks_ft_restore(tasks, head->task)) /* else when all is told */
            wake(tasks, task);
        count_due(tasks);
    }
    if (head->ref == tasks->asks && --tasks->answers_due == 0 && !tasks->recovering)
        rp_owners_lost(tasks);
}
