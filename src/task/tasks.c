/* SPDX-License-Identifier: MIT */
/*
 * What arrives is handed to the part that its kind is for. A message of a phase or epoch that is
 * not ours yet waits until we are there.
 */
#include "task/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diagnostics.h"
#include "base/journal.h"
#include "task/task_checkpoint.h"
#include "task/task_execute.h"
#include "task/task_log.h"
#include "task/task_moves.h"
#include "task/task_phases.h"
#include "task/task_piggyback.h"
#include "task/task_recovery.h"
#include "task/task_reduce.h"
#include "task/task_state.h"

struct early_parcel {
    struct rp_parcel *parcel;
    int process;
};

struct rp_task_early {
    struct early_parcel *list;
    size_t count;
};

static void free_task(struct rp_task *task)
{
    rp_task_empty(task);
    rp_task_log_clear(task);
    free(task->regions);
    free(task->made.list);
    free(task->known.list);
    free(task->held.list);
    free(task->copy.bytes);
    free(task->attempt.bytes);
    free(task->digests);
    free(task->taken.list);
}

/* Of a phase or epoch that is not ours yet: it waits as it is, with its determinants, which a
 * checkpoint in between must not clear away. */
static void put_aside(struct rp_tasks *tasks, int process, struct rp_parcel *parcel)
{
    struct rp_task_early *early = tasks->early;

    RP_BUG_ON(!rp_array_grow((void **)&early->list, early->count, sizeof *early->list));
    early->list[early->count++] = (struct early_parcel){parcel, process};
}

static void take_parcel(struct rp_tasks *tasks, int process, struct rp_parcel *parcel)
{
    struct rp_parcel_head head;

    memcpy(&head, parcel->bytes, sizeof head);
    const uint8_t *data = parcel->bytes + sizeof head;
    size_t length = parcel->length - sizeof head;
    bool is_early = head.phase > tasks->phase || head.epoch > tasks->epoch;
    if ((head.kind == RP_PARCEL_MESSAGE && (is_early || tasks->phase_kind == RP_PHASE_OUTSIDE)) ||
        (head.kind == RP_PARCEL_COPY_REQUEST && is_early)) {
        put_aside(tasks, process, parcel);
        return;
    }
    switch (head.kind) {
    case RP_PARCEL_MESSAGE: {
        size_t used;
        struct rp_task_message *m = rp_task_message_unpack(&head, data, length, &used);
        if (head.determinants > 0)
            rp_task_piggyback_take(tasks, process, head.determinants, data + used, length - used);
        rp_task_deliver(tasks, m);
        break;
    }
    case RP_PARCEL_RESULT:
        rp_reduction_receive(tasks, &head, data);
        break;
    case RP_PARCEL_CHECKPOINT:
        rp_task_checkpoint_receive(tasks, &head, data);
        break;
    case RP_PARCEL_MOVE:
        rp_moves_receive(tasks, &head, data);
        break;
    case RP_PARCEL_COPY_REQUEST:
        rp_moves_reply(tasks, process, &head, data);
        break;
    case RP_PARCEL_COPY_REPLY:
        rp_moves_take_copy(tasks, &head, data);
        break;
    case RP_PARCEL_RECOVERY:
        rp_task_recovery_receive(tasks, process, &head, data);
        break;
    case RP_PARCEL_ACKNOWLEDGE:
        rp_task_piggyback_acknowledged(tasks, process, head.ref);
        break;
    default:
        rp_phase_receive(tasks, &head, data);
    }
    rp_parcel_drop(parcel);
}

static void take_early(struct rp_tasks *tasks)
{
    struct rp_task_early early = *tasks->early;

    *tasks->early = (struct rp_task_early){0};
    for (size_t i = 0; i < early.count; i++) {
        if (tasks->dead[early.list[i].process])
            rp_parcel_drop(early.list[i].parcel);
        else
            take_parcel(tasks, early.list[i].process, early.list[i].parcel);
    }
    free(early.list);
}

static void receive(struct rp_tasks *tasks, int process, struct rp_parcel *parcel)
{
    RP_BUG_ON(parcel->length < sizeof(struct rp_parcel_head));
    if (parcel->bytes[0] <= RP_PARCEL_COUNTED)
        tasks->received[process]++;
    take_parcel(tasks, process, parcel);
}

void rp_tasks_init(struct rp_tasks *tasks, enum rp_task_mode mode, int self, int processes,
                   const struct rp_transport *transport)
{
    *tasks = (struct rp_tasks){.mode = mode,
                               .self = self,
                               .processes = processes,
                               .transport = *transport,
                               .spread = 16,
                               .determinant_copies = 1};
    tasks->sent = rp_task_memory((size_t)processes * sizeof *tasks->sent);
    tasks->received = rp_task_memory((size_t)processes * sizeof *tasks->received);
    tasks->dead = rp_task_memory((size_t)processes);
    tasks->deaths = rp_task_memory((size_t)processes * sizeof *tasks->deaths);
    tasks->difference_reported = rp_task_memory(RP_TASK_COLLECTIONS * RP_TASK_ENTRIES);
    tasks->early = rp_task_memory(sizeof *tasks->early);
    rp_task_piggyback_init(tasks);
    rp_phases_init(tasks, take_early);
    rp_moves_init(tasks);
    rp_task_recovery_init(tasks);
    rp_reductions_init(tasks);
}

void rp_tasks_free(struct rp_tasks *tasks)
{
    rp_reductions_free(tasks);
    rp_task_recovery_free(tasks);
    rp_moves_free(tasks);
    rp_phases_free(tasks);
    rp_task_piggyback_free(tasks);
    for (uint32_t i = 0; i < tasks->task_count; i++)
        free_task(&tasks->tasks[i]);
    rp_task_queue_clear(&tasks->ready);
    for (size_t i = 0; i < tasks->early->count; i++)
        rp_parcel_drop(tasks->early->list[i].parcel);
    free(tasks->early->list);
    free(tasks->early);
    rp_task_queue_clear(&tasks->starts);
    free(tasks->tasks);
    free(tasks->sent);
    free(tasks->received);
    free(tasks->dead);
    free(tasks->deaths);
    if (tasks->journal)
        rp_journal_close(tasks->journal, false);
    rp_arenas_free(&tasks->log);
    rp_buffer_free(&tasks->arrived);
    free(tasks->difference_reported);
    rp_tasktrace_free(&tasks->trace.followed);
    *tasks = (struct rp_tasks){0};
}

bool rp_tasks_step(struct rp_tasks *tasks)
{
    int process;
    bool did = false;

    rp_tasks_now = tasks;
    for (struct rp_parcel *parcel;
         (parcel = tasks->transport.receive(tasks->transport.data, &process)); did = true) {
        if (tasks->dead[process]) /* it has sent everything again, or will */
            rp_parcel_drop(parcel);
        else
            receive(tasks, process, parcel);
    }
    if (tasks->has_failed)
        return false;
    if (!tasks->recovering && rp_tasks_run_one(tasks))
        return true;
    rp_task_piggyback_acknowledge(tasks);
    if (!tasks->recovering && tasks->ready.count == 0)
        rp_phase_idle(tasks);
    return did;
}
