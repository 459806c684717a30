/* SPDX-License-Identifier: MIT */
/*
 * Surviving dead processes (section VII). At the end of each run every process saves its tasks, for
 * itself and for its buddy, the next living process; when all have, the copies become the
 * checkpoint, and the logs of messages and determinants begin anew. Nothing is under way then, so a
 * task starts from its copy with the messages that were sent to it since: the starts of the run,
 * which every process has, and those of other processes, which keep what they sent.
 *
 * A failure begins a new epoch. All learn of failures in the same order, so each finds the same new
 * owners for the tasks of the dead: the processes behind it, in turn. Then every process tells
 * every other one: its stage, the copies that it has of tasks that the other is to take over, and
 * the determinants that it holds of them. When a process has heard all, it restores what it took
 * over and goes on; messages to such tasks are sent again. Whatever a restored task sends again is
 * known by its identity, and dropped where it was received before. Everybody else goes on
 * meanwhile.
 *
 * What is told may be of the run behind the checkpoint that we have yet to take, and of a
 * collection that we have yet to make: determinants are kept aside until then.
 *
 * Who dies while checkpoints are made: the stage was over for all if it was for one. If some
 * process has the new version, all take it, since then every copy had arrived; else all go back to
 * running until it is quiet again (RP_STAGE_AGAIN), and make them anew.
 *
 * Restart is the classical scheme: no log, no determinants; all tasks go back to the last
 * checkpoint, and what was sent before the failure is dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "task/task.h"

bool rp_tasks_ft_logs(const struct rp_tasks *tasks)
{
    return tasks->mode == RP_TASKS_PARTIAL || tasks->mode == RP_TASKS_FULL;
}

bool rp_tasks_ft_is_on(const struct rp_tasks *tasks)
{
    return tasks->mode >= RP_TASKS_PARTIAL;
}

/* Checkpoints */

/* The memory of a copy is used again by the next. */
void rp_copy_set(struct rp_task_copy *copy, const uint8_t *bytes, size_t length, uint64_t version)
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

static void put_copy(struct rp_buffer *out, uint32_t task, const struct rp_task_copy *copy)
{
    if (copy->version == 0)
        return;
    rp_buffer_varint(out, task + UINT64_C(1));
    rp_buffer_varint(out, copy->version);
    rp_buffer_string(out, copy->bytes, copy->length);
}

/* Copies, up to the 0 behind them. */
static void take_copies(struct rp_tasks *tasks, struct rp_view *in)
{
    for (uint64_t number; (number = rp_view_varint(in)) > 0 && !in->failed;) {
        size_t length;
        uint64_t version = rp_view_varint(in);
        const uint8_t *bytes = rp_view_string(in, &length);
        RP_BUG_ON(in->failed || number > tasks->task_count);
        struct rp_task *task = &tasks->tasks[number - 1];
        if (version == tasks->version && task->copy.version != version)
            rp_copy_set(&task->copy, bytes, length, version);
        else if (version == tasks->version + 1)
            rp_copy_set(&task->attempt, bytes, length, version);
    }
}

/* Parcels of many tasks are cut here: MPI counts bytes by an int. */
enum { PART = 1 << 26 };

static void send_copies(struct rp_tasks *tasks, int to, struct rp_buffer *copies)
{
    struct rp_parcel_head head = {.kind = RP_PARCEL_STORE,
                                  .epoch = tasks->epoch,
                                  .stage = tasks->stage};

    rp_buffer_varint(copies, 0);
    tasks->counts[RP_COUNT_STORED] += copies->length;
    if (to == tasks->self)
        rp_buffer_free(copies);
    else
        rp_tasks_tell_buffer(tasks, to, head, copies);
}

void rp_tasks_ft_store(struct rp_tasks *tasks)
{
    struct rp_buffer all = {0}, one = {0};
    int buddy = rp_owners_next_living(tasks, tasks->self);

    for (uint32_t i = 0; i < tasks->task_count; i++) {
        struct rp_task *task = &tasks->tasks[i];
        if (task->owner != tasks->self)
            continue;
        rp_buffer_clear(&one);
        rp_task_save(tasks, task, &one);
        rp_copy_set(&task->attempt, one.bytes, one.length, tasks->version + 1);
        put_copy(&all, i, &task->attempt);
        if (all.length > PART)
            send_copies(tasks, buddy, &all);
    }
    send_copies(tasks, buddy, &all);
    rp_buffer_free(&one);
}

void rp_tasks_ft_stored(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                        const uint8_t *data)
{
    struct rp_view view = rp_view_of(data, head->bytes);

    if (head->epoch == tasks->epoch)
        take_copies(tasks, &view);
}

