/* SPDX-License-Identifier: MIT */
/* What a run wrote, as one number by which runs are compared. */
#ifndef RP_OUTPUT_DIGEST_H
#define RP_OUTPUT_DIGEST_H

#include <stdint.h>

#include "base/status.h"

/* Of the lines of the file, in whatever order: launchers mix those of ranks as they come. */
enum rp_status rp_output_digest(const char *path, uint64_t *digest, struct rp_problem *why);

/* Of what a shell command makes of the file, which is its standard input: all that it writes, in
 * order, and its exit status. */
enum rp_status rp_output_digest_by(const char *command, const char *path, uint64_t *digest,
                                   struct rp_problem *why);

#endif
