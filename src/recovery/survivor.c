/* SPDX-License-Identifier: MIT */
#include "recovery/survivor.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct rp_survivor rp_survivor;

void rp_survivor_begin(void)
{
    rp_survivor.id = getpid();
    rp_survivor.number = (size_t)strtoul(getenv("OMPI_COMM_WORLD_RANK"), NULL, 10);
}

bool rp_survivor_is_this(void)
{
    return rp_survivor.id != 0 && getpid() == rp_survivor.id;
}

void rp_survivor_watch(const char *directory, enum rp_process_state state)
{
    struct rp_process_progress *progress = rp_job_progress_open(directory, rp_survivor.number);

    if (!progress)
        return;
    progress->process = (int32_t)rp_survivor.id;
    progress->left = RP_PROCESS_NO_WORD;
    progress->state = (int32_t)state;
    rp_survivor.progress = progress;
    rp_job_progress_note_term(progress);
}

void rp_survivor_note_state(enum rp_process_state state)
{
    if (rp_survivor.progress && rp_survivor_is_this())
        rp_survivor.progress->state = (int32_t)state;
    if (state == RP_PROCESS_INSIDE)
        rp_job_progress_let_term();
}

void rp_survivor_leave_init(void)
{
    while (rp_survivor.progress &&
           !rp_job_progress_open_gate(rp_survivor.progress, rp_survivor.number))
        pause();
    rp_survivor_note_state(RP_PROCESS_INSIDE);
}

void rp_survivor_left(void)
{
    if (rp_survivor.progress && rp_survivor_is_this())
        rp_survivor.progress->left = RP_PROCESS_LEFT;
}

void rp_survivor_ignore_broken_pipes(void)
{
    struct sigaction action;

    if (sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
}
