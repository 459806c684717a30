/* SPDX-License-Identifier: MIT */
/*
 * What was sent to tasks of other processes since the last checkpoint, and what came from them. A
 * message is sent from its place in the log, so that to keep it costs no copy.
 *
 * Nothing comes twice unless a process has died since the last checkpoint: before that, the names
 * of what came are only written down one behind the other; sets of them are made when somebody
 * dies.
 */
#include <string.h>

#include "base/diagnostics.h"
#include "task/task.h"

void rp_task_log_sent(struct rp_tasks *tasks, struct rp_task *to, struct rp_parcel *parcel)
{
    parcel->uses++;
    if (!to->log)
        to->log_end = &to->log;
    *to->log_end = parcel;
    to->log_end = &parcel->next;
    tasks->counts[RP_COUNT_LOG_BYTES] += parcel->length;
}

void rp_task_log_clear(struct rp_task *task)
{
    for (struct rp_parcel *parcel = task->log, *next; parcel; parcel = next) {
        next = parcel->next;
        parcel->next = NULL;
        rp_parcel_drop(parcel);
    }
    task->log = NULL;
}

/* What we sent to a task that another process took over, with the determinants that this one lacks.
 * Also to ourselves. */
void rp_task_log_send_again(struct rp_tasks *tasks, struct rp_task *task)
{
    for (const struct rp_parcel *parcel = task->log; parcel; parcel = parcel->next) {
        struct rp_parcel_head head;
        struct rp_buffer fresh = {0};
        memcpy(&head, parcel->bytes, sizeof head);
        size_t kept = sizeof head + head.bytes + (head.cpi_bits + 7u) / 8;
        head.epoch = tasks->epoch;
        head.determinants =
            task->owner == tasks->self ? 0 : rp_determinants_put_fresh(tasks, task->owner, &fresh);
        struct rp_parcel *again = rp_parcel_new(kept + fresh.length);
        memcpy(again->bytes, parcel->bytes, kept);
        memcpy(again->bytes, &head, sizeof head);
        if (fresh.length > 0)
            memcpy(again->bytes + kept, fresh.bytes, fresh.length);
        rp_buffer_free(&fresh);
        rp_tasks_send_parcel(tasks, task->owner, again);
    }
}

/* The name of a message that came: task, SPE, SRN, bits of the path, and the path. */
enum { NAME = 3 * sizeof(uint32_t) + sizeof(uint16_t) };

static void write_down(struct rp_tasks *tasks, uint32_t task, const struct rp_message_id *id)
{
    struct rp_buffer *out = &tasks->arrived;
    size_t path = (id->cpi.bits + 7u) / 8;

    RP_BUG_ON(!rp_buffer_reserve(out, NAME + path));
    uint8_t *at = out->bytes + out->length;
    memcpy(at, &task, sizeof task);
    memcpy(at + 4, &id->spe, sizeof id->spe);
    memcpy(at + 8, &id->srn, sizeof id->srn);
    memcpy(at + 12, &id->cpi.bits, sizeof id->cpi.bits);
    memcpy(at + NAME, id->cpi.bytes, path);
    out->length += NAME + path;
}

static bool add(struct rp_task *task, const struct rp_message_id *id)
{
    bool failed = false, is_new = rp_message_ids_add(&task->seen, id, &failed);

    RP_BUG_ON(failed);
    return is_new;
}

bool rp_task_log_arrived(struct rp_tasks *tasks, uint32_t task, const struct rp_message_id *id)
{
    if (tasks->dead_since > 0)
        return add(&tasks->tasks[task], id);
    write_down(tasks, task, id);
    return true;
}

void rp_task_log_expect_again(struct rp_tasks *tasks)
{
    const uint8_t *at = tasks->arrived.bytes, *end = at + tasks->arrived.length;

    while (at < end) {
        struct rp_message_id id = {0};
        uint32_t task;
        memcpy(&task, at, sizeof task);
        memcpy(&id.spe, at + 4, sizeof id.spe);
        memcpy(&id.srn, at + 8, sizeof id.srn);
        memcpy(&id.cpi.bits, at + 12, sizeof id.cpi.bits);
        size_t path = (id.cpi.bits + 7u) / 8;
        memcpy(id.cpi.bytes, at + NAME, path);
        add(&tasks->tasks[task], &id);
        at += NAME + path;
    }
    rp_buffer_clear(&tasks->arrived);
}
