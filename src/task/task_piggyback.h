/* SPDX-License-Identifier: MIT */
/* Determinants travel with messages until enough processes hold them. */
#ifndef RP_TASK_PIGGYBACK_H
#define RP_TASK_PIGGYBACK_H

#include "task/task_runtime.h"

void rp_task_piggyback_init(struct rp_tasks *tasks);
void rp_task_piggyback_free(struct rp_tasks *tasks);

/* This process has made a determinant. */
void rp_task_piggyback_made(struct rp_tasks *tasks, const struct rp_determinant *one);

/* Appends the determinants that go with the next message to that process; returns how many. */
uint32_t rp_task_piggyback_put(struct rp_tasks *tasks, int process, struct rp_buffer *out);

/* Holds the `count` determinants that came with a message of that process. */
void rp_task_piggyback_take(struct rp_tasks *tasks, int process, uint32_t count,
                            const uint8_t *bytes, size_t length);

/* Tells the others which of their determinants this process holds, if it has not yet. */
void rp_task_piggyback_acknowledge(struct rp_tasks *tasks);

/* That process holds the determinants of this one up to `number`. */
void rp_task_piggyback_acknowledged(struct rp_tasks *tasks, int process, uint64_t number);

/* That process needs no acknowledgement: it has died. */
void rp_task_piggyback_died(struct rp_tasks *tasks, int process);

/* A checkpoint stands: no determinant from before it is needed. */
void rp_task_piggyback_clear(struct rp_tasks *tasks);

#endif
