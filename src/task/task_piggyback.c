/* SPDX-License-Identifier: MIT */
/*
 * Determinants go with every message to other processes until enough of these have acknowledged
 * that they hold them: `determinant_copies`, so that of so many deaths and one process more, one is
 * left that knows. A process that depends on a determinant holds it, or its sender knows that
 * enough processes do. With one copy that is the process that made it, and any other; with more,
 * a process that receives a determinant passes it on like one of its own.
 */
#include "task/task_piggyback.h"

#include <stdlib.h>

#include "base/diagnostics.h"

struct rp_task_piggyback {
    struct rp_determinants unstable; /* that not enough others hold */
    uint64_t first;                  /* the number of the first of them */
    uint64_t *sent;                  /* to each process: up to this number */
    uint64_t *acknowledged;          /* by each process: up to this number */
    uint64_t *due;      /* by process: which of its numbers is still to be sent to it; 0: none */
    unsigned due_count; /* messages since this process acknowledged any */
};

void rp_task_piggyback_init(struct rp_tasks *tasks)
{
    struct rp_task_piggyback *p = tasks->piggyback = rp_task_memory(sizeof *p);

    p->sent = rp_task_memory((size_t)tasks->processes * sizeof *p->sent);
    p->acknowledged = rp_task_memory((size_t)tasks->processes * sizeof *p->acknowledged);
    p->due = rp_task_memory((size_t)tasks->processes * sizeof *p->due);
}

void rp_task_piggyback_free(struct rp_tasks *tasks)
{
    free(tasks->piggyback->unstable.list);
    free(tasks->piggyback->sent);
    free(tasks->piggyback->acknowledged);
    free(tasks->piggyback->due);
    free(tasks->piggyback);
}

static void add_unstable(struct rp_tasks *tasks, const struct rp_determinant *one)
{
    if (tasks->processes - tasks->dead_count > 1)
        rp_determinants_add(&tasks->piggyback->unstable, one);
}

void rp_task_piggyback_made(struct rp_tasks *tasks, const struct rp_determinant *one)
{
    if (rp_tasks_has_log(tasks))
        add_unstable(tasks, one);
}

/* Those that the process was not sent before: where parcels arrive in order, it has the others by
 * then. */
uint32_t rp_task_piggyback_put(struct rp_tasks *tasks, int process, struct rp_buffer *out)
{
    struct rp_task_piggyback *p = tasks->piggyback;
    uint64_t sent = tasks->transport.in_order ? p->sent[process] : 0;
    size_t first = sent > p->first ? (size_t)(sent - p->first) : 0;

    if (first >= p->unstable.count)
        return 0;
    rp_buffer_varint(out, p->first + first);
    for (size_t i = first; i < p->unstable.count; i++)
        rp_determinant_put(out, &p->unstable.list[i]);
    RP_BUG_ON(out->failed);
    p->sent[process] = p->first + p->unstable.count;
    return (uint32_t)(p->unstable.count - first);
}

void rp_task_piggyback_take(struct rp_tasks *tasks, int process, uint32_t count,
                            const uint8_t *bytes, size_t length)
{
    enum { MANY = 8 };
    struct rp_task_piggyback *p = tasks->piggyback;
    struct rp_view view = rp_view_of(bytes, length);
    struct rp_determinant one;
    uint64_t number = rp_view_varint(&view);

    for (uint32_t i = 0; i < count; i++) {
        RP_BUG_ON(!rp_determinant_get(&view, &one) || one.task >= tasks->task_count);
        if (rp_determinants_insert(&tasks->tasks[one.task].held, &one) &&
            tasks->determinant_copies > 1 && tasks->tasks[one.task].owner != tasks->self)
            add_unstable(tasks, &one);
    }
    if (number + count > p->due[process])
        p->due[process] = number + count;
    if (++p->due_count > MANY)
        rp_task_piggyback_acknowledge(tasks);
}

void rp_task_piggyback_acknowledge(struct rp_tasks *tasks)
{
    struct rp_task_piggyback *p = tasks->piggyback;

    for (int i = 0; p->due_count > 0 && i < tasks->processes; i++) {
        struct rp_parcel_head head = rp_tasks_head(tasks, RP_PARCEL_ACKNOWLEDGE);
        head.ref = p->due[i];
        if (p->due[i] > 0 && !tasks->dead[i])
            rp_tasks_send_control(tasks, i, &head, NULL, 0);
        p->due[i] = 0;
    }
    p->due_count = 0;
}

/* The number up to which enough processes hold ours. */
static uint64_t stable(const struct rp_tasks *tasks)
{
    const uint64_t *acknowledged = tasks->piggyback->acknowledged;
    int others = tasks->processes - tasks->dead_count - 1,
        wanted = tasks->determinant_copies < others ? tasks->determinant_copies : others;
    uint64_t best = 0;

    for (int i = 0; i < tasks->processes; i++) {
        int same = 0;
        for (int k = 0; k < tasks->processes; k++)
            same += !tasks->dead[k] && acknowledged[k] >= acknowledged[i];
        if (same >= wanted && acknowledged[i] > best)
            best = acknowledged[i];
    }
    return best;
}

static void forget(struct rp_task_piggyback *p, uint64_t upto)
{
    if (upto > p->first)
        p->first += rp_determinants_drop(&p->unstable, upto - p->first);
}

void rp_task_piggyback_acknowledged(struct rp_tasks *tasks, int process, uint64_t number)
{
    struct rp_task_piggyback *p = tasks->piggyback;

    if (number <= p->acknowledged[process])
        return;
    p->acknowledged[process] = number;
    forget(p, tasks->determinant_copies == 1 ? number : stable(tasks));
}

void rp_task_piggyback_died(struct rp_tasks *tasks, int process)
{
    tasks->piggyback->due[process] = 0;
}

void rp_task_piggyback_clear(struct rp_tasks *tasks)
{
    forget(tasks->piggyback, UINT64_MAX);
}
