/* SPDX-License-Identifier: MIT */
/* The description of a run: `incomplete` while it lasts, `manifest.json` after a clean end.
 * docs/format.md, section 1. */
#ifndef RP_MANIFEST_H
#define RP_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct rp_manifest {
    uint64_t run;
    uint32_t ranks;
    bool complete; /* which of the two names the file has */
    bool launched_inside;
    char *job; /* of a spawned job: its name (job/job_names.h); empty: that of the launcher */
    char *mpi, *mpi_version;
    char *program, *build_id;
    char *directory, *host, *started, *reprise;
    char **command;     /* NULL-terminated */
    char **allowed;     /* NULL-terminated */
    char **environment; /* NULL-terminated, NAME=VALUE: what was set for the command, as rank 0 had
                           it; empty where reprise did not start the launcher, and in older
                           records */
    char *codec;        /* of the logs; empty in records of before: one of events */
    char *clocks;  /* "lamport": messages carried these, and polls were counted by call site; may be
                      empty */
    char *capture; /* what of the outside was recorded, separated by commas; may be empty */
    char *threads; /* "all": also of threads that never call MPI it was recorded what they do with
                      locks; may be empty */
    char *wrappers; /* names of wrappers, whose callers were distinguished (event/wrappers.h); empty
                       in records of before: they were not */
    char *
        data; /* ranks whose data was recorded, such as 3,7-9; empty: none, or a record of before */
};

void rp_manifest_free(struct rp_manifest *manifest);

/* Reads the description of the record in `directory`; rp_manifest_free frees *out. Returns
 * RP_DAMAGED if its checksum is wrong. */
enum rp_status rp_manifest_read(const char *directory, struct rp_manifest *out,
                                struct rp_problem *why);

/* Writes `incomplete`. Returns RP_USAGE if the directory has a description already. */
enum rp_status rp_manifest_write(const char *directory, const struct rp_manifest *manifest,
                                 struct rp_problem *why);

/* Renames `incomplete` to `manifest.json`. */
enum rp_status rp_manifest_complete(const char *directory, struct rp_problem *why);

#endif
