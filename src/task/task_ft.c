/* SPDX-License-Identifier: MIT */
/*
 * Surviving dead processes (section VII). At the end of each run every process saves its tasks, for itself and for its buddy, the next living process; when all have, the copies become the checkpoint, and the logs of messages and
 * determinants begin anew. Nothing is under way then, so a task starts from its copy with the messages that were sent to it since: the starts of the run, which every process has, and those of other processes, which keep what they sent.
 *
 * A failure begins a new epoch. All learn of failures in the same order, so each finds the same new owners for the tasks of the dead: the processes behind it, in turn. Then every process tells every other one: its stage, the copies that
 * it has of tasks that the other is to take over, and the determinants that it holds of them. When a process has heard all, it restores what it took over and goes on; messages to such tasks are sent again. Whatever a
 * restored task sends again is known by its identity, and dropped where it was received before. Everybody else goes on meanwhile.
 *
 * Who dies while checkpoints are made: the stage was over for all if it was for one. If some process has the new version, all take it, since then every copy had arrived; else all go back to running until it is quiet
 * again (RP_STAGE_AGAIN), and make them anew.
 *
 * Restart is the classical scheme: no log, no determinants; all tasks go back to the last checkpoint, and what was sent before the failure is dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "task/task.h"

bool rp_tasks_ft_logs(const struct rp_tasks *tasks)
{
    return tasks->mode == RP_TASKS_PARTIAL || tasks->mode == RP_TASKS_FULL;
}

bool rp_tasks_ft_is_on(const struct rp_tasks *tasks)
{
    return tasks->mode >= RP_TASKS_PARTIAL;
}

static int next_living(const struct rp_tasks *tasks, int process)
{
    do
        process = (process + 1) % tasks->processes;
    while (tasks->dead[process]);
    return process;
}

static void send_buffer(struct rp_tasks *tasks, int process, struct rp_parcel_head head, struct rp_buffer *buffer)
{
    RP_BUG_ON(buffer->failed);
    struct rp_parcel *parcel = rp_parcel_new(sizeof head + buffer->length);

    head.bytes = (uint32_t)buffer->length;
    memcpy(parcel->bytes, &head, sizeof head);
    if (buffer->length > 0)
        memcpy(parcel->bytes + sizeof head, buffer->bytes, buffer->length);
    rp_tasks_send_parcel(tasks, process, parcel);
    rp_buffer_free(buffer);
}

/* The log */

void rp_tasks_ft_sent(struct rp_tasks *tasks, struct rp_task *to, struct rp_parcel *parcel)
{
    if (!rp_tasks_ft_logs(tasks))
        return;
    parcel->uses++;
    if (!to->log)
        to->log_end = &to->log;
    *to->log_end = parcel;
    to->log_end = &parcel->next;
    tasks->counts[RP_COUNT_LOG_BYTES] += parcel->length;
}

static void clear_log(struct rp_task *task)
{
    for (struct rp_parcel *parcel = task->log, *next; parcel; parcel = next) {
        next = parcel->next;
        parcel->next = NULL;
        rp_parcel_drop(parcel);
    }
    task->log = NULL;
}

/* Determinants: with every message to others until enough of them hold it. */

void rp_put_determinant(struct rp_buffer *out, const struct rp_determinant *one)
{
    rp_buffer_varint(out, one->task);
    rp_buffer_varint(out, one->place);
    rp_buffer_varint(out, one->id.spe);
    rp_buffer_varint(out, one->id.srn);
    rp_buffer_varint(out, one->id.cpi.bits);
    rp_buffer_put(out, one->id.cpi.bytes, (one->id.cpi.bits + 7u) / 8);
}

bool rp_get_determinant(struct rp_view *in, struct rp_determinant *one)
{
    *one = (struct rp_determinant){.task = (uint32_t)rp_view_varint(in), .place = rp_view_varint(in)};
    one->id.spe = (uint32_t)rp_view_varint(in);
    one->id.srn = (uint32_t)rp_view_varint(in);
    uint64_t bits = rp_view_varint(in);
    if (in->failed || bits > RP_CPI_BITS || (size_t)(in->end - in->at) < (bits + 7) / 8)
        return false;
    one->id.cpi.bits = (uint16_t)bits;
    for (uint64_t i = 0; i < (bits + 7) / 8; i++)
        one->id.cpi.bytes[i] = rp_view_byte(in);
    return true;
}

