/* SPDX-License-Identifier: MIT */
/*
 * A task moves as a copy of itself, right after a checkpoint, so that its state is also what the
 * checkpoint holds. If a process dies meanwhile, a process that has no state of a task of its own
 * asks all others for their copy of it.
 */
#include "task/task_moves.h"

#include <stdlib.h>

#include "base/diagnostics.h"
#include "task/task_checkpoint.h"
#include "task/task_owners.h"
#include "task/task_state.h"

struct rp_task_moves {
    bool is_asking;       /* others, for copies of tasks that await their states */
    uint64_t requests;    /* the number of the last one */
    uint64_t replies_due; /* to that */
};

void rp_moves_init(struct rp_tasks *tasks)
{
    tasks->moves = rp_task_memory(sizeof *tasks->moves);
}

void rp_moves_free(struct rp_tasks *tasks)
{
    free(tasks->moves);
}

void rp_moves_reset(struct rp_tasks *tasks)
{
    tasks->moves->is_asking = false;
    tasks->missing = 0;
}

static void send_task(struct rp_tasks *tasks, uint32_t number)
{
    struct rp_task *task = &tasks->tasks[number];
    struct rp_parcel_head head = rp_tasks_head(tasks, RP_PARCEL_MOVE);
    struct rp_buffer out = {0};

    head.task = number;
    rp_task_save(tasks, task, &out);
    rp_buffer_byte(&out, task->first_deferred);
    rp_buffer_varint(&out, task->made.count);
    for (size_t k = 0; k < task->made.count; k++)
        rp_determinant_put(&out, &task->made.list[k]);
    task->made.count = 0;
    rp_task_empty(task);
    rp_tasks_send_buffer(tasks, task->owner, head, &out);
}

static bool awaits_state(const struct rp_tasks *tasks, uint32_t number)
{
    return tasks->tasks[number].owner == tasks->self && tasks->tasks[number].awaits_state;
}

static void count_missing(struct rp_tasks *tasks)
{
    tasks->missing = 0;
    for (uint32_t i = 0; tasks->moves->is_asking && i < tasks->task_count; i++)
        tasks->missing += awaits_state(tasks, i);
    tasks->moves->is_asking = tasks->missing > 0;
}

void rp_moves_receive(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                      const uint8_t *data)
{
    struct rp_view view = rp_view_of(data, head->bytes);
    struct rp_determinant one;

    RP_BUG_ON(head->task >= tasks->task_count);
    struct rp_task *task = &tasks->tasks[head->task];
    if (task->state) /* from a copy of the checkpoint, which is the same */
        return;
    RP_BUG_ON(!rp_task_load(tasks, task, &view));
    task->first_deferred = rp_view_byte(&view);
    for (uint64_t count = rp_view_varint(&view); count > 0; count--) {
        RP_BUG_ON(!rp_determinant_get(&view, &one));
        rp_determinants_add(&task->made, &one);
    }
    rp_task_queue_append(&tasks->ready, &task->waiting);
    count_missing(tasks);
}

void rp_moves_fail_if_awaiting(struct rp_tasks *tasks)
{
    char name[RP_TASK_NAME];

    for (uint32_t i = 0; i < tasks->task_count && !tasks->has_failed; i++)
        if (awaits_state(tasks, i)) {
            rp_task_name(tasks, &tasks->tasks[i], name);
            rp_tasks_fail(tasks,
                          "the state of task %s is lost: both processes that held it have died "
                          "since the last checkpoint; the program must be started again",
                          name);
        }
}

void rp_moves_request_copies(struct rp_tasks *tasks)
{
    struct rp_parcel_head head = rp_tasks_head(tasks, RP_PARCEL_COPY_REQUEST);
    struct rp_buffer list = {0};

    head.ref = ++tasks->moves->requests;
    for (uint32_t i = 0; i < tasks->task_count; i++)
        if (awaits_state(tasks, i) && !rp_task_checkpoint_restore(tasks, i))
            rp_buffer_varint(&list, i);
    tasks->moves->is_asking = true;
    count_missing(tasks);
    RP_BUG_ON(list.failed);
    tasks->moves->replies_due =
        (uint64_t)tasks->missing * (uint64_t)(tasks->processes - tasks->dead_count - 1);
    for (int p = 0; p < tasks->processes && tasks->missing > 0; p++)
        if (p != tasks->self && !tasks->dead[p])
            rp_tasks_send_control(tasks, p, &head, list.bytes, list.length);
    rp_buffer_free(&list);
    if (tasks->moves->replies_due == 0)
        rp_moves_fail_if_awaiting(tasks);
}

void rp_moves_begin(struct rp_tasks *tasks, int collection, int (*map)(struct reprise_index, int))
{
    const struct rp_collection *c = &tasks->collections[collection];

    tasks->has_moved = true;
    rp_owners_map(tasks, c, map);
    for (uint32_t i = c->first; i < c->first + c->count; i++) {
        struct rp_task *task = &tasks->tasks[i];
        if (task->owner == tasks->self)
            task->awaits_state = !task->state;
        else if (task->state)
            send_task(tasks, i);
        else
            task->awaits_state = false; /* we were to take it over, before it moved on */
    }
    if (tasks->dead_since > 0)
        rp_moves_request_copies(tasks);
}

/* Each is answered for itself, so that nothing is longer than a task: with our copy, or with
 * nothing. */
void rp_moves_reply(struct rp_tasks *tasks, int process, const struct rp_parcel_head *request,
                    const uint8_t *data)
{
    struct rp_view list = rp_view_of(data, request->bytes);

    while (list.at < list.end) {
        uint64_t number = rp_view_varint(&list);
        static const struct rp_task_copy none;
        RP_BUG_ON(list.failed);
        const struct rp_task_copy *copy =
            number < tasks->task_count ? &tasks->tasks[number].copy : &none;
        bool has = copy->version > 0 && copy->version == tasks->version;
        struct rp_parcel_head head = rp_tasks_head(tasks, RP_PARCEL_COPY_REPLY);
        head.task = (uint32_t)number;
        head.srn = has;
        head.ref = request->ref;
        head.clock = copy->version;
        rp_tasks_send_control(tasks, process, &head, copy->bytes, has ? copy->length : 0);
    }
}

void rp_moves_take_copy(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                        const uint8_t *data)
{
    RP_BUG_ON(head->task >= tasks->task_count);
    struct rp_task *task = &tasks->tasks[head->task];

    if (head->srn && awaits_state(tasks, head->task) && head->clock == tasks->version) {
        rp_task_copy_set(&task->copy, data, head->bytes, head->clock);
        if (!tasks->recovering &&
            rp_task_checkpoint_restore(tasks, head->task)) /* else when all have reported */
            rp_task_queue_append(&tasks->ready, &task->waiting);
        count_missing(tasks);
    }
    if (head->ref == tasks->moves->requests && --tasks->moves->replies_due == 0 &&
        !tasks->recovering)
        rp_moves_fail_if_awaiting(tasks);
}