void rp_tasks_ft_commit(struct rp_tasks *tasks)
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
    rp_queue_clear(&tasks->starts);
    rp_determinants_forget(tasks, UINT64_MAX);
    tasks->dead_since = 0;
    tasks->has_moved = false;
}

/* Failures */

static bool has_dependent(const struct rp_tasks *tasks)
{
    for (int i = 0; i < tasks->collection_count; i++)
        if (tasks->collections[i].has_dependent)
            return true;
    return false;
}

/* What is told of a failure, in as many parcels as it takes; the last says how many these are. */
struct told {
    struct rp_tasks *tasks;
    int to;
    uint32_t parts;
    bool has_ended; /* the copies; determinants follow */
    struct rp_buffer out;
};

static void send_part(struct told *told, bool is_last)
{
    struct rp_tasks *tasks = told->tasks;
    struct rp_parcel_head head = {.kind = RP_PARCEL_RECOVERY,
                                  .epoch = tasks->epoch,
                                  .stage = tasks->stage,
                                  .entry = tasks->has_moved,
                                  .srn = is_last ? told->parts + 1 : 0,
                                  .ref = tasks->version};

    if (!told->has_ended)
        rp_buffer_varint(&told->out, 0);
    told->has_ended = false;
    told->parts++;
    rp_tasks_tell_buffer(tasks, told->to, head, &told->out);
}

static void tell_copies(struct told *told, uint32_t number)
{
    const struct rp_task *task = &told->tasks->tasks[number];

    put_copy(&told->out, number, &task->copy);
    put_copy(&told->out, number, &task->attempt);
    if (told->out.length > PART)
        send_part(told, false);
}

static void tell_determinants(struct told *told, const struct rp_task *task)
{
    for (size_t k = 0; k < task->held.count; k++) {
        if (!told->has_ended)
            rp_buffer_varint(&told->out, 0);
        told->has_ended = true;
        rp_put_determinant(&told->out, &task->held.list[k]);
        if (told->out.length > PART)
            send_part(told, false);
    }
}

static void tell_recovery(struct rp_tasks *tasks, int to)
{
    struct told told = {.tasks = tasks, .to = to};
    bool is_buddy = rp_owners_next_living(tasks, tasks->self) == to;

    for (uint32_t i = 0; i < tasks->task_count; i++) {
        const struct rp_task *task = &tasks->tasks[i];
        if ((task->adopted && task->owner == to) ||
            (is_buddy && task->owner == tasks->self && tasks->buddy_changed))
            tell_copies(&told, i);
    }
    for (uint32_t i = 0; i < tasks->task_count; i++)
        if (tasks->tasks[i].adopted && tasks->tasks[i].owner == to)
            tell_determinants(&told, &tasks->tasks[i]);
    send_part(&told, true);
}

static void deliver_starts(struct rp_tasks *tasks, uint32_t number)
{
    for (const struct rp_task_message *m = tasks->starts.first; m; m = m->next)
        if (m->task == number) {
            struct rp_task_message *again = rp_message_copy(m);
            again->epoch = tasks->epoch;
            rp_tasks_deliver_here(tasks, again);
        }
}

/* False: there is no copy here. */
bool rp_tasks_ft_restore(struct rp_tasks *tasks, uint32_t number)
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
    rp_task_order_follow(task);
    deliver_starts(tasks, number);
    tasks->restored++;
    return true;
}

/* At once: what comes from now on is of the new epoch. */
static void go_back(struct rp_tasks *tasks)
{
    rp_queue_clear(&tasks->ready);
    for (uint32_t i = 0; i < tasks->task_count; i++)
        if (tasks->tasks[i].owner == tasks->self) {
            rp_task_empty(tasks, &tasks->tasks[i]);
            tasks->tasks[i].due = true;
        }
}

static void find_stage(struct rp_tasks *tasks)
{
    do {
        if (tasks->kind == RP_STAGE_STORE && tasks->told_version <= tasks->version) {
            tasks->stage++;
            tasks->kind = RP_STAGE_AGAIN;
        } else if (tasks->stage < tasks->told_stage)
            rp_stage_next(tasks);
    } while (tasks->stage < tasks->told_stage ||
             (tasks->kind == RP_STAGE_STORE && tasks->told_version <= tasks->version));
}

static void recover(struct rp_tasks *tasks)
{
    bool all_here = true;

    find_stage(tasks);
    if (tasks->dead_since == 0) { /* of the checkpoint that was just taken, too */
        rp_task_log_expect_again(tasks);
        tasks->dead_since = 1;
    }
    rp_determinants_settle(tasks);
    tasks->recovering = tasks->buddy_changed = tasks->wants = false;
    tasks->wanted = 0;
    for (uint32_t i = 0; i < tasks->task_count; i++) {
        struct rp_task *task = &tasks->tasks[i];
        task->attempt.version = 0;
        if (task->owner == tasks->self && task->due && !rp_tasks_ft_restore(tasks, i))
            all_here = false;
        if (task->adopted)
            rp_task_log_send_again(tasks, task);
    }
    rp_stage_begin(tasks, tasks->kind);
    if (!all_here && tasks->told_move) /* who has copies may not have known that they are for us */
        rp_owners_want(tasks);
    else if (!all_here)
        rp_owners_lost(tasks);
}

