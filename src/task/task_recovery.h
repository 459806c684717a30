/* SPDX-License-Identifier: MIT */
/* Survivors take over the tasks of dead processes. */
#ifndef RP_TASK_RECOVERY_H
#define RP_TASK_RECOVERY_H

#include "task/task_runtime.h"

void rp_task_recovery_init(struct rp_tasks *tasks);
void rp_task_recovery_free(struct rp_tasks *tasks);

/* A process has died. All living processes call this for the same processes in the same order. */
void rp_task_recovery_begin(struct rp_tasks *tasks, int process);

/* What another process has for this one in a recovery. */
void rp_task_recovery_receive(struct rp_tasks *tasks, int process,
                              const struct rp_parcel_head *head, const uint8_t *data);

/* Gives tasks the determinants that others reported, as far as these tasks are known by now. */
void rp_task_recovery_settle(struct rp_tasks *tasks);

/* Whether a process has yet to report. */
bool rp_task_recovery_awaits(const struct rp_tasks *tasks, int process);

#endif
