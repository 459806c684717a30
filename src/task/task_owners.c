/* SPDX-License-Identifier: MIT */
/*
 * The owner of a task follows from the map of its collection and from the order in which processes
 * died, so that all agree on it, whether they made, or mapped, the collection before they learnt of
 * a failure or after.
 */
#include "task/task_owners.h"

#include <stdlib.h>

#include "recovery/buddies.h"
#include "task/task_state.h"

int rp_owners_next_living(const struct rp_tasks *tasks, int process)
{
    return rp_buddies_next_living(tasks->processes, tasks->deaths, tasks->dead_count, process);
}

/* The tasks of the `nth` that died go to the processes behind it, in turn. */
static void redistribute(struct rp_tasks *tasks, const struct rp_collection *c, int nth,
                         bool *passed)
{
    int dead = tasks->deaths[nth], living = tasks->processes - nth - 1,
        spread = tasks->spread < living ? tasks->spread : living;
    int to = dead, taken = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        struct rp_task *task = &tasks->tasks[c->first + i];
        if (task->owner != dead)
            continue;
        to = rp_buddies_next_living(tasks->processes, tasks->deaths, nth + 1,
                                    taken++ % spread == 0 ? dead : to);
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
        redistribute(tasks, c, nth, NULL);
}

void rp_owners_died(struct rp_tasks *tasks)
{
    bool *passed = rp_task_memory(tasks->task_count * sizeof *passed);

    for (int i = 0; i < tasks->collection_count; i++)
        redistribute(tasks, &tasks->collections[i], tasks->dead_count - 1, passed);
    for (uint32_t i = 0; i < tasks->task_count; i++) {
        struct rp_task *task = &tasks->tasks[i];
        if (!passed[i])
            continue;
        task->adopted = true;
        if (task->owner == tasks->self) {
            rp_task_empty(task);
            task->awaits_state = true;
        }
    }
    free(passed);
}
