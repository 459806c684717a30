/* SPDX-License-Identifier: MIT */
/* Which messages arrived from other processes since the last checkpoint, so that none is taken
 * twice. */
#ifndef RP_TASK_ARRIVALS_H
#define RP_TASK_ARRIVALS_H

#include "task/task_runtime.h"

/* Adds a message that arrived. Returns false if it arrived before. */
bool rp_task_arrivals_add(struct rp_tasks *tasks, uint32_t task, const struct rp_message_id *id);

/* A process has died: from now on messages may arrive again. */
void rp_task_arrivals_expect_duplicates(struct rp_tasks *tasks);

#endif
