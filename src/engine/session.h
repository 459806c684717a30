/* SPDX-License-Identifier: MIT */
/* What the ranks of a job agree on when a mode starts: where the record is, and that every rank can
 * go on. */
#ifndef RP_SESSION_H
#define RP_SESSION_H

#include <limits.h>
#include <stdint.h>

#include "base/status.h"
#include "event/site.h"
#include "job/job_names.h"
#include "log/manifest.h"

struct rp_session {
    int rank, ranks;
    uint64_t run;
    char job[RP_JOB_NAME]; /* of these ranks; "": that of the launcher */
    char name[RP_PROCESS_NAME];
    char directory[PATH_MAX]; /* of the job */
    char record[PATH_MAX];    /* of all jobs */
    char wrappers[PATH_MAX];  /* of a replay: by which the record distinguishes callers; empty: it
                                 does not */
};

/* Rank, size and job; messages carry the name from now on. */
void rp_session_open(struct rp_session *session);

/* The same for a partial replay (REPRISE_SOLO): as its record says; what it makes goes
 * to REPRISE_OUTPUT. All that follows is then this process's own affair. */
enum rp_status rp_session_open_partial(struct rp_session *session, struct rp_problem *why);
bool rp_session_is_partial(void);

/* Rank 0's run and directory, or its failure (already said there), go to all. Returns the same
 * status everywhere. */
enum rp_status rp_session_share(struct rp_session *session, enum rp_status status);

/* Rank 0's text goes to all. */
void rp_session_share_text(char text[PATH_MAX]);

/* Rank 0 of a replay: the record that is meant, and whether this job can be a replay of it (the
 * MPI, the number of ranks, the program). On success the manifest is the caller's to free. */
enum rp_status rp_session_find_record(struct rp_session *session, struct rp_manifest *manifest,
                                      struct rp_problem *why);

/* If the status, the same on all ranks, is a failure: all leave MPI and exit. */
void rp_session_leave_unless_ok(enum rp_status status);

/* If any rank failed (and said why), all ranks call `undo` (may be NULL), leave MPI and exit with
 * the largest exit status. */
void rp_session_agree(enum rp_status status, void (*undo)(void));

/* The sums of all ranks, at rank 0. */
void rp_session_sum(const uint64_t *own, uint64_t *sum, int count);

/* Returns when all ranks have called it. */
void rp_session_meet(void);

/* The family of MPIs: `openmpi`, `mpich` or `abi`. */
const char *rp_session_mpi(void);

/* The first line of the version of the MPI of this process. The caller frees it. */
char *rp_session_mpi_version(void);

/* The program's build id in hex, or a hash of its file; to be freed. */
char *rp_session_build_id(void);

#endif
