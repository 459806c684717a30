/* SPDX-License-Identifier: MIT */
/* The task runtime of one process, above a transport. */
#ifndef RP_TASKS_H
#define RP_TASKS_H

#include "task/task_runtime.h"

void rp_tasks_init(struct rp_tasks *tasks, enum rp_task_mode mode, int self, int processes,
                   const struct rp_transport *transport);
void rp_tasks_free(struct rp_tasks *tasks);

/* Takes what has arrived, and executes a message at most. False: there is nothing to do now. */
bool rp_tasks_step(struct rp_tasks *tasks);

#endif
