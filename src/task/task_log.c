/* SPDX-License-Identifier: MIT */
/*
 * A message is sent from its place in the log, so that to keep it costs no copy: all that the log
 * adds is one more user of the parcel, and a list of parcels for each task.
 *
 * Nothing tells the log what has arrived. It keeps all since the last checkpoint, and sends all
 * again; so duplicates arise (section VI), which their receivers drop.
 */
#include "task/task_log.h"

#include <string.h>

#include "task/task_piggyback.h"

void rp_task_log_sent(struct rp_tasks *tasks, struct rp_task *to, struct rp_parcel *parcel)
{
    parcel->users++;
    if (to->log)
        to->log_last->next = parcel;
    else
        to->log = parcel;
    to->log_last = parcel;
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

void rp_task_log_send_again(struct rp_tasks *tasks, struct rp_task *task)
{
    for (const struct rp_parcel *parcel = task->log; parcel; parcel = parcel->next) {
        struct rp_parcel_head head;
        struct rp_buffer unstable = {0};
        memcpy(&head, parcel->bytes, sizeof head);
        size_t kept = sizeof head + head.bytes + (head.cpi_bits + 7u) / 8;
        head.epoch = tasks->epoch;
        head.determinants =
            task->owner == tasks->self ? 0 : rp_task_piggyback_put(tasks, task->owner, &unstable);
        struct rp_parcel *again = rp_parcel_new(kept + unstable.length);
        memcpy(again->bytes, parcel->bytes, kept);
        memcpy(again->bytes, &head, sizeof head);
        if (unstable.length > 0)
            memcpy(again->bytes + kept, unstable.bytes, unstable.length);
        rp_buffer_free(&unstable);
        rp_tasks_send_parcel(tasks, task->owner, again);
    }
}
