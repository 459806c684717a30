/* SPDX-License-Identifier: MIT */
/*
 * A file in the directory of the run that shows what each process of a fault-tolerant job of tasks
 * is doing. The processes write it, `reprise ft --tasks` reads it. It learns which processes died
 * and were replaced, how the others ended, and, when nothing moves any more, what each process
 * waits for.
 */
#ifndef RP_TASK_PROGRESS_H
#define RP_TASK_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

enum rp_task_state {
    RP_TASK_UNSEEN,
    RP_TASK_STARTED,   /* its library was loaded */
    RP_TASK_RUNS,      /* reprise_tasks_begin has returned */
    RP_TASK_ENDED,     /* reprise_tasks_end has returned */
    RP_TASK_FINALIZES, /* it is in MPI_Finalize */
    RP_TASK_FINALIZED, /* it has left MPI_Finalize */
    RP_TASK_LEFT       /* it ended by itself, with `status` */
};

enum { RP_TASK_WAITS = 120 };

struct rp_task_process {
    _Atomic int32_t state, process, status;
    _Atomic int32_t dead;   /* another process has noticed its death */
    _Atomic int32_t waits;  /* 1: it waits for what `what` says */
    _Atomic uint32_t steps; /* a counter of its progress */
    char what[RP_TASK_WAITS];
};

/* Makes the file in `directory` with `lines` lines, and returns the first. Returns NULL on failure.
 * The mapping is never released. */
struct rp_task_process *rp_task_progress_make(const char *directory, size_t lines);

/* Returns the first line for one of the processes, and sets *lines to their number. Returns NULL if
 * there is no file. The mapping is never released. */
struct rp_task_process *rp_task_progress_open(const char *directory, size_t *lines);

#endif
