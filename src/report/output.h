/* SPDX-License-Identifier: MIT */
/* The destination of a result: a file, or the standard output. Callers append to `text`, which
 * rp_output_spill writes once it is long. An output that is all zero was not opened and keeps
 * everything in `text`. */
#ifndef RP_OUTPUT_H
#define RP_OUTPUT_H

#include <stdio.h>

#include "base/buffer.h"
#include "base/status.h"

struct rp_output {
    const char *path; /* NULL: standard output */
    FILE *file;       /* NULL: none */
    struct rp_buffer text;
    int error; /* errno of the first failure, or 0 */
};

/* Opens an output to the file `path`, or to the standard output if `path` is NULL. A file that
 * exists is overwritten. A new one is private, since it may have command lines in it. */
enum rp_status rp_output_open(const char *path, struct rp_output *out, struct rp_problem *why);

/* Writes `text` and empties it, if it is long. */
void rp_output_spill(struct rp_output *out);

/* Writes the rest and closes the output. Returns the first failure of all writes. If `status` is
 * not RP_OK, writes nothing more and removes the file. */
enum rp_status rp_output_close(struct rp_output *out, enum rp_status status,
                               struct rp_problem *why);

#endif
