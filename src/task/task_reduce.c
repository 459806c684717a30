/* SPDX-License-Identifier: MIT */
/*
 * A reduction is a task of its own, in a hidden collection: contributions are a commutative region
 * of as many messages as the collection has tasks, kept in a row and combined in the order of
 * indices at its end. So the result does not depend on the order of arrival, nor on where the tasks
 * are; and records, logs and checkpoints need to know nothing of reductions. Each task contributes
 * once for each ref, with refs going up from 0.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "task/task.h"

struct reducer {
    uint64_t ref;
    uint32_t reduction, count, width, padding;
    double values[];
};

static struct reducer *mine(const void *state)
{
    return (struct reducer *)(uintptr_t)state;
}

static bool is_ready(const void *state, uint64_t ref)
{
    return mine(state)->ref == ref;
}

static size_t count_them(const void *state)
{
    return mine(state)->count;
}

static void take(void *state, const struct reprise_message *message)
{
    struct reducer *r = mine(state);
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
        struct rp_parcel_head head = {.kind = RP_PARCEL_RESULT,
                                      .epoch = tasks->epoch,
                                      .stage = tasks->stage,
                                      .task = reduction,
                                      .bytes = (uint32_t)bytes,
                                      .ref = ref};
        struct rp_parcel *parcel = rp_parcel_new(sizeof head + bytes);
        memcpy(parcel->bytes, &head, sizeof head);
        memcpy(parcel->bytes + sizeof head, values, bytes);
        if (i == tasks->self)
            rp_reduce_result(tasks, &head, parcel->bytes + sizeof head);
        if (i == tasks->self || tasks->dead[i])
            rp_parcel_drop(parcel);
        else
            rp_tasks_send_parcel(tasks, i, parcel);
    }
}

static void finish(void *state)
{
    struct rp_tasks *tasks = rp_tasks_now;
    struct reducer *r = mine(state);
    const struct rp_reduction *reduction = &tasks->reductions[r->reduction];
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
    for (int i = 0; i < tasks->reduction_count; i++)
        if (tasks->reductions[i].reducers == tasks->making)
            *mine(state) =
                (struct reducer){.reduction = (uint32_t)i,
                                 .count = tasks->collections[tasks->reductions[i].collection].count,
                                 .width = (uint32_t)tasks->reductions[i].width};
}

/* Spread, so that not all of them are on the first process. */
static int map(struct reprise_index index, int processes)
{
    (void)index;
    return rp_tasks_now->reduction_count % processes;
}

int reprise_reduction(int collection, int width, enum reprise_operation operation, int entry)
{
    struct rp_tasks *tasks = rp_tasks_now;

    if (collection < 0 || collection >= tasks->collection_count || width < 1 ||
        operation < REPRISE_SUM || operation > REPRISE_MAX ||
        entry >= (int)tasks->collections[collection].entries) {
        rp_tasks_lost(tasks, "a reduction over collection %d with %d numbers cannot be", collection,
                      width);
        return -1;
    }
    struct reprise_collection_spec spec = {.name = "reduction",
                                           .entries = entries,
                                           .make = make,
                                           .map = map};
    spec.state_bytes = sizeof(struct reducer) +
                       tasks->collections[collection].count * (size_t)width * sizeof(double);
    tasks->reductions = realloc(tasks->reductions,
                                (size_t)(tasks->reduction_count + 1) * sizeof *tasks->reductions);
    RP_BUG_ON(!tasks->reductions);
    struct rp_reduction *made = &tasks->reductions[tasks->reduction_count];
    *made = (struct rp_reduction){.collection = collection,
                                  .width = width,
                                  .entry = entry,
                                  .operation = operation,
                                  .reducers = tasks->collection_count};
    made->values = rp_task_memory((size_t)width * sizeof(double));
    tasks->reduction_count++;
    return reprise_collection(&spec) < 0 ? -1 : tasks->reduction_count - 1;
}

void reprise_contribute(int reduction, uint64_t ref, const double *values)
{
    struct rp_tasks *tasks = rp_tasks_now;

    if (reduction < 0 || reduction >= tasks->reduction_count || !tasks->running ||
        (int)tasks->running->collection != tasks->reductions[reduction].collection) {
        rp_tasks_lost(tasks, "only a task of its collection can contribute to reduction %d",
                      reduction);
        return;
    }
    const struct rp_reduction *r = &tasks->reductions[reduction];
    size_t bytes = (size_t)r->width * sizeof *values;
    uint64_t *message = rp_task_memory(sizeof *message + bytes);
    *message = rp_task_number(tasks, tasks->running) - tasks->collections[r->collection].first;
    memcpy(message + 1, values, bytes);
    reprise_send(r->reducers, (struct reprise_index){0, 0, 0}, 0, ref, message,
                 sizeof *message + bytes);
    free(message);
}

void rp_reduce_result(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                      const uint8_t *data)
{
    RP_BUG_ON(head->task >= (uint32_t)tasks->reduction_count);
    struct rp_reduction *r = &tasks->reductions[head->task];

    if (r->has_result && head->ref < r->ref)
        return;
    r->has_result = true;
    r->ref = head->ref;
    memcpy(r->values, data, (size_t)r->width * sizeof *r->values);
}

bool reprise_result(int reduction, uint64_t *ref, double *values)
{
    const struct rp_reduction *r = &rp_tasks_now->reductions[reduction];

    if (reduction < 0 || reduction >= rp_tasks_now->reduction_count) {
        rp_tasks_lost(rp_tasks_now, "there is no reduction %d", reduction);
        return false;
    }
    if (!r->has_result)
        return false;
    if (ref)
        *ref = r->ref;
    memcpy(values, r->values, (size_t)r->width * sizeof *values);
    return true;
}
