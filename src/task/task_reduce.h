/* SPDX-License-Identifier: MIT */
/* Reductions, which are made of tasks themselves. */
#ifndef RP_TASK_REDUCE_H
#define RP_TASK_REDUCE_H

#include "task/task_runtime.h"

void rp_reductions_init(struct rp_tasks *tasks);
void rp_reductions_free(struct rp_tasks *tasks);

/* The result of a reduction has arrived, for reprise_result. */
void rp_reduction_receive(struct rp_tasks *tasks, const struct rp_parcel_head *head,
                          const uint8_t *data);

#endif
