/* SPDX-License-Identifier: MIT */
/* Which rank wrote what the one-sided reads of a record found: docs/model.md, "Who wrote it". */
#ifndef RP_ATTRIBUTION_H
#define RP_ATTRIBUTION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "log/manifest.h"

struct rp_who;

struct rp_attribution_counts {
    uint64_t reads, parts;    /* parts of reads that were written by different ranks, or calls */
    uint64_t inside, outside; /* written by a rank that is known, by another */
    uint64_t several, untold; /* written by one of several ranks; the writer is unknown */
};

/* Takes all ranks whose accesses are there (log/accesslog.h). RP_USAGE: there are none. */
enum rp_status rp_attribution_open(const char *directory, const struct rp_manifest *manifest,
                                   struct rp_who **out, struct rp_problem *why);
void rp_attribution_free(struct rp_who *who);

/* Writes to `out` a line for each part of each read. `ranks` is a list such as 3,7-9, or NULL for
 * all ranks. Returns RP_SYSTEM if a line could not be written. */
enum rp_status rp_attribution_print(struct rp_who *who, const char *ranks, bool json, FILE *out,
                                    struct rp_attribution_counts *counts, struct rp_problem *why);

#endif