void rp_tasks_ft_determinant(struct rp_tasks *tasks, const struct rp_determinant *one)
{
    if (rp_tasks_ft_logs(tasks) && tasks->processes - tasks->dead_count > 1)
        rp_determinants_add(&tasks->fresh, one);
}

uint32_t rp_tasks_ft_put_fresh(struct rp_tasks *tasks, struct rp_buffer *out)
{
    if (tasks->fresh.count == 0)
        return 0;
    rp_buffer_varint(out, tasks->fresh_first);
    for (size_t i = 0; i < tasks->fresh.count; i++)
        rp_put_determinant(out, &tasks->fresh.list[i]);
    RP_BUG_ON(out->failed);
    return (uint32_t)tasks->fresh.count;
}

/* By place, each once. They mostly come in order. */
static void insert(struct rp_determinants *list, const struct rp_determinant *one)
{
    size_t at = list->count;

    while (at > 0 && list->list[at - 1].place > one->place)
        at--;
    if (at > 0 && list->list[at - 1].place == one->place)
        return;
    rp_determinants_add(list, one);
    memmove(&list->list[at + 1], &list->list[at], (list->count - 1 - at) * sizeof *one);
    list->list[at] = *one;
}

void rp_tasks_ft_hold(struct rp_tasks *tasks, int process, uint32_t count, const uint8_t *bytes, size_t length)
{
    struct rp_view view = rp_view_of(bytes, length);
    struct rp_determinant one;
    uint64_t number = rp_view_varint(&view);

    for (uint32_t i = 0; i < count; i++) {
        RP_BUG_ON(!rp_get_determinant(&view, &one) || one.task >= tasks->task_count);
        insert(&tasks->tasks[one.task].held, &one);
    }
    if (number + count > tasks->hold_due[process])
        tasks->hold_due[process] = number + count;
    tasks->holds_due++;
    if (tasks->holds_due > 8)
        rp_tasks_ft_flush_held(tasks);
}

void rp_tasks_ft_flush_held(struct rp_tasks *tasks)
{
    for (int i = 0; tasks->holds_due > 0 && i < tasks->processes; i++) {
        struct rp_parcel_head head = {.kind = RP_PARCEL_HELD, .epoch = tasks->epoch, .stage = tasks->stage, .ref = tasks->hold_due[i]};
        struct rp_buffer nothing = {0};
        if (tasks->hold_due[i] > 0 && !tasks->dead[i])
            send_buffer(tasks, i, head, &nothing);
        tasks->hold_due[i] = 0;
    }
    tasks->holds_due = 0;
}

/* The number up to which enough processes hold ours. */
static uint64_t enough(const struct rp_tasks *tasks)
{
    int others = tasks->processes - tasks->dead_count - 1, wanted = tasks->copies < others ? tasks->copies : others;
    uint64_t best = 0;

    for (int i = 0; i < tasks->processes; i++) {
        int same = 0;
        for (int k = 0; k < tasks->processes; k++)
            same += !tasks->dead[k] && tasks->held_by[k] >= tasks->held_by[i];
        if (same >= wanted && tasks->held_by[i] > best)
            best = tasks->held_by[i];
    }
    return best;
}

static void forget_fresh(struct rp_tasks *tasks, uint64_t upto)
{
    uint64_t count = upto > tasks->fresh_first ? upto - tasks->fresh_first : 0;

    if (count > tasks->fresh.count)
        count = tasks->fresh.count;
    if (count == 0)
        return;
    tasks->fresh.count -= count;
    memmove(tasks->fresh.list, tasks->fresh.list + count, tasks->fresh.count * sizeof *tasks->fresh.list);
    tasks->fresh_first += count;
}

