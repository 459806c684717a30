/* SPDX-License-Identifier: MIT */
/* Tells `reprise ft --tasks` what this process does and waits for (job/task_progress.h). Without
 * that command nothing here has an effect. */
#ifndef RP_TASK_WATCH_H
#define RP_TASK_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "job/task_progress.h"

/* Of all processes of the job; `own` is NULL where nobody reads them. */
struct rp_task_watch {
    struct rp_task_process *lines, *own;
    size_t count;
};
extern struct rp_task_watch rp_task_watch;

/* Finds the lines in the directory of the run, and that of this process among them. */
void rp_task_watch_open(const char *directory, size_t process);

void rp_task_watch_state(enum rp_task_state state);

/* This process ends by itself, with that status. */
void rp_task_watch_left(int status);

/* This process has learnt that another one died. */
void rp_task_watch_learnt(int process);

/* This process waits for `what`, until rp_task_watch_did. */
void rp_task_watch_waits(const char *what);

/* This process does something. */
static inline void rp_task_watch_did(void)
{
    struct rp_task_process *line = rp_task_watch.own;

    if (!line)
        return;
    atomic_store_explicit(&line->waits, 0, memory_order_relaxed);
    uint32_t steps = atomic_load_explicit(&line->steps, memory_order_relaxed);
    atomic_store_explicit(&line->steps, steps + 1, memory_order_relaxed);
}

#endif
