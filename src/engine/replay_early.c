/* SPDX-License-Identifier: MIT */
/* The captured values from before MPI_Init: they stand first in the record of a rank, and are
 * needed before MPI can say which rank this is. The launcher's environment does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/settings.h"
#include "log/jobs.h"
#include "log/logreader.h"
#include "log/manifest.h"
#include "log/rundir.h"
#include "interpose/capture.h"
#include "entry/engine.h"

static void take_early(struct rp_log *log)
{
    struct rp_event *events = malloc(RP_CHUNK_EVENTS_LIMIT * sizeof *events);
    const struct rp_site_table *sites = rp_log_site_table(log);
    struct rp_problem why;
    size_t count;
    bool more = events != NULL;

    while (more && rp_log_next_block(log, events, &count, &why) == RP_OK && count > 0)
        for (size_t i = 0; i < count && more; i++) {
            more = events[i].kind == RP_VALUE && events[i].scope == 1;
            if (more)
                rp_capture_add_early(strdup(sites->sites[events[i].site].function), 0,
                                     events[i].value.small, events[i].value.large);
        }
    free(events);
}

void rp_replay_load_early(void)
{
    struct rp_manifest manifest;
    struct rp_problem why;
    struct rp_log *log;
    char *directory = NULL;
    int rank;

    const char *solo = rp_setting("REPRISE_SOLO");

    if (solo)
        rank = (int)strtol(solo, NULL, 10);
    if ((!solo && !rp_launched_rank(&rank)) ||
        rp_run_find(rp_setting("REPRISE_RUN"), &directory, &why) != RP_OK)
        return;
    char *own = rp_job_directory(directory, rp_job_own());
    if (own && rp_manifest_read(own, &manifest, &why) == RP_OK) {
        if (rp_log_open(own, manifest.run, (uint32_t)rank, manifest.ranks, &log, &why) == RP_OK) {
            take_early(log);
            rp_log_free(log);
        }
        rp_manifest_free(&manifest);
    }
    free(own);
    free(directory);
}
