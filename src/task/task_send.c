/* SPDX-License-Identifier: MIT */
/*
 * The public functions that send. A message goes to the process of its task, or at once to the
 * ready ones if that is this process.
 *
 * What runs decides the id of a message that it sends (match/message_id.h): inside a commutative
 * entry it follows from the message that is handled; else the task's SRN counts. The end of a
 * region is an event of its own, since it must not depend on which message was last: the id of what
 * it sends follows from the region.
 */
#include <stdlib.h>
#include <string.h>

#include "task/task_execute.h"
#include "task/task_log.h"
#include "task/task_piggyback.h"
#include "task/task_state.h"

static struct rp_message_id next_id(struct rp_tasks *tasks)
{
    struct rp_task *task = tasks->running;

    if (!tasks->handled)
        return (struct rp_message_id){.spe = rp_task_number(tasks, task), .srn = ++task->srn};
    const struct rp_task_region *region = &task->regions[tasks->handled->entry];
    struct rp_message_id id = {.spe = rp_task_number(tasks, task),
                               .srn = tasks->in_finish && region->size > 1 ? region->ordinal : 0};
    if (!rp_cpi_child(&tasks->handled->id, 2 * tasks->handled->entry + tasks->in_finish,
                      tasks->children++, &id.cpi)) {
        char name[RP_TASK_NAME];
        rp_task_name(tasks, task, name);
        rp_tasks_fail(tasks,
                      "task %s: a chain of messages through commutative regions is too long: its "
                      "path takes more than %d bits",
                      name, RP_CPI_BITS);
    }
    return id;
}

static struct rp_parcel *pack(struct rp_tasks *tasks, int process, const struct rp_task_message *m,
                              const void *data)
{
    struct rp_buffer unstable = {0};
    size_t path = (m->id.cpi.bits + 7u) / 8;
    uint32_t determinants = rp_task_piggyback_put(tasks, process, &unstable);
    struct rp_parcel_head head = {RP_PARCEL_MESSAGE,
                                  (uint8_t)m->entry,
                                  m->id.cpi.bits,
                                  m->epoch,
                                  m->phase,
                                  m->task,
                                  m->id.spe,
                                  m->id.srn,
                                  determinants,
                                  (uint32_t)m->bytes,
                                  m->ref,
                                  m->clock};
    size_t length = sizeof head + m->bytes + path + unstable.length;
    struct rp_parcel *parcel =
        rp_tasks_has_log(tasks) ? rp_parcel_in(&tasks->log, length) : rp_parcel_new(length);

    memcpy(parcel->bytes, &head, sizeof head);
    if (m->bytes > 0)
        memcpy(parcel->bytes + sizeof head, data, m->bytes);
    memcpy(parcel->bytes + sizeof head + m->bytes, m->id.cpi.bytes, path);
    if (unstable.length > 0)
        memcpy(parcel->bytes + sizeof head + m->bytes + path, unstable.bytes, unstable.length);
    tasks->counts[RP_COUNT_DETERMINANT_BYTES] += unstable.length;
    rp_buffer_free(&unstable);
    return parcel;
}

static void send_to(struct rp_tasks *tasks, struct rp_task *to, int entry, uint64_t ref,
                    const void *data, size_t bytes)
{
    struct rp_task_message m = {.task = rp_task_number(tasks, to),
                                .epoch = tasks->epoch,
                                .phase = tasks->phase,
                                .entry = (uint32_t)entry,
                                .ref = ref,
                                .bytes = bytes};

    if (entry < 0 || (uint32_t)entry >= tasks->collections[to->collection].entries ||
        bytes > RP_TASK_STATE_MOST) {
        rp_tasks_fail(
            tasks,
            "collection %s has no entry %d, or %zu bytes are too long for a message (%d at most)",
            tasks->collections[to->collection].spec.name, entry, bytes, RP_TASK_STATE_MOST);
        return;
    }
    if (!tasks->running) {
        rp_tasks_fail(tasks,
                      "collection %s: only entries send; what begins a run is put by reprise_start",
                      tasks->collections[to->collection].spec.name);
        return;
    }
    m.clock = ++tasks->running->clock;
    m.id = next_id(tasks);
    if (tasks->has_failed)
        return;
    if (tasks->handled && (tasks->mode == RP_TASKS_RECORD || tasks->mode == RP_TASKS_REPLAY))
        tasks->running->regions[tasks->handled->entry].sends +=
            (rp_message_id_hash(&m.id) + m.task * UINT64_C(31) + ref) *
            (rp_task_hash(data, bytes) | 1);
    if (to->owner != tasks->self) {
        struct rp_parcel *parcel = pack(tasks, to->owner, &m, data);
        tasks->counts[RP_COUNT_REMOTE]++;
        if (rp_tasks_has_log(tasks))
            rp_task_log_sent(tasks, to, parcel);
        rp_tasks_send_parcel(tasks, to->owner, parcel);
        return;
    }
    rp_task_deliver_local(tasks, rp_task_message_new(&m, data));
}

void reprise_send(int collection, struct reprise_index to, int entry, uint64_t ref,
                  const void *data, size_t bytes)
{
    struct rp_task *task = rp_tasks_task(rp_tasks_now, collection, to);

    if (task)
        send_to(rp_tasks_now, task, entry, ref, data, bytes);
}

void reprise_broadcast(int collection, int entry, uint64_t ref, const void *data, size_t bytes)
{
    const struct rp_collection *c = rp_tasks_collection(rp_tasks_now, collection);

    for (uint32_t i = 0; c && i < c->count; i++)
        send_to(rp_tasks_now, &rp_tasks_now->tasks[c->first + i], entry, ref, data, bytes);
}

/* Every process has the same message, and keeps it, for tasks that it may have to take over. */
void reprise_start(int collection, int entry, uint64_t ref, const void *data, size_t bytes)
{
    struct rp_tasks *tasks = rp_tasks_now;
    const struct rp_collection *c = rp_tasks_collection(tasks, collection);

    if (c && (tasks->running || entry < 0 || (uint32_t)entry >= c->entries ||
              bytes > RP_TASK_STATE_MOST))
        rp_tasks_fail(tasks,
                      "reprise_start: it was called by an entry, or collection %s has no entry %d, "
                      "or %zu bytes are too long for a message",
                      c->spec.name, entry, bytes);
    tasks->has_starts = true;
    for (uint32_t i = 0; c && !tasks->has_failed && i < c->count; i++) {
        struct rp_task_message m = {.id = {.spe = RP_TASK_MAIN, .srn = ++tasks->main_srn},
                                    .task = c->first + i,
                                    .epoch = tasks->epoch,
                                    .phase = tasks->phase,
                                    .entry = (uint32_t)entry,
                                    .ref = ref,
                                    .bytes = bytes};
        if (tasks->tasks[m.task].owner == tasks->self)
            rp_task_deliver_local(tasks, rp_task_message_new(&m, data));
        if (rp_tasks_survives(tasks))
            rp_task_queue_put(&tasks->starts, rp_task_message_new(&m, data));
    }
}
