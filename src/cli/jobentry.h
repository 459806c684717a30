/* SPDX-License-Identifier: MIT */
/* Whether reprise's library is in the processes of a job: without it, spares would be ranks. */
#ifndef RP_JOBENTRY_H
#define RP_JOBENTRY_H

#include "base/status.h"
#include "cli/jobwatch.h"

/*
 * Before the start: refuses (RP_UNSUPPORTED) a command in which a program can be seen that cannot
 * be entered, since it is static, setuid or not linked with Open MPI. words[0] is the launcher.
 * What scripts and other programs will start is not seen.
 */
enum rp_status rp_job_check_program(char **words, struct rp_problem *why);

struct rp_entries;

/* Watches the children of the launcher; `directory` is that of the run. NULL without memory. */
struct rp_entries *rp_entries_new(struct rp_job *job, const char *directory);
void rp_entries_free(struct rp_entries *entries);

/* Whether a process runs, or ended, that is not entered: `text` says which, and why. To be called
 * some times a second. All that the launcher started are killed then. */
bool rp_entries_find_outsider(struct rp_entries *entries, pid_t launcher, char text[512]);

/* Of a job that ended with this status: whether it ran without us. */
bool rp_entries_ran_outside(const struct rp_entries *entries, int status, char text[512]);

/* Kills all that are below the launcher; returns how many there were. */
int rp_job_kill_children(pid_t launcher);

#endif
