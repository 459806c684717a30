/* SPDX-License-Identifier: MIT */
/* The processes of a job on this host, as the command sees them that started its launcher. */
#ifndef RP_JOBWATCH_H
#define RP_JOBWATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "job/job_progress.h"

struct rp_job {
    struct rp_process_progress *roll; /* NULL: nothing is known of them */
    int ranks, processes;             /* those behind the ranks are spares */
    double next, since;               /* 0 at first */
    char lost[320]; /* who ended first before they were out of MPI_Init; empty: none */
    bool killed;    /* and did not do so by themselves */
};

/*
 * Returns whether the job is stuck. Either processes ended before they left MPI_Init: the others
 * wait there for ever, since a launcher that takes the death of a process for no failure does not
 * inform them. Or all processes have ended, but the launcher has not. Sets `text` to a sentence
 * that says so and names the processes. From then on no process leaves MPI_Init. Call this some
 * times a second, with the launcher's id; the launcher's children are the processes, or run them.
 */
bool rp_job_is_stuck(struct rp_job *job, pid_t launcher, char text[512]);

/* Of a job that ended: whether processes did not come out of MPI_Init, as when the MPI itself saw
 * that one had died there. `text` says who ended first. */
bool rp_job_failed_in_init(struct rp_job *job, char text[512]);

/* Whether no rank has left MPI_Init, nor will, and one was killed: the job can be started again. */
bool rp_job_can_begin_again(struct rp_job *job);

/* Kills all processes that have this in their environment, NAME=VALUE, and waits until they are
 * gone. Returns how many there were. */
int rp_job_end_rest(const char *variable);

/* Its parent; -1: it is dead, or waits to be buried. */
pid_t rp_process_parent(long process);

/* Calls it with every process of this host, until it says no; false: they cannot be listed. */
bool rp_processes_each(bool (*look)(void *data, long process), void *data);

/* What it was started with, /proc/ID/environ; its own changes are not seen. */
bool rp_process_environment(long process, struct rp_buffer *text);

double rp_job_now(void); /* seconds */

#endif
