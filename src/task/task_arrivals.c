/* SPDX-License-Identifier: MIT */
/*
 * No message arrives twice unless a process has died since the last checkpoint. Before that, the
 * ids of messages that arrived are only listed; sets of them are made when a process dies.
 */
#include "task/task_arrivals.h"

#include <string.h>

#include "base/diagnostics.h"

/* Of a message: task, SPE, SRN, bits of the CPI; behind it the CPI. */
enum { FIXED = 3 * sizeof(uint32_t) + sizeof(uint16_t) };

static void write_down(struct rp_tasks *tasks, uint32_t task, const struct rp_message_id *id)
{
    struct rp_buffer *out = &tasks->arrived;
    size_t path = (id->cpi.bits + 7u) / 8;

    RP_BUG_ON(!rp_buffer_reserve(out, FIXED + path));
    uint8_t *at = out->bytes + out->length;
    memcpy(at, &task, sizeof task);
    memcpy(at + 4, &id->spe, sizeof id->spe);
    memcpy(at + 8, &id->srn, sizeof id->srn);
    memcpy(at + 12, &id->cpi.bits, sizeof id->cpi.bits);
    memcpy(at + FIXED, id->cpi.bytes, path);
    out->length += FIXED + path;
}

static bool add(struct rp_task *task, const struct rp_message_id *id)
{
    bool failed = false, is_new = rp_message_ids_add(&task->seen, id, &failed);

    RP_BUG_ON(failed);
    return is_new;
}

bool rp_task_arrivals_add(struct rp_tasks *tasks, uint32_t task, const struct rp_message_id *id)
{
    if (tasks->dead_since > 0)
        return add(&tasks->tasks[task], id);
    write_down(tasks, task, id);
    return true;
}

void rp_task_arrivals_expect_duplicates(struct rp_tasks *tasks)
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
        memcpy(id.cpi.bytes, at + FIXED, path);
        add(&tasks->tasks[task], &id);
        at += FIXED + path;
    }
    rp_buffer_clear(&tasks->arrived);
}