void rp_tasks_ft_held(struct rp_tasks *tasks, int process, uint64_t number)
{
    if (number <= tasks->held_by[process])
        return;
    tasks->held_by[process] = number;
    forget_fresh(tasks, tasks->copies == 1 ? number : enough(tasks));
}

/* Checkpoints */

static void set_copy(struct rp_task_copy *copy, const uint8_t *bytes, size_t length, uint64_t version)
{
    free(copy->bytes);
    *copy = (struct rp_task_copy){malloc(length + 1), length, version};
    RP_BUG_ON(!copy->bytes);
    memcpy(copy->bytes, bytes, length);
}

static void drop_copy(struct rp_task_copy *copy)
{
    free(copy->bytes);
    *copy = (struct rp_task_copy){0};
}

static void put_copy(struct rp_buffer *out, uint32_t task, const struct rp_task_copy *copy)
{
    if (!copy->bytes)
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
        if (version == tasks->version && !task->copy.bytes)
            set_copy(&task->copy, bytes, length, version);
        else if (version == tasks->version + 1)
            set_copy(&task->attempt, bytes, length, version);
    }
}

void rp_tasks_ft_store(struct rp_tasks *tasks)
{
    struct rp_buffer all = {0}, one = {0};
    struct rp_parcel_head head = {.kind = RP_PARCEL_STORE, .epoch = tasks->epoch, .stage = tasks->stage};
    int buddy = next_living(tasks, tasks->self);

    for (uint32_t i = 0; i < tasks->task_count; i++) {
        struct rp_task *task = &tasks->tasks[i];
        if (task->owner != tasks->self)
            continue;
        rp_buffer_clear(&one);
        rp_task_save(tasks, task, &one);
        set_copy(&task->attempt, one.bytes, one.length, tasks->version + 1);
        put_copy(&all, i, &task->attempt);
    }
    rp_buffer_varint(&all, 0);
    tasks->counts[RP_COUNT_STORED] += all.length;
    if (buddy != tasks->self)
        send_buffer(tasks, buddy, head, &all);
    rp_buffer_free(&all);
    rp_buffer_free(&one);
}

void rp_tasks_ft_stored(struct rp_tasks *tasks, const struct rp_parcel_head *head, const uint8_t *data)
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
        drop_copy(&task->copy);
        if (task->attempt.version == tasks->version) {
            task->copy = task->attempt;
            task->attempt = (struct rp_task_copy){0};
        } else
            drop_copy(&task->attempt);
        clear_log(task);
        rp_identities_clear(&task->seen);
        task->held.count = task->known.count = task->followed = 0;
        task->adopted = false;
    }
    rp_queue_clear(&tasks->starts);
    forget_fresh(tasks, UINT64_MAX);
    tasks->dead_since = 0;
}

/* Moves */

void rp_tasks_ft_move(struct rp_tasks *tasks, int collection, int (*map)(struct reprise_index, int))
{
    struct rp_collection *c = &tasks->collections[collection];

    for (uint32_t i = c->first; i < c->first + c->count; i++) {
        struct rp_task *task = &tasks->tasks[i];
        int was = task->owner, to = map(rp_task_index(tasks, task), tasks->processes) % tasks->processes;
        to = to < 0 ? to + tasks->processes : to;
        task->owner = tasks->dead[to] ? next_living(tasks, to) : to;
        task->due = task->owner == tasks->self && !task->state;
        if (was != tasks->self || task->owner == tasks->self)
            continue;
        struct rp_buffer out = {0};
        struct rp_parcel_head head = {.kind = RP_PARCEL_MOVE, .epoch = tasks->epoch, .stage = tasks->stage, .task = i};
        rp_task_save(tasks, task, &out);
        rp_buffer_byte(&out, task->has_first);
        rp_buffer_varint(&out, task->made.count);
        for (size_t k = 0; k < task->made.count; k++)
            rp_put_determinant(&out, &task->made.list[k]);
        task->made.count = 0;
        rp_task_empty(tasks, task);
        send_buffer(tasks, task->owner, head, &out);
    }
}

