/* SPDX-License-Identifier: MIT */
/* The program declares collections of tasks, and asks about tasks and processes: public functions
 * that need no MPI. */
#include <stdlib.h>

#include "base/diagnostics.h"
#include "task/task_owners.h"
#include "task/task_recovery.h"
#include "task/task_state.h"

static int at_least_one(int size)
{
    return size > 0 ? size : 1;
}

static bool is_right(struct rp_tasks *tasks, const struct reprise_collection_spec *spec,
                     uint32_t *entries, bool *has_dependent)
{
    *entries = 0, *has_dependent = false;
    if (tasks->running || tasks->phase_kind != RP_PHASE_OUTSIDE) {
        rp_tasks_fail(tasks, "collection %s: an entry cannot make collections", spec->name);
        return false;
    }
    for (const struct reprise_entry *entry = spec->entries; entry && entry->name;
         entry++, (*entries)++) {
        if (!entry->run || entry->order < REPRISE_ORDERED || entry->order > REPRISE_COMMUTATIVE ||
            (entry->order == REPRISE_COMMUTATIVE && !entry->count) ||
            (entry->order == REPRISE_ORDERED && entry->count) ||
            (entry->order != REPRISE_COMMUTATIVE && entry->finish)) {
            rp_tasks_fail(
                tasks,
                "collection %s, entry %s: it needs a function, an order, and if commutative a "
                "count; ordered ones have no count, and only commutative ones a finish",
                spec->name, entry->name);
            return false;
        }
        *has_dependent |= entry->order == REPRISE_ORDER_DEPENDENT;
    }
    if (tasks->collection_count == RP_TASK_COLLECTIONS || *entries > RP_TASK_ENTRIES) {
        rp_tasks_fail(tasks, "collection %s: there may be %d collections with %d entries",
                      spec->name, RP_TASK_COLLECTIONS, RP_TASK_ENTRIES);
        return false;
    }
    uint64_t x = (uint64_t)at_least_one(spec->size.x), y = (uint64_t)at_least_one(spec->size.y),
             z = (uint64_t)at_least_one(spec->size.z);
    if (x * y > RP_TASK_MOST || x * y * z > RP_TASK_MOST - tasks->task_count ||
        spec->state_bytes > RP_TASK_STATE_MOST) {
        rp_tasks_fail(tasks, "collection %s: there may be %d tasks with states of %d bytes",
                      spec->name, RP_TASK_MOST, RP_TASK_STATE_MOST);
        return false;
    }
    return true;
}

static int add_collection(struct rp_tasks *tasks, const struct reprise_collection_spec *spec)
{
    struct rp_collection *c = &tasks->collections[tasks->collection_count];
    uint32_t entries;
    bool has_dependent;

    if (!is_right(tasks, spec, &entries, &has_dependent))
        return -1;
    *c = (struct rp_collection){.spec = *spec,
                                .first = tasks->task_count,
                                .entries = entries,
                                .has_dependent = has_dependent,
                                .version = tasks->version};
    c->is_counted = entries == 1 && has_dependent && spec->entries[0].count;
    c->spec.size = (struct reprise_index){at_least_one(spec->size.x), at_least_one(spec->size.y),
                                          at_least_one(spec->size.z)};
    c->count = (uint32_t)c->spec.size.x * (uint32_t)c->spec.size.y * (uint32_t)c->spec.size.z;
    tasks->tasks = realloc(tasks->tasks, (tasks->task_count + c->count) * sizeof *tasks->tasks);
    RP_BUG_ON(!tasks->tasks);
    tasks->task_count += c->count;
    for (uint32_t i = 0; i < c->count; i++) {
        struct rp_task *task = &tasks->tasks[c->first + i];
        *task = (struct rp_task){.collection = (uint32_t)tasks->collection_count};
        task->regions = rp_task_memory(entries * sizeof *task->regions);
    }
    rp_owners_map(tasks, c, spec->map);
    for (uint32_t i = c->first; i < tasks->task_count; i++)
        if (tasks->tasks[i].owner == tasks->self)
            rp_task_make(tasks, &tasks->tasks[i]);
    rp_task_recovery_settle(tasks);
    return tasks->collection_count++;
}

int reprise_collection(const struct reprise_collection_spec *spec)
{
    if (!rp_tasks_now)
        rp_bug(__FILE__, __LINE__, "reprise_collection comes after reprise_tasks_begin");
    return add_collection(rp_tasks_now, spec);
}

struct reprise_index reprise_self(void)
{
    static const struct reprise_index nobody;

    return rp_tasks_now->running ? rp_task_index(rp_tasks_now, rp_tasks_now->running) : nobody;
}

const void *reprise_task_state(int collection, struct reprise_index index)
{
    struct rp_task *task = rp_tasks_task(rp_tasks_now, collection, index);

    return task ? task->state : NULL;
}

int reprise_process(void)
{
    return rp_tasks_now->self;
}

int reprise_processes(void)
{
    return rp_tasks_now->processes;
}

bool reprise_is_first(void)
{
    return rp_tasks_now->has_ended ? rp_tasks_now->was_first
                                   : rp_tasks_first_living(rp_tasks_now) == rp_tasks_now->self;
}
