/* SPDX-License-Identifier: MIT */
/* Where a result goes: to a file, or to the standard output. What is put into `text` is written now
 * and then, by rp_text_print. One that is all zero was not opened and keeps everything in
 * `text`. */
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

/* A file that exists is written over. A new one is private: it may have command lines in it. */
enum rp_status rp_output_open(const char *path, struct rp_output *out, struct rp_problem *why);

/* Writes what there is, once it is much. */
void rp_output_spill(struct rp_output *out);

/* Writes the rest and closes; the first failure of all is told. With a status other than RP_OK
 * nothing more is written, and a file is removed. */
enum rp_status rp_output_close(struct rp_output *out, enum rp_status status,
                               struct rp_problem *why);

#endif