void rp_tasks_ft_moved(struct rp_tasks *tasks, const struct rp_parcel_head *head, const uint8_t *data)
{
    struct rp_view view = rp_view_of(data, head->bytes);
    struct rp_determinant one;

    RP_BUG_ON(head->task >= tasks->task_count);
    struct rp_task *task = &tasks->tasks[head->task];
    RP_BUG_ON(!rp_task_load(tasks, task, &view));
    task->has_first = rp_view_byte(&view);
    for (uint64_t count = rp_view_varint(&view); count > 0; count--) {
        RP_BUG_ON(!rp_get_determinant(&view, &one));
        rp_determinants_add(&task->made, &one);
    }
}

/* Failures */

static bool has_dependent(const struct rp_tasks *tasks)
{
    for (int i = 0; i < tasks->collection_count; i++)
        if (tasks->collections[i].has_dependent)
            return true;
    return false;
}

/* The tasks of the dead go to the processes behind it, in turn. */
static void find_owners(struct rp_tasks *tasks, int dead)
{
    int living = tasks->processes - tasks->dead_count, spread = tasks->spread < living ? tasks->spread : living;
    int to = dead, taken = 0;

    for (uint32_t i = 0; i < tasks->task_count; i++) {
        struct rp_task *task = &tasks->tasks[i];
        if (task->owner != dead)
            continue;
        to = next_living(tasks, taken++ % spread == 0 ? dead : to);
        task->owner = to;
        task->adopted = true;
        if (to == tasks->self) {
            rp_task_empty(tasks, task);
            task->due = true;
        }
    }
}

static void tell_recovery(struct rp_tasks *tasks, int to)
{
    struct rp_parcel_head head = {.kind = RP_PARCEL_RECOVERY, .epoch = tasks->epoch, .stage = tasks->stage, .ref = tasks->version};
    struct rp_buffer out = {0};
    bool is_buddy = next_living(tasks, tasks->self) == to;

    for (uint32_t i = 0; i < tasks->task_count; i++) {
        const struct rp_task *task = &tasks->tasks[i];
        if ((task->adopted && task->owner == to) || (is_buddy && task->owner == tasks->self && tasks->buddy_changed)) {
            put_copy(&out, i, &task->copy);
            put_copy(&out, i, &task->attempt);
        }
    }
    rp_buffer_varint(&out, 0);
    for (uint32_t i = 0; i < tasks->task_count; i++) {
        const struct rp_task *task = &tasks->tasks[i];
        for (size_t k = 0; task->adopted && task->owner == to && k < task->held.count; k++)
            rp_put_determinant(&out, &task->held.list[k]);
    }
    send_buffer(tasks, to, head, &out);
}

static void deliver_starts(struct rp_tasks *tasks, uint32_t number)
{
    for (const struct rp_task_message *m = tasks->starts.first; m; m = m->next)
        if (m->task == number) {
            struct rp_task_message *again = rp_message_copy(m);
            again->epoch = tasks->epoch;
            rp_tasks_deliver(tasks, again);
        }
}

static void restore(struct rp_tasks *tasks, struct rp_task *task)
{
    struct rp_view view = rp_view_of(task->copy.bytes, task->copy.length);
    char name[160];

    rp_task_name(tasks, task, name);
    if (tasks->version == 0)
        rp_task_make(tasks, task);
    else if (!task->copy.bytes || task->copy.version != tasks->version || !rp_task_load(tasks, task, &view)) {
        rp_tasks_lost(tasks, "the state of task %s is lost: both processes that held it have died since the last checkpoint; the program must be started again", name);
        return;
    }
    for (size_t i = 0; i < task->held.count; i++)
        insert(&task->known, &task->held.list[i]);
    rp_order_follow(task);
    tasks->restored++;
}

/* What we sent to tasks that others took over. */
static void send_again(struct rp_tasks *tasks, struct rp_task *task)
{
    for (const struct rp_parcel *parcel = task->log; parcel && task->adopted; parcel = parcel->next) {
        struct rp_parcel_head head;
        struct rp_parcel *again = rp_parcel_new(parcel->length);
        memcpy(again->bytes, parcel->bytes, parcel->length);
        memcpy(&head, again->bytes, sizeof head);
        head.epoch = tasks->epoch;
        memcpy(again->bytes, &head, sizeof head);
        rp_tasks_send_parcel(tasks, task->owner, again); /* also to ourselves */
    }
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
    } while (tasks->stage < tasks->told_stage || (tasks->kind == RP_STAGE_STORE && tasks->told_version <= tasks->version));
}

