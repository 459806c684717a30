/* SPDX-License-Identifier: MIT */
/*
 * The order of messages in a shuffled replay, for `reprise replay --shuffle`: it is written down
 * (REPRISE_TASKS_TRACE), and followed by other replays (REPRISE_TASKS_FOLLOW), but for a part that
 * is left free (REPRISE_TASKS_FREE): the messages of an entry among themselves, or two entries
 * against each other. If such a replay ends with another result, that part does not commute.
 *
 * Places are counted in messages, not in events as those of determinants: an ordered message
 * between two of one region is somewhere.
 */
#include "task/task_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "job/settings.h"

enum rp_status rp_task_trace_begin(struct rp_tasks *tasks, struct rp_problem *why)
{
    const char *from = rp_setting("REPRISE_TASKS_FOLLOW"),
               *freed = rp_setting("REPRISE_TASKS_FREE");
    enum rp_status status = RP_OK;

    tasks->trace.directory = rp_setting("REPRISE_TASKS_TRACE");
    tasks->trace.collection = tasks->trace.one = tasks->trace.other = -1;
    if (from)
        status = rp_tasktrace_read(from, tasks->processes, &tasks->trace.followed, why);
    if (status == RP_OK && freed)
        sscanf(freed, "%d.%d.%d", &tasks->trace.collection, &tasks->trace.one, &tasks->trace.other);
    tasks->trace.follows = status == RP_OK && from;
    return status;
}

/* Of "entries" there is no collection: the messages of each entry may arrive in any order, the
 * entries in the order that is followed. */
static bool is_free_within(const struct rp_task_trace *trace, uint32_t collection, int32_t entry)
{
    return trace->collection < 0 ||
           ((uint32_t)trace->collection == collection && trace->one == entry && trace->other < 0);
}

static bool is_of_pair(const struct rp_task_trace *trace, uint32_t collection, int32_t entry)
{
    return (uint32_t)trace->collection == collection && trace->other >= 0 &&
           (trace->one == entry || trace->other == entry);
}

/* Whether an event of that entry can change places with the one at that place. */
static bool is_like(const struct rp_task_trace *trace, uint32_t collection, int32_t entry,
                    int32_t other)
{
    if (is_of_pair(trace, collection, entry))
        return is_of_pair(trace, collection, other);
    return entry == other && is_free_within(trace, collection, entry);
}

/* Only among those that follow each other: across another entry's message, it would be the order
 * against that entry that changes. */
static bool is_in_stretch(const struct rp_task_trace *trace, uint32_t collection,
                          const struct rp_taken_list *followed, size_t place, uint64_t message)
{
    int32_t entry = followed->list[place].entry;
    size_t first = place;

    while (first > 0 && is_like(trace, collection, entry, followed->list[first - 1].entry))
        first--;
    for (size_t i = first;
         i < followed->count && is_like(trace, collection, entry, followed->list[i].entry); i++)
        if (followed->list[i].message == message)
            return true;
    return false;
}

bool rp_task_trace_may_run(const struct rp_tasks *tasks, const struct rp_task *task,
                           const struct rp_task_message *m)
{
    const struct rp_task_trace *trace = &tasks->trace;

    if (!trace->follows || rp_task_number(tasks, task) >= trace->followed.task_count)
        return true;
    const struct rp_taken_list *followed = &trace->followed.tasks[rp_task_number(tasks, task)];
    uint64_t place = task->taken_before + task->taken.count, message = rp_message_id_hash(&m->id);
    if (place >= followed->count || followed->list[place].message == message)
        return true;
    return is_in_stretch(trace, task->collection, followed, place, message);
}

void rp_task_trace_note(struct rp_tasks *tasks, struct rp_task *task,
                        const struct rp_task_message *m)
{
    if (tasks->trace.directory || tasks->trace.follows)
        rp_taken_add(&task->taken, rp_message_id_hash(&m->id), (int32_t)m->entry);
}

void rp_task_trace_moved(struct rp_task *task, uint64_t taken)
{
    if (task->taken.count == 0)
        task->taken_before = taken;
    while (task->taken_before + task->taken.count < taken)
        rp_taken_add(&task->taken, 0, RP_TAKEN_ELSEWHERE);
}

void rp_task_trace_digest(struct rp_tasks *tasks, const struct rp_task *task,
                          const struct rp_task_digest *found)
{
    uint64_t of = rp_task_number(tasks, task) * UINT64_C(0x9e3779b97f4a7c15) +
                  found->entry * UINT64_C(0x100000001b3) + found->ordinal;

    tasks->trace.result += (found->digest ^ of) * (of | 1);
}

static void put_collections(const struct rp_tasks *tasks, struct rp_buffer *out)
{
    for (int i = 0; i < tasks->collection_count; i++) {
        const struct rp_collection *c = &tasks->collections[i];
        rp_tasktrace_put_collection(out, c->spec.name, c->first, c->count, c->entries);
        for (uint32_t k = 0; k < c->entries; k++)
            rp_tasktrace_put_entry(out, c->spec.entries[k].name,
                                   c->spec.entries[k].order == REPRISE_COMMUTATIVE);
    }
}

enum rp_status rp_task_trace_write(const struct rp_tasks *tasks, struct rp_problem *why)
{
    struct rp_buffer out = {0};
    enum rp_status status = RP_OK;

    if (!tasks->trace.directory)
        return RP_OK;
    rp_tasktrace_begin(&out,
                       tasks->trace.result + tasks->counts[RP_COUNT_DIGEST] +
                           tasks->counts[RP_COUNT_MESSAGES],
                       (uint32_t)tasks->collection_count);
    put_collections(tasks, &out);
    for (uint32_t i = 0; i < tasks->task_count; i++)
        rp_tasktrace_put_task(&out, i, tasks->tasks[i].taken_before, &tasks->tasks[i].taken);
    rp_tasktrace_end(&out);
    char *path = rp_tasktrace_path(tasks->trace.directory, tasks->self);
    status = !path || out.failed ? rp_fail(why, RP_MEMORY, "no memory for the order of messages")
                                 : rp_write_new_file(path, out.bytes, out.length, why);
    rp_buffer_free(&out);
    free(path);
    return status;
}
