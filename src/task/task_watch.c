/* SPDX-License-Identifier: MIT */
#include "task/task_watch.h"

#include <stdio.h>

struct rp_task_watch rp_task_watch;

void rp_task_watch_open(const char *directory, size_t process)
{
    rp_task_watch.lines = rp_task_progress_open(directory, &rp_task_watch.count);
    rp_task_watch.own = process < rp_task_watch.count ? &rp_task_watch.lines[process] : NULL;
}

void rp_task_watch_state(enum rp_task_state state)
{
    if (rp_task_watch.own)
        rp_task_watch.own->state = (int32_t)state;
    rp_task_watch_did();
}

void rp_task_watch_left(int status)
{
    if (!rp_task_watch.own)
        return;
    rp_task_watch.own->status = status;
    rp_task_watch_state(RP_TASK_LEFT);
}

void rp_task_watch_learnt(int process)
{
    if ((size_t)process < rp_task_watch.count)
        rp_task_watch.lines[process].dead = 1;
}

void rp_task_watch_waits(const char *what)
{
    if (!rp_task_watch.own)
        return;
    snprintf(rp_task_watch.own->what, RP_TASK_WAITS, "%s", what);
    rp_task_watch.own->waits = 1;
}
