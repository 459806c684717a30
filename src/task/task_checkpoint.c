/* SPDX-License-Identifier: MIT */
/*
 * At the end of each run every process saves its tasks, for itself and for its buddy, the next
 * living process; when all have, the copies become the checkpoint, and the logs of messages and
 * determinants begin anew. No message is under way then, so a task starts from its copy with the
 * messages that were sent to it since: the starts of the run, which every process has, and those of
 * other processes, which keep what they sent.
 */
#include "task/task_checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "task/task_arrivals.h"
#include "task/task_execute.h"
#include "task/task_log.h"
#include "task/task_owners.h"
#include "task/task_piggyback.h"
#include "task/task_state.h"

/* The memory of a copy is used again by the next. */
void rp_task_copy_set(struct rp_task_copy *copy, const uint8_t *bytes, size_t length,
                      uint64_t version)
{
    if (copy->room < length || !copy->bytes) {
        free(copy->bytes);
        copy->bytes = malloc(length + 1);
        copy->room = length;
        RP_BUG_ON(!copy->bytes);
    }
    memcpy(copy->bytes, bytes, length);
    copy->length = length;
    copy->version = version;
}

void rp_task_copy_put(struct rp_buffer *out, uint32_t task, const struct rp_task_copy *copy)
{
    if (copy->version == 0)
        return;
    rp_buffer_varint(out, task + UINT64_C(1));
    rp_buffer_varint(out, copy->version);
    rp_buffer_string(out, copy->bytes, copy->length);
}

void rp_task_copies_take(struct rp_tasks *tasks, struct rp_view *in)
{
    for (uint64_t number; (number = rp_view_varint(in)) > 0 && !in->failed;) {
        size_t length;
        uint64_t version = rp_view_varint(in);
        const uint8_t *bytes = rp_view_string(in, &length);
        RP_BUG_ON(in->failed || number > tasks->task_count);
        struct rp_task *task = &tasks->tasks[number - 1];
        if (version == tasks->version && task->copy.version != version)
            rp_task_copy_set(&task->copy, bytes, length, version);
        else if (version == tasks->version + 1)
            rp_task_copy_set(&task->attempt, bytes, length, version);
    }
}

static void send_copies(struct rp_tasks *tasks, int to, struct rp_buffer *copies)
{
    rp_buffer_varint(copies, 0);
    tasks->counts[RP_COUNT_STORED] += copies->length;
    if (to == tasks->self)
        rp_buffer_free(copies);
    else
        rp_tasks_send_buffer(tasks, to, rp_tasks_head(tasks, RP_PARCEL_CHECKPOINT), copies);
}

void rp_task_checkpoint_make(struct rp_tasks *tasks)
{
    struct rp_buffer all = {0}, one = {0};
    int buddy = rp_owners_next_living(tasks, tasks->self);

    for (uint32_t i = 0; i < tasks->task_count; i++) {
        struct rp_task *task = &tasks->tasks[i];
        if (task->owner != tasks->self)
            continue;
        rp_buffer_clear(&one);
        rp_task_save(tasks, task, &one);
        rp_task_copy_set(&task->attempt, one.bytes, one.length, tasks->version + 1);
        rp_task_copy_put(&all, i, &task->attempt);
        if (all.length > RP_PARCEL_SPLIT)
            send_copies(tasks, buddy, &all);
    }
    send_copies(tasks, buddy, &all);
    rp_buffer_free(&one);
}

void rp_task_checkpoint_receive(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                                const uint8_t *data)
{
    struct rp_view view = rp_view_of(data, head->bytes);

    if (head->epoch == tasks->epoch)
        rp_task_copies_take(tasks, &view);
}

void rp_task_checkpoint_commit(struct rp_tasks *tasks)
{
    tasks->version++;
    for (uint32_t i = 0; i < tasks->task_count; i++) {
        struct rp_task *task = &tasks->tasks[i];
        struct rp_task_copy before = task->copy;
        task->copy = task->attempt;
        task->attempt = before;
        task->attempt.version = 0;
        if (task->copy.version != tasks->version)
            task->copy.version = 0;
        rp_task_log_clear(task);
        rp_message_ids_clear(&task->seen);
        task->held.count = task->known.count = task->followed = 0;
        task->adopted = false;
    }
    rp_buffer_clear(&tasks->arrived);
    rp_task_queue_clear(&tasks->starts);
    rp_task_piggyback_clear(tasks);
    tasks->dead_since = 0;
    tasks->has_moved = false;
}

static void deliver_starts(struct rp_tasks *tasks, uint32_t number)
{
    for (const struct rp_task_message *m = tasks->starts.first; m; m = m->next)
        if (m->task == number) {
            struct rp_task_message *again = rp_task_message_new(m, m->data);
            again->epoch = tasks->epoch;
            rp_task_deliver_local(tasks, again);
        }
}

bool rp_task_checkpoint_restore(struct rp_tasks *tasks, uint32_t number)
{
    struct rp_task *task = &tasks->tasks[number];
    struct rp_view view = rp_view_of(task->copy.bytes, task->copy.length);

    if (tasks->collections[task->collection].version ==
        tasks->version) /* there has been no checkpoint since */
        rp_task_make(tasks, task);
    else if (task->copy.version != tasks->version)
        return false;
    else
        RP_BUG_ON(!rp_task_load(tasks, task, &view));
    for (size_t i = 0; i < task->held.count; i++)
        rp_determinants_insert(&task->known, &task->held.list[i]);
    rp_task_follow_known(task);
    deliver_starts(tasks, number);
    tasks->restored++;
    return true;
}
