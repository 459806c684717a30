/* SPDX-License-Identifier: MIT */
/* The order of messages in shuffled replays (log/task_trace_file.h). */
#ifndef RP_TASK_TRACE_H
#define RP_TASK_TRACE_H

#include "base/status.h"
#include "task/task_runtime.h"

/* Reads what is to be followed, when all collections are known. */
enum rp_status rp_task_trace_begin(struct rp_tasks *tasks, struct rp_problem *why);

/* Whether the order that is followed lets the message run now. */
bool rp_task_trace_may_run(const struct rp_tasks *tasks, const struct rp_task *task,
                           const struct rp_task_message *message);

/* The message runs now. */
void rp_task_trace_note(struct rp_tasks *tasks, struct rp_task *task,
                        const struct rp_task_message *message);

/* The task comes here, and has taken so many messages. */
void rp_task_trace_moved(struct rp_task *task, uint64_t taken);

/* A digest that belongs to the result of the replay. */
void rp_task_trace_digest(struct rp_tasks *tasks, const struct rp_task *task,
                          const struct rp_task_digest *found);

/* Writes the file of this process, if one is wanted. */
enum rp_status rp_task_trace_write(const struct rp_tasks *tasks, struct rp_problem *why);

#endif
