/* SPDX-License-Identifier: MIT */
/* How far the ranks of a recording are, also while the recording runs. */
#ifndef RP_PROGRESS_H
#define RP_PROGRESS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "job/job_names.h"
#include "log/format.h"
#include "log/manifest.h"

struct rp_rank_progress {
    enum {
        RP_PROGRESS_ABSENT,
        RP_PROGRESS_WRITTEN,
        RP_PROGRESS_ENDED
    } state; /* no log yet; being written; not any more */
    char name[RP_PROCESS_NAME];
    uint64_t events;
    uint64_t bytes;            /* of the log */
    uint64_t polls;            /* WRITTEN: polls that said no since the last event */
    pid_t pid;                 /* the process that writes the log, as its own host numbers it */
    enum rp_end_reason reason; /* ENDED: how */
    int64_t code;
};

struct rp_progress {
    uint32_t ranks; /* of all jobs of the record */
    struct rp_rank_progress *rank;
    uint64_t events, bytes; /* of all */
    uint32_t written;       /* ranks whose log is being written */
    uint32_t behind;        /* the rank with the fewest events */
};

/* Reads the progress of all ranks of the record `directory`; rp_progress_free frees *out. */
enum rp_status rp_progress_read(const char *directory, const struct rp_manifest *manifest,
                                struct rp_progress *out, struct rp_problem *why);
void rp_progress_free(struct rp_progress *progress);

#endif
