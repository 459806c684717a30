/* SPDX-License-Identifier: MIT */
/* What a run wrote, as one number by which runs are compared. */
#ifndef RP_OUTPUT_DIGEST_H
#define RP_OUTPUT_DIGEST_H

#include <stdint.h>

#include "base/status.h"

/* Sets *digest to a digest of the lines of the file that does not depend on their order: launchers
 * mix the lines of ranks. */
enum rp_status rp_output_digest(const char *path, uint64_t *digest, struct rp_problem *why);

/* Runs a shell command with the file as its standard input. Sets *digest to a digest of everything
 * that the command writes, in order, and of its exit status. */
enum rp_status rp_output_digest_by(const char *command, const char *path, uint64_t *digest,
                                   struct rp_problem *why);

#endif