static void look_whether_all_told(struct rp_tasks *tasks)
{
    for (int i = 0; i < tasks->processes; i++)
        if (i != tasks->self && !tasks->dead[i] &&
            (tasks->heard[i] == 0 || tasks->heard[i] != tasks->parts[i]))
            return;
    recover(tasks);
}

static void hear(struct rp_tasks *tasks, int process, const struct rp_parcel_head *head,
                 const uint8_t *data)
{
    struct rp_view view = rp_view_of(data, head->bytes);
    struct rp_determinant one;

    take_copies(tasks, &view);
    while (view.at < view.end) {
        RP_BUG_ON(!rp_get_determinant(&view, &one));
        rp_determinants_add(&tasks->told, &one);
    }
    tasks->heard[process]++;
    tasks->told_move |= head->entry;
    if (head->srn > 0)
        tasks->parts[process] = head->srn;
    if (head->stage > tasks->told_stage)
        tasks->told_stage = head->stage;
    if (head->ref > tasks->told_version)
        tasks->told_version = head->ref;
}

/* Heard before we knew of the failure ourselves: kept until then. */
void rp_tasks_ft_told(struct rp_tasks *tasks, int process, const struct rp_parcel_head *head,
                      const uint8_t *data)
{
    if (head->epoch > tasks->epoch) {
        struct rp_told_early *early = rp_task_memory(sizeof *early + head->bytes);
        *early =
            (struct rp_told_early){.next = tasks->told_early, .process = process, .head = *head};
        memcpy(early->data, data, head->bytes);
        tasks->told_early = early;
    } else if (head->epoch == tasks->epoch && tasks->recovering) {
        hear(tasks, process, head, data);
        look_whether_all_told(tasks);
    }
}

static void hear_early(struct rp_tasks *tasks)
{
    for (struct rp_told_early **at = &tasks->told_early; *at;) {
        struct rp_told_early *early = *at;
        if (early->head.epoch > tasks->epoch) {
            at = &early->next;
            continue;
        }
        if (early->head.epoch == tasks->epoch && !tasks->dead[early->process])
            hear(tasks, early->process, &early->head, early->data);
        *at = early->next;
        free(early);
    }
}

static bool can_go_on(struct rp_tasks *tasks, int process)
{
    if (!rp_tasks_ft_is_on(tasks))
        rp_tasks_lost(tasks,
                      "process %d has died, and there is no fault tolerance: "
                      "REPRISE_TASKS=partial, full or restart",
                      process);
    else if (rp_tasks_ft_logs(tasks) && tasks->dead_since > tasks->copies &&
             (tasks->mode == RP_TASKS_FULL || has_dependent(tasks)))
        rp_tasks_lost(tasks,
                      "%d processes have died since the last checkpoint, but determinants are held "
                      "by %d others only (REPRISE_TASKS_COPIES): the order of messages may be lost",
                      tasks->dead_since, tasks->copies);
    return !tasks->is_lost;
}

void rp_tasks_ft_failed(struct rp_tasks *tasks, int process)
{
    bool buddy = rp_owners_next_living(tasks, tasks->self) == process;

    if (tasks->dead[process])
        return;
    rp_task_log_expect_again(tasks);
    tasks->dead[process] = true;
    tasks->deaths[tasks->dead_count++] = process;
    tasks->dead_since++;
    if (!can_go_on(tasks, process))
        return;
    tasks->epoch++;
    tasks->buddy_changed |= buddy;
    tasks->recovering = true;
    tasks->told_stage = tasks->stage;
    tasks->told_version = tasks->version;
    tasks->told_move = tasks->has_moved;
    tasks->hold_due[process] = 0;
    tasks->told.count = 0;
    memset(tasks->heard, 0, (size_t)tasks->processes * sizeof *tasks->heard);
    memset(tasks->parts, 0, (size_t)tasks->processes * sizeof *tasks->parts);
    rp_owners_died(tasks);
    if (tasks->mode == RP_TASKS_RESTART)
        go_back(tasks);
    rp_stage_reset(tasks);
    for (int i = 0; i < tasks->processes; i++)
        if (i != tasks->self && !tasks->dead[i])
            tell_recovery(tasks, i);
    hear_early(tasks);
    look_whether_all_told(tasks);
}
