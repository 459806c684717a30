/* SPDX-License-Identifier: MIT */
/* Messages are delivered to tasks of this process, and executed when they may. */
#ifndef RP_TASK_EXECUTE_H
#define RP_TASK_EXECUTE_H

#include "task/task_runtime.h"

/* A message from another process, for a task of this one; takes it. A message that the task has had
 * is dropped. */
void rp_task_deliver(struct rp_tasks *tasks, struct rp_task_message *message);

/* The same, from this process. */
void rp_task_deliver_local(struct rp_tasks *tasks, struct rp_task_message *message);

/* Takes one message that is ready, and executes it or has it wait. False: there is none. */
bool rp_tasks_run_one(struct rp_tasks *tasks);

#endif
