/* SPDX-License-Identifier: MIT */
/*
 * Names of jobs and processes. The job of the launcher has the name "", and its processes have
 * their rank as name: 3. The n-th spawn whose root was process P makes the job P.n; process r of
 * that job is P.n.r. So names are the same in each run of a program that takes the same path.
 */
#ifndef RP_JOB_NAMES_H
#define RP_JOB_NAMES_H

#include <stdbool.h>

/* Room for the name of a job, and for that of a process. */
enum { RP_JOB_NAME = 96, RP_PROCESS_NAME = 112 };

/* The job that this process belongs to (REPRISE_JOB): "" for that of the launcher. */
const char *rp_job_own(void);

/* Returns whether `name` is the name of a spawned job. */
bool rp_job_is_name(const char *name);

/* Writes the name of process `rank` of `job` into `name`, and returns that. */
const char *rp_process_name(const char *job, long rank, char name[RP_PROCESS_NAME]);

/* Writes the name of the job of the n-th spawn (from 1) whose root is `process`. Returns false if
 * it would be too long. */
bool rp_job_of_spawn(const char *process, unsigned long n, char name[RP_JOB_NAME]);

/* Writes "4 ranks", or "4 ranks and 2 children", into `text`, and returns that. */
enum { RP_RANKS_WORDS = 64 };
const char *rp_ranks_words(unsigned ranks, unsigned children, char text[RP_RANKS_WORDS]);

/* Orders names of jobs as their numbers are: 0.2 before 0.10. The same as strcmp otherwise. */
int rp_job_compare(const char *one, const char *other);

/* For the child of a spawn, before MPI is initialised: tells the root that reprise is in this
 * process (REPRISE_MARK), by making that file. */
void rp_job_enter(void);

#endif
