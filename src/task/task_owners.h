/* SPDX-License-Identifier: MIT */
/* Which process owns which task. */
#ifndef RP_TASK_OWNERS_H
#define RP_TASK_OWNERS_H

#include "task/task_runtime.h"

/* Gives the tasks of a collection their owners, by a map of the program; NULL: in blocks of equal
 * length. */
void rp_owners_map(struct rp_tasks *tasks, const struct rp_collection *collection,
                   int (*map)(struct reprise_index, int));

/* The last of `deaths` has died: its tasks are adopted by others. */
void rp_owners_died(struct rp_tasks *tasks);

/* The process behind this one that lives: the buddy, which holds copies of its tasks. */
int rp_owners_next_living(const struct rp_tasks *tasks, int process);

#endif
