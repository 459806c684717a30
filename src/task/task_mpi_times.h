/* SPDX-License-Identifier: MIT */
/* How long phases take: for benchmarks, printed at the end if REPRISE_TASKS_TIMES says how many
 * microseconds an idle process sleeps. */
#ifndef RP_TASK_MPI_TIMES_H
#define RP_TASK_MPI_TIMES_H

#include "task/task_runtime.h"

/* `rest`: those microseconds. 0: idle processes yield, and the processor's clock is not read. */
void rp_task_times_begin(long rest);

/* To be called when the phase may be another than at the last call: the time since then belongs to
 * that one. */
void rp_task_times_phase(struct rp_tasks *tasks);

/* The processor's time of this process in nanoseconds; 0: it is not measured. */
uint64_t rp_task_times_processor(void);

/* Since `before` this process did nothing but look for messages: that does not count. */
void rp_task_times_idle(uint64_t before);

/* Sleeps, or yields. */
void rp_task_times_rest(void);

/* By the first process, at the end. */
void rp_task_times_print(const struct rp_tasks *tasks);

#endif
