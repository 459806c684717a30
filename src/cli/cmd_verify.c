/* SPDX-License-Identifier: MIT */
/* reprise verify: reads every byte of a record and checks it. Names all damaged ranks, not only the
 * first. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/tasksinfo.h"
#include "log/datareader.h"
#include "log/jobs.h"
#include "log/logreader.h"
#include "log/manifest.h"
#include "log/order_log.h"
#include "log/regionlog.h"
#include "log/rundir.h"
#include "log/taskrecord.h"
#include "reprise.h"

static const struct rp_option options[] = {
    {NULL, NULL, NULL, NULL, NULL},
};

static enum rp_status verify_loads(const char *directory, const struct rp_manifest *m,
                                   uint32_t rank, struct rp_problem *why)
{
    struct rp_data_reader *reader;
    enum rp_status status = rp_data_open_loads(directory, m->run, rank, m->ranks, &reader, why);

    if (status != RP_OK)
        return status;
    status = rp_data_verify(reader, why);
    rp_data_free(reader);
    return status;
}

/* Checks the log of turns of a rank, if there is one: ranks without threads that call have none. */
static enum rp_status verify_turns(const char *directory, const struct rp_manifest *m,
                                   uint32_t rank, struct rp_problem *why)
{
    struct rp_data_reader *reader;
    char *path = rp_data_kind_path(&rp_data_of_turns, directory, rank);
    bool is_there = path && access(path, F_OK) == 0;

    free(path);
    if (!is_there)
        return RP_OK;
    enum rp_status status = rp_data_open_turns(directory, m->run, rank, m->ranks, &reader, why);
    if (status != RP_OK)
        return status;
    status = rp_data_verify(reader, why);
    rp_data_free(reader);
    return status;
}

/* Checks the order log of a rank, if there is one: ranks that made no windows have none. */
static enum rp_status verify_order(const char *directory, const struct rp_manifest *m,
                                   uint32_t rank, struct rp_problem *why)
{
    struct rp_order_log order;
    enum rp_status status = rp_order_log_read(directory, m->run, rank, &order, why);

    if (status == RP_OK)
        rp_order_log_free(&order);
    return status == RP_USAGE ? RP_OK : status;
}

/* Checks the data log of a rank. Ranks that --ranks did not name have none. */
static enum rp_status verify_data(const char *directory, const struct rp_manifest *m, uint32_t rank,
                                  struct rp_problem *why)
{
    struct rp_data_reader *reader;
    char *path = rp_data_path(directory, rank);
    bool is_there = path && access(path, F_OK) == 0;

    free(path);
    if (!is_there && !rp_ranks_have(m->data, rank))
        return RP_OK;
    enum rp_status status = rp_data_open(directory, m->run, rank, m->ranks, &reader, why);
    if (status != RP_OK)
        return status;
    status = rp_data_verify(reader, why);
    if (status == RP_OK && rp_data_is_tracked(reader))
        status = verify_loads(directory, m, rank, why);
    if (status == RP_OK)
        status = verify_turns(directory, m, rank, why);
    rp_data_free(reader);
    return status == RP_OK ? verify_order(directory, m, rank, why) : status;
}

static enum rp_status verify_regions(const char *directory, const struct rp_manifest *m,
                                     uint32_t rank, struct rp_problem *why)
{
    struct rp_regions regions;
    enum rp_status status = rp_regions_read(directory, m->run, rank, &regions, why);

    rp_regions_free(&regions);
    return status;
}

static enum rp_status verify_rank(const char *directory, const struct rp_manifest *m, uint32_t rank,
                                  uint64_t *events)
{
    struct rp_log *log;
    struct rp_problem why;
    struct rp_log_sum sum;
    enum rp_status status = rp_log_open(directory, m->run, rank, m->ranks, &log, &why);

    if (status == RP_OK) {
        status = rp_log_verify(log, &sum, &why);
        if (status == RP_OK)
            status = rp_log_verify_index(log, &why);
        if (status == RP_OK)
            *events = sum.events;
        rp_log_free(log);
    }
    if (status == RP_OK)
        status = verify_data(directory, m, rank, &why);
    if (status == RP_OK)
        status = verify_regions(directory, m, rank, &why);
    if (status != RP_OK)
        rp_error("%s", why.text);
    return status;
}

static bool is_complete(const struct rp_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (!jobs->job[i].manifest.complete)
            return false;
    return true;
}

static enum rp_status verify(const char *directory, const struct rp_jobs *jobs)
{
    enum rp_status worst = RP_OK;
    uint64_t sum = 0;
    uint32_t bad = 0, rank, own = jobs->job[0].manifest.ranks;
    char words[RP_RANKS_WORDS];

    for (uint32_t i = 0; i < jobs->processes; i++) {
        uint64_t events = 0;
        const struct rp_job *job = rp_jobs_of(jobs, i, &rank);
        enum rp_status status = verify_rank(job->directory, &job->manifest, rank, &events);
        sum += events;
        bad += status != RP_OK;
        if (status != RP_OK && (worst == RP_OK || status == RP_DAMAGED))
            worst = status;
    }
    if (worst == RP_OK)
        printf("%s: %llu events on %s, all checks passed%s\n", rp_text_shown(directory),
               (unsigned long long)sum, rp_ranks_words(own, jobs->processes - own, words),
               is_complete(jobs) ? "" : " (incomplete: not all ranks finished)");
    else if (bad > 0)
        rp_error("%s: %u of %u ranks cannot be read", directory, bad, jobs->processes);
    return worst;
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct rp_jobs jobs;
    struct rp_problem why;
    char *directory = NULL;
    const char *name;

    if (!rp_options_one_run(command, argc, argv, &name))
        return REPRISE_EXIT_USAGE;
    enum rp_status status = rp_run_find(name, &directory, &why);
    if (status == RP_OK && rp_task_record_is(directory)) {
        int exit_status = rp_tasks_verify(directory);
        free(directory);
        return exit_status;
    }
    if (status == RP_OK)
        status = rp_jobs_read(directory, &jobs, &why);
    if (status != RP_OK) {
        rp_error("%s", why.text);
        free(directory);
        return rp_exit_status(status);
    }
    status = verify(directory, &jobs);
    rp_jobs_free(&jobs);
    free(directory);
    return rp_exit_status(status);
}

const struct rp_command rp_command_verify = {
    .name = "verify",
    .synopsis = "[RUN]",
    .about = "check every byte of a record",
    .options = options,
    .run = run,
};
