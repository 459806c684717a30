/* SPDX-License-Identifier: MIT */
/*
 * Determinants go with every message to other processes until enough of these have said that they
 * hold them: `copies`, so that of so many deaths and one process more, one is left that knows.
 * Whoever depends on a determinant holds it, or knows by whom sent the message that enough do. With
 * one copy that is the process that made it, and any other; with more, who is told of a determinant
 * passes it on like one of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "task/task.h"

void rp_determinants_add(struct rp_determinants *list, const struct rp_determinant *one)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 16;
        list->list = realloc(list->list, list->room * sizeof *list->list);
        RP_BUG_ON(!list->list);
    }
    list->list[list->count++] = *one;
}

/* They mostly come in order. */
bool rp_determinants_insert(struct rp_determinants *list, const struct rp_determinant *one)
{
    size_t at = list->count;

    while (at > 0 && list->list[at - 1].place > one->place)
        at--;
    if (at > 0 && list->list[at - 1].place == one->place)
        return false;
    rp_determinants_add(list, one);
    memmove(&list->list[at + 1], &list->list[at], (list->count - 1 - at) * sizeof *one);
    list->list[at] = *one;
    return true;
}

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
    *one =
        (struct rp_determinant){.task = (uint32_t)rp_view_varint(in), .place = rp_view_varint(in)};
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

static void add_fresh(struct rp_tasks *tasks, const struct rp_determinant *one)
{
    if (tasks->processes - tasks->dead_count > 1)
        rp_determinants_add(&tasks->fresh, one);
}

void rp_determinants_made(struct rp_tasks *tasks, const struct rp_determinant *one)
{
    if (rp_tasks_ft_logs(tasks))
        add_fresh(tasks, one);
}

/* Those that the process was not sent before: where parcels arrive in order, it has the others by
 * then. */
uint32_t rp_determinants_put_fresh(struct rp_tasks *tasks, int process, struct rp_buffer *out)
{
    uint64_t sent = tasks->transport.in_order ? tasks->sent_fresh[process] : 0;
    size_t first = sent > tasks->fresh_first ? (size_t)(sent - tasks->fresh_first) : 0;

    if (first >= tasks->fresh.count)
        return 0;
    rp_buffer_varint(out, tasks->fresh_first + first);
    for (size_t i = first; i < tasks->fresh.count; i++)
        rp_put_determinant(out, &tasks->fresh.list[i]);
    RP_BUG_ON(out->failed);
    tasks->sent_fresh[process] = tasks->fresh_first + tasks->fresh.count;
    return (uint32_t)(tasks->fresh.count - first);
}

void rp_determinants_hold(struct rp_tasks *tasks, int process, uint32_t count, const uint8_t *bytes,
                          size_t length)
{
    enum { MANY = 8 };
    struct rp_view view = rp_view_of(bytes, length);
    struct rp_determinant one;
    uint64_t number = rp_view_varint(&view);

    for (uint32_t i = 0; i < count; i++) {
        RP_BUG_ON(!rp_get_determinant(&view, &one) || one.task >= tasks->task_count);
        if (rp_determinants_insert(&tasks->tasks[one.task].held, &one) && tasks->copies > 1 &&
            tasks->tasks[one.task].owner != tasks->self)
            add_fresh(tasks, &one);
    }
    if (number + count > tasks->hold_due[process])
        tasks->hold_due[process] = number + count;
    if (++tasks->holds_due > MANY)
        rp_determinants_say_held(tasks);
}

/* What others told of tasks that we took over: those that we know by now. */
void rp_determinants_settle(struct rp_tasks *tasks)
{
    size_t kept = 0;

    for (size_t i = 0; i < tasks->told.count; i++) {
        const struct rp_determinant *one = &tasks->told.list[i];
        if (one->task >= tasks->task_count) {
            tasks->told.list[kept++] = *one;
            continue;
        }
        struct rp_task *task = &tasks->tasks[one->task];
        rp_determinants_insert(&task->held, one);
        if (task->owner == tasks->self && task->state && rp_determinants_insert(&task->known, one))
            rp_task_order_follow(task);
    }
    tasks->told.count = kept;
}

void rp_determinants_say_held(struct rp_tasks *tasks)
{
    for (int i = 0; tasks->holds_due > 0 && i < tasks->processes; i++) {
        struct rp_parcel_head head = {.kind = RP_PARCEL_HELD,
                                      .epoch = tasks->epoch,
                                      .stage = tasks->stage,
                                      .ref = tasks->hold_due[i]};
        if (tasks->hold_due[i] > 0 && !tasks->dead[i])
            rp_tasks_tell(tasks, i, &head, NULL, 0);
        tasks->hold_due[i] = 0;
    }
    tasks->holds_due = 0;
}

/* The number up to which enough processes hold ours. */
static uint64_t enough(const struct rp_tasks *tasks)
{
    int others = tasks->processes - tasks->dead_count - 1,
        wanted = tasks->copies < others ? tasks->copies : others;
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

void rp_determinants_forget(struct rp_tasks *tasks, uint64_t upto)
{
    uint64_t count = upto > tasks->fresh_first ? upto - tasks->fresh_first : 0;

    if (count > tasks->fresh.count)
        count = tasks->fresh.count;
    if (count == 0)
        return;
    tasks->fresh.count -= count;
    memmove(tasks->fresh.list, tasks->fresh.list + count,
            tasks->fresh.count * sizeof *tasks->fresh.list);
    tasks->fresh_first += count;
}

void rp_determinants_held(struct rp_tasks *tasks, int process, uint64_t number)
{
    if (number <= tasks->held_by[process])
        return;
    tasks->held_by[process] = number;
    rp_determinants_forget(tasks, tasks->copies == 1 ? number : enough(tasks));
}
