/* SPDX-License-Identifier: MIT */
/* How the task runtime learns that processes have died. */
#ifndef RP_TASK_FAILURES_H
#define RP_TASK_FAILURES_H

#include <mpi.h>

#include "task/task_runtime.h"

/* The communicator of the tasks; `wanted`: its failures are to be survived. MPI_COMM_NULL: a
 * process has died already, so that there is none. */
MPI_Comm rp_failures_begin(bool wanted);

/* Tells the runtime of new failures, in the same order at all processes. */
void rp_failures_look(struct rp_tasks *tasks, MPI_Comm comm);

/* Returns when all living processes have called it; they know the same processes to be dead
 * then. */
void rp_failures_end(struct rp_tasks *tasks, MPI_Comm comm);

/* For tests: this process dies here if REPRISE_TASKS_KILL says so. */
void rp_failures_inject(const struct rp_tasks *tasks);

#endif
