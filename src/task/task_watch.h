/* SPDX-License-Identifier: MIT */
/* Tells `reprise ft --tasks` what this process does and waits for (job/task_progress.h). Without
 * that command only the notes of rp_task_watch_idle are left. */
#ifndef RP_TASK_WATCH_H
#define RP_TASK_WATCH_H

#include <stdatomic.h>
#include <sys/types.h>

#include "job/task_progress.h"

struct rp_tasks;

extern struct rp_task_process *rp_task_watch_line; /* our own; NULL: nobody reads */

/* Finds the line of this process in the directory of the run. */
void rp_task_watch_open(const char *directory, size_t process);

void rp_task_watch_state(enum rp_task_state state);

/* It ends by itself. */
void rp_task_watch_left(int status);

/* That another one died. */
void rp_task_watch_learnt(int process);

/* Nothing is to be done now: says for what it waits, after a while to the user, too. */
void rp_task_watch_idle(const struct rp_tasks *tasks);

/* It is inside a call that waits for others, until rp_task_watch_did. */
void rp_task_watch_blocks(const char *what);

/* It does something. */
static inline void rp_task_watch_did(void)
{
    struct rp_task_process *line = rp_task_watch_line;

    if (!line)
        return;
    atomic_store_explicit(&line->waits, 0, memory_order_relaxed);
    uint32_t steps = atomic_load_explicit(&line->steps, memory_order_relaxed);
    atomic_store_explicit(&line->steps, steps + 1, memory_order_relaxed);
}

#endif
