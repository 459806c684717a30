/* SPDX-License-Identifier: MIT */
/*
 * What each process of a fault-tolerant job of tasks is doing: a file in the directory of the run,
 * which the processes write and `reprise ft --tasks` reads. It knows from it which processes died
 * and were replaced, how the others ended, and, when nothing moves any more, who waits for what.
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
    RP_TASK_FINALIZED, /* it came out of it */
    RP_TASK_LEFT       /* it ended by itself, with `status` */
};

enum { RP_TASK_WAITS = 120 };

struct rp_task_process {
    _Atomic int32_t state, process, status;
    _Atomic int32_t dead;   /* another process has learnt that it died */
    _Atomic int32_t waits;  /* 1: it waits for what `what` says */
    _Atomic uint32_t steps; /* grows with what it does */
    char what[RP_TASK_WAITS];
};

/* Makes it, with so many lines. Never given back; NULL: it cannot be had. */
struct rp_task_process *rp_task_progress_make(const char *directory, size_t lines);

/* All lines, for one of the processes. Never given back; NULL: there are none. */
struct rp_task_process *rp_task_progress_open(const char *directory, size_t *lines);

#endif
