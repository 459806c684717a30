/* SPDX-License-Identifier: MIT */
/*
 * What the ranks of deterministic runs decided, by numbers and digests, in a file of text
 * (docs/format.md, section 15): by it two runs are compared, and that there is a first line tells
 * that a job ran deterministically at all.
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

/* A job begins: the first line is written, unless another job has. The file must exist. */
enum rp_status rp_det_digest_open(const char *path, struct rp_problem *why);

/* Appends those of a job that has ended, by rank. */
enum rp_status rp_det_digest_add(const char *path, const struct rp_det_digest *each, uint32_t ranks,
                                 struct rp_problem *why);

/* Appends that a job was ended for an error of the program, and the command's exit status. */
enum rp_status rp_det_digest_end(const char *path, int exit_status, struct rp_problem *why);

/* The exit status of the first job that was ended so; 0: none was, or it cannot be read. */
int rp_det_digest_ended(const char *path);

/* Those of all jobs, in the order in which they ended: rank 0 begins the next. To be freed; none if
 * no job has ended. */
enum rp_status rp_det_digest_read(const char *path, struct rp_det_digest **each, uint32_t **ranks,
                                  size_t *count, struct rp_problem *why);

#endif
