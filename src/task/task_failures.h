/* SPDX-License-Identifier: MIT */
/* How the task runtime learns that processes have died. */
#ifndef RP_TASK_FAILURES_H
#define RP_TASK_FAILURES_H

#include <mpi.h>

#include "task/task.h"

/* The communicator of the tasks. */
MPI_Comm rp_failures_begin(void);

/* Tells the runtime of new failures, in the same order at all processes; `idle`: how often it found nothing to do since. */
void rp_failures_look(struct rp_tasks *tasks, MPI_Comm comm, unsigned idle);

void rp_failures_end(struct rp_tasks *tasks, MPI_Comm comm);

#endif
