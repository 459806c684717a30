/* SPDX-License-Identifier: MIT */
/* Digests by which a replay is compared with its record, and what is checked when a run ends. */
#ifndef RP_TASK_CHECK_H
#define RP_TASK_CHECK_H

#include "task/task_runtime.h"

/* The region of this entry has ended: makes its digest, or compares it with the record. */
void rp_task_check_region(struct rp_tasks *tasks, struct rp_task *task, uint32_t entry);

/* Of the tasks of this process, when the program ends: counts the determinants that the ordering
 * algebra asks for, makes the digests of last states or compares them with the record, and reports
 * messages that were never taken, determinants that were not followed, and regions that are open.
 */
void rp_tasks_check(struct rp_tasks *tasks);

#endif
