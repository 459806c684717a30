/* SPDX-License-Identifier: MIT */
/* The jobs of a record: that of the launcher, and those that MPI_Comm_spawn started, each in a
 * directory of its own in that of the record (docs/format.md, section 17). */
#ifndef RP_JOBS_H
#define RP_JOBS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "job/job_names.h"
#include "log/manifest.h"

struct rp_job {
    char name[RP_JOB_NAME]; /* "": that of the launcher */
    char *directory;
    struct rp_manifest manifest;
    uint32_t first; /* processes of the jobs before */
};

/* job[0] is that of the launcher; the others are in the order of their names. */
struct rp_jobs {
    struct rp_job *job;
    size_t count;
    uint32_t processes; /* of all jobs */
};

/* Reads the descriptions of all jobs of the record `directory`; rp_jobs_free frees *out. Returns
 * RP_DAMAGED if a job that was spawned is missing or belongs to another record. */
enum rp_status rp_jobs_read(const char *directory, struct rp_jobs *out, struct rp_problem *why);
void rp_jobs_free(struct rp_jobs *jobs);

/* Returns the job of process `process` (from 0 over all jobs), and sets *rank to its rank in it. */
const struct rp_job *rp_jobs_of(const struct rp_jobs *jobs, uint32_t process, uint32_t *rank);

/* Returns the process of that name (such as 3 or 0.1.2), or UINT32_MAX if there is none. */
uint32_t rp_jobs_find(const struct rp_jobs *jobs, const char *name);

/* Returns the directory of a job in that of the record, `record` itself for the job "". To be
 * freed. */
char *rp_job_directory(const char *record, const char *job);

/* Returns whether `directory` is that of a spawned job, and not a record of its own; if so, fails
 * with where the record is. */
enum rp_status rp_job_refuse(const char *directory, const struct rp_manifest *manifest,
                             struct rp_problem *why);

/* Notes in the record that its job `job` was spawned, with `ranks` processes; 0: the spawn
 * failed. */
enum rp_status rp_job_note(const char *record, const char *job, uint32_t ranks,
                           struct rp_problem *why);

/* Returns whether the record has a note that the spawn of `job` failed. */
bool rp_job_failed(const char *record, const char *job);

#endif
