/* SPDX-License-Identifier: MIT */
/* Which message a task may execute now, and which executions need a determinant. */
#ifndef RP_TASK_ORDER_H
#define RP_TASK_ORDER_H

#include "task/task_runtime.h"

/* Whether known determinants let the message run now. */
bool rp_task_order_may_run(const struct rp_tasks *tasks, const struct rp_task *task,
                           const struct rp_task_message *message);

/* The message runs now: moves the place, and makes a determinant if one is needed. */
void rp_task_order_note(struct rp_tasks *tasks, struct rp_task *task,
                        const struct rp_task_message *message);

/* Whether the task has nothing but order-dependent messages of known number. */
bool rp_task_order_is_counted(const struct rp_tasks *tasks, const struct rp_task *task);

#endif
