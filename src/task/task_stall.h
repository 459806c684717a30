/* SPDX-License-Identifier: MIT */
/* What an idle process waits for: for `reprise ft --tasks`, and for the user. */
#ifndef RP_TASK_STALL_H
#define RP_TASK_STALL_H

struct rp_tasks;

/* Nothing is to be done now. After a second the command learns what this process waits for; after
 * a failure the user does, when it has waited for long. */
void rp_task_stall_idle(const struct rp_tasks *tasks);

#endif
