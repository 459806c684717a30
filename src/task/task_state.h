/* SPDX-License-Identifier: MIT */
/* A single task: where it is among all, its name, its state. */
#ifndef RP_TASK_STATE_H
#define RP_TASK_STATE_H

#include "task/task_runtime.h"

/* NULL, after rp_tasks_fail: there is no such collection, or no such task in it. */
const struct rp_collection *rp_tasks_collection(struct rp_tasks *tasks, int collection);
struct rp_task *rp_tasks_task(struct rp_tasks *tasks, int collection, struct reprise_index index);

struct reprise_index rp_task_index(const struct rp_tasks *tasks, const struct rp_task *task);

/* For messages: COLLECTION(x,y,z). */
void rp_task_name(const struct rp_tasks *tasks, const struct rp_task *task,
                  char name[RP_TASK_NAME]);

/* Gives the task the state in which the program makes it. */
void rp_task_make(struct rp_tasks *tasks, struct rp_task *task);

/* Frees the state, and the messages that wait for the task. */
void rp_task_empty(struct rp_task *task);

/* As bytes, for checkpoints and moves. Load returns false for bytes that are no such task. */
void rp_task_save(const struct rp_tasks *tasks, const struct rp_task *task, struct rp_buffer *out);
bool rp_task_load(struct rp_tasks *tasks, struct rp_task *task, struct rp_view *in);

/* Finds the place of the task among its known determinants. */
void rp_task_follow_known(struct rp_task *task);

/* A digest of a state, or of what a message carries. */
uint64_t rp_task_hash(const void *bytes, size_t length);

#endif
