/* SPDX-License-Identifier: MIT */
/*
 * The decisions file of deterministic runs (docs/format.md, section 15): a text file with counts
 * and a digest of what each rank decided, by which two runs are compared. A file without its first
 * line means that no job ran deterministically.
 */
#ifndef RP_DET_DIGEST_H
#define RP_DET_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define RP_DECISIONS_NAME "decisions" /* in a directory that is kept */

struct rp_det_digest {
    uint64_t matches, answers, digest;
};

/* Writes the first line at the start of a job, unless another job has. The file must exist. */
enum rp_status rp_det_digest_open(const char *path, struct rp_problem *why);

/* Appends the digests of a job that has ended: each[r] is that of rank r. */
enum rp_status rp_det_digest_add(const char *path, const struct rp_det_digest *each, uint32_t ranks,
                                 struct rp_problem *why);

/* Appends a line that says that a job was ended for an error of the program, with the exit status
 * of the command. */
enum rp_status rp_det_digest_end(const char *path, int exit_status, struct rp_problem *why);

/* Returns the exit status of the first such line; 0 if there is none, or the file cannot be
 * read. */
int rp_det_digest_ended(const char *path);

/* Reads the digests of all jobs, in the order in which the jobs ended: *each and *ranks are arrays
 * of *count digests and the ranks that they belong to; rank 0 begins the next job. The caller frees
 * both. *count is 0 if no job has ended. */
enum rp_status rp_det_digest_read(const char *path, struct rp_det_digest **each, uint32_t **ranks,
                                  size_t *count, struct rp_problem *why);

#endif