static void recover(struct rp_tasks *tasks)
{
    find_stage(tasks);
    for (uint32_t i = 0; i < tasks->task_count; i++)
        drop_copy(&tasks->tasks[i].attempt);
    tasks->recovering = false;
    tasks->buddy_changed = false;
    for (uint32_t i = 0; i < tasks->task_count && !tasks->is_lost; i++) {
        struct rp_task *task = &tasks->tasks[i];
        if (task->owner == tasks->self && task->due) {
            restore(tasks, task);
            deliver_starts(tasks, i);
        }
        send_again(tasks, task);
    }
    if (!tasks->is_lost)
        rp_stage_begin(tasks, tasks->kind);
}

static void look_whether_all_told(struct rp_tasks *tasks)
{
    for (int i = 0; i < tasks->processes; i++)
        if (!tasks->dead[i] && !tasks->told[i])
            return;
    recover(tasks);
}

static void hear(struct rp_tasks *tasks, int process, const struct rp_parcel_head *head, const uint8_t *data)
{
    struct rp_view view = rp_view_of(data, head->bytes);
    struct rp_determinant one;

    take_copies(tasks, &view);
    while (view.at < view.end) {
        RP_BUG_ON(!rp_get_determinant(&view, &one) || one.task >= tasks->task_count);
        insert(&tasks->tasks[one.task].held, &one);
    }
    tasks->told[process] = true;
    if (head->stage > tasks->told_stage)
        tasks->told_stage = head->stage;
    if (head->ref > tasks->told_version)
        tasks->told_version = head->ref;
}

/* Heard before we knew of the failure ourselves: kept until then. */
void rp_tasks_ft_told(struct rp_tasks *tasks, int process, const struct rp_parcel_head *head, const uint8_t *data)
{
    if (head->epoch > tasks->epoch) {
        struct rp_told_early *early = rp_task_memory(sizeof *early + head->bytes);
        *early = (struct rp_told_early){.next = tasks->told_early, .process = process, .head = *head};
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
        rp_tasks_lost(tasks, "process %d has died, and there is no fault tolerance: REPRISE_TASKS=partial, full or restart", process);
    else if (tasks->kind == RP_STAGE_MOVE)
        rp_tasks_lost(tasks, "process %d has died while tasks moved to other processes, which cannot be repaired", process);
    else if (rp_tasks_ft_logs(tasks) && tasks->dead_since > tasks->copies && (tasks->mode == RP_TASKS_FULL || has_dependent(tasks)))
        rp_tasks_lost(tasks, "%d processes have died since the last checkpoint, but determinants are held by %d others only (REPRISE_TASKS_COPIES): the order of messages may be lost", tasks->dead_since, tasks->copies);
    return !tasks->is_lost;
}

void rp_tasks_ft_failed(struct rp_tasks *tasks, int process)
{
    bool buddy = next_living(tasks, tasks->self) == process;

    if (tasks->dead[process])
        return;
    tasks->dead[process] = true;
    tasks->dead_count++;
    tasks->dead_since++;
    if (!can_go_on(tasks, process))
        return;
    tasks->epoch++;
    tasks->buddy_changed |= buddy;
    tasks->recovering = true;
    tasks->told_stage = tasks->stage;
    tasks->told_version = tasks->version;
    tasks->hold_due[process] = 0;
    memset(tasks->told, 0, (size_t)tasks->processes);
    tasks->told[tasks->self] = true;
    find_owners(tasks, process);
    if (tasks->mode == RP_TASKS_RESTART)
        go_back(tasks);
    rp_stage_reset(tasks);
    for (int i = 0; i < tasks->processes; i++)
        if (i != tasks->self && !tasks->dead[i])
            tell_recovery(tasks, i);
    hear_early(tasks);
    look_whether_all_told(tasks);
}
