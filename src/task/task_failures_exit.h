/* SPDX-License-Identifier: MIT */
/* How a process of a fault-tolerant job begins and ends. */
#ifndef RP_TASK_FAILURES_EXIT_H
#define RP_TASK_FAILURES_EXIT_H

/* Failures are survived from here on. `stop` ends the job with a status, and does not return; it is
 * called if the program exits before rp_failures_exit_disarm. Returns when the command that started
 * the job lets it run. */
void rp_failures_exit_arm(void (*stop)(int status));
void rp_failures_exit_disarm(void);

#endif
