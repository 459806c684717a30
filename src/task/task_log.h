/* SPDX-License-Identifier: MIT */
/* Sender-based message logging: what this process sent to tasks of others since the last
 * checkpoint. */
#ifndef RP_TASK_LOG_H
#define RP_TASK_LOG_H

#include "task/task_runtime.h"

/* Keeps a message to a task: takes one more use of the parcel. */
void rp_task_log_sent(struct rp_tasks *tasks, struct rp_task *to, struct rp_parcel *parcel);

/* Sends the kept messages to the process that the task has now, which may be this one, with the
 * determinants that it lacks. */
void rp_task_log_send_again(struct rp_tasks *tasks, struct rp_task *task);

void rp_task_log_clear(struct rp_task *task);

#endif
