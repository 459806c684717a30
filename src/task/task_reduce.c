/* SPDX-License-Identifier: MIT */
/*
 * A reduction is a task of its own, in a hidden collection: contributions are a commutative region
 * of as many messages as the collection has tasks, kept in a row and combined in the order of
 * indices at its end. So the result does not depend on the order of arrival, nor on where the tasks
 * are; and records, logs and checkpoints need to know nothing of reductions. Each task contributes
 * once for each ref, with refs going up from 0.
 */
#include "task/task_reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diagnostics.h"
#include "task/task_state.h"

struct reduction {
    int collection, width, entry, reducers;
    enum reprise_operation operation;
    bool has_result;
    uint64_t ref;
    double *values;
};

struct rp_task_reductions {
    struct reduction *list;
    int count;
};

/* The state of the task that combines. */
struct reducer {
    uint64_t ref;
    uint32_t reduction, count, width, padding;
    double values[];
};

void rp_reductions_init(struct rp_tasks *tasks)
{
    tasks->reductions = rp_task_memory(sizeof *tasks->reductions);
}

void rp_reductions_free(struct rp_tasks *tasks)
{
    for (int i = 0; i < tasks->reductions->count; i++)
        free(tasks->reductions->list[i].values);
    free(tasks->reductions->list);
    free(tasks->reductions);
}

static struct reducer *reducer_of(const void *state)
{
    return (struct reducer *)(uintptr_t)state;
}

static bool is_ready(const void *state, uint64_t ref)
{
    return reducer_of(state)->ref == ref;
}

static size_t count_them(const void *state)
{
    return reducer_of(state)->count;
}

static void take(void *state, const struct reprise_message *message)
{
    struct reducer *r = reducer_of(state);
    uint64_t which;

    memcpy(&which, message->data, sizeof which);
    RP_BUG_ON(which >= r->count || message->bytes != sizeof which + r->width * sizeof(double));
    memcpy(r->values + which * r->width, (const uint8_t *)message->data + sizeof which,
           r->width * sizeof(double));
}

static double combine(enum reprise_operation operation, double a, double b)
{
    return operation == REPRISE_SUM ? a + b : (operation == REPRISE_MIN) == (b < a) ? b : a;
}

static void to_processes(struct rp_tasks *tasks, uint32_t reduction, uint64_t ref,
                         const double *values, size_t bytes)
{
    for (int i = 0; i < tasks->processes; i++) {
        struct rp_parcel_head head = rp_tasks_head(tasks, RP_PARCEL_RESULT);
        head.task = reduction;
        head.ref = ref;
        if (i == tasks->self)
            rp_reduction_receive(tasks, &head, (const uint8_t *)values);
        else if (!tasks->dead[i])
            rp_tasks_send_control(tasks, i, &head, values, bytes);
    }
}

static void finish(void *state)
{
    struct rp_tasks *tasks = rp_tasks_now;
    struct reducer *r = reducer_of(state);
    const struct reduction *reduction = &tasks->reductions->list[r->reduction];
    double *sum = r->values;

    for (uint32_t i = 1; i < r->count; i++)
        for (uint32_t k = 0; k < r->width; k++)
            sum[k] = combine(reduction->operation, sum[k], r->values[i * r->width + k]);
    if (reduction->entry < 0)
        to_processes(tasks, r->reduction, r->ref, sum, r->width * sizeof *sum);
    else
        reprise_broadcast(reduction->collection, reduction->entry, r->ref, sum,
                          r->width * sizeof *sum);
    r->ref++;
}

static const struct reprise_entry entries[] = {{"reduction", REPRISE_COMMUTATIVE, take, is_ready,
                                                count_them, finish},
                                               {0}};

static void make(void *state, struct reprise_index index)
{
    struct rp_tasks *tasks = rp_tasks_now;

    (void)index;
    for (int i = 0; i < tasks->reductions->count; i++)
        if (tasks->reductions->list[i].reducers == tasks->making)
            *reducer_of(state) = (struct reducer){
                .reduction = (uint32_t)i,
                .count = tasks->collections[tasks->reductions->list[i].collection].count,
                .width = (uint32_t)tasks->reductions->list[i].width};
}

/* Spread, so that not all of them are on the first process. */
static int map(struct reprise_index index, int processes)
{
    (void)index;
    return rp_tasks_now->reductions->count % processes;
}

int reprise_reduction(int collection, int width, enum reprise_operation operation, int entry)
{
    struct rp_tasks *tasks = rp_tasks_now;

    if (collection < 0 || collection >= tasks->collection_count || width < 1 ||
        operation < REPRISE_SUM || operation > REPRISE_MAX ||
        entry >= (int)tasks->collections[collection].entries) {
        rp_tasks_fail(tasks, "a reduction over collection %d with %d numbers cannot be", collection,
                      width);
        return -1;
    }
    struct reprise_collection_spec spec = {.name = "reduction",
                                           .entries = entries,
                                           .make = make,
                                           .map = map};
    spec.state_bytes = sizeof(struct reducer) +
                       tasks->collections[collection].count * (size_t)width * sizeof(double);
    RP_BUG_ON(!rp_array_grow((void **)&tasks->reductions->list, (size_t)tasks->reductions->count,
                             sizeof *tasks->reductions->list));
    struct reduction *made = &tasks->reductions->list[tasks->reductions->count];
    *made = (struct reduction){.collection = collection,
                               .width = width,
                               .entry = entry,
                               .operation = operation,
                               .reducers = tasks->collection_count};
    made->values = rp_task_memory((size_t)width * sizeof(double));
    tasks->reductions->count++;
    return reprise_collection(&spec) < 0 ? -1 : tasks->reductions->count - 1;
}

void reprise_contribute(int reduction, uint64_t ref, const double *values)
{
    struct rp_tasks *tasks = rp_tasks_now;

    if (reduction < 0 || reduction >= tasks->reductions->count || !tasks->running ||
        (int)tasks->running->collection != tasks->reductions->list[reduction].collection) {
        rp_tasks_fail(tasks, "only a task of its collection can contribute to reduction %d",
                      reduction);
        return;
    }
    const struct reduction *r = &tasks->reductions->list[reduction];
    size_t bytes = (size_t)r->width * sizeof *values;
    uint64_t *message = rp_task_memory(sizeof *message + bytes);
    *message = rp_task_number(tasks, tasks->running) - tasks->collections[r->collection].first;
    memcpy(message + 1, values, bytes);
    reprise_send(r->reducers, (struct reprise_index){0, 0, 0}, 0, ref, message,
                 sizeof *message + bytes);
    free(message);
}

void rp_reduction_receive(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                          const uint8_t *data)
{
    RP_BUG_ON(head->task >= (uint32_t)tasks->reductions->count);
    struct reduction *r = &tasks->reductions->list[head->task];

    if (r->has_result && head->ref < r->ref)
        return;
    r->has_result = true;
    r->ref = head->ref;
    memcpy(r->values, data, (size_t)r->width * sizeof *r->values);
}

bool reprise_result(int reduction, uint64_t *ref, double *values)
{
    const struct reduction *r = &rp_tasks_now->reductions->list[reduction];

    if (reduction < 0 || reduction >= rp_tasks_now->reductions->count) {
        rp_tasks_fail(rp_tasks_now, "there is no reduction %d", reduction);
        return false;
    }
    if (!r->has_result)
        return false;
    if (ref)
        *ref = r->ref;
    memcpy(values, r->values, (size_t)r->width * sizeof *values);
    return true;
}
