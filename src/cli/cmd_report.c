/* SPDX-License-Identifier: MIT */
/* reprise report: where a program is non-deterministic, and who sent what to whom. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/diagnostics.h"
#include "job/settings.h"
#include "cli/options.h"
#include "cli/html_path.h"
#include "log/jobs.h"
#include "log/rundir.h"
#include "report/recovery.h"
#include "report/reporthtml.h"
#include "reprise.h"

static const char *format, *output;

static const struct rp_option options[] = {
    {"--format", NULL, "FORMAT", "html (default), text or json", &format},
    {"--output", "-o", "FILE",
     "write to this file (default: RUN.html for html, else standard output)", &output},
    RP_OPTION_WRAPPERS,
    {NULL, NULL, NULL, NULL, NULL},
};

static const struct backend {
    const char *name;
    const char *suffix; /* of files that are meant for it */
    bool with_timelines;
    bool is_page;
    void (*put)(struct rp_output *out, const struct rp_report *reports, size_t count);
    void (*put_recovery)(struct rp_output *out, const struct rp_recovery *recovery);
} backends[] = {
    {"html", ".html", true, true, rp_report_put_html, rp_recovery_put_html},
    {"text", ".txt", false, false, rp_report_put_text, rp_recovery_put_text},
    {"json", ".json", true, false, rp_report_put_json, rp_recovery_put_json},
};

static const struct backend *find_backend(const char *name)
{
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
        if (strcmp(backends[i].name, name) == 0)
            return &backends[i];
    return NULL;
}

static const struct backend *backend_for_file(const char *path)
{
    for (size_t i = 0; path && i < sizeof backends / sizeof *backends; i++)
        if (rp_ends_with(path, backends[i].suffix))
            return &backends[i];
    return &backends[0];
}

struct collected {
    struct rp_report *reports;
    size_t count;
};

static enum rp_status collect_job(const char *directory, const struct backend *backend,
                                  struct collected *c, struct rp_problem *why)
{
    struct rp_report *more = realloc(c->reports, (c->count + 1) * sizeof *more);

    if (!more)
        return rp_fail(why, RP_MEMORY, "out of memory");
    c->reports = more;
    enum rp_status status =
        rp_report_collect(directory, backend->with_timelines, &c->reports[c->count], why);
    c->count += status == RP_OK;
    return status;
}

/* The record, and those of the jobs that were spawned behind it. */
static enum rp_status collect(const char *name, const struct backend *backend, struct collected *c,
                              struct rp_problem *why)
{
    struct rp_jobs jobs = {0};
    struct rp_manifest manifest;
    char *directory;
    enum rp_status status = rp_run_find(name, &directory, why);

    if (status != RP_OK)
        return status;
    bool is_job = rp_manifest_read(directory, &manifest, why) == RP_OK && *manifest.job;
    status = collect_job(directory, backend, c, why);
    if (status == RP_OK && !is_job)
        status = rp_jobs_read(directory, &jobs, why);
    for (size_t i = 1; status == RP_OK && i < jobs.count; i++)
        status = collect_job(jobs.job[i].directory, backend, c, why);
    rp_jobs_free(&jobs);
    rp_manifest_free(&manifest);
    free(directory);
    return status;
}

/* Writes a report of `count` records, or, unless `recovery` is NULL, of the recoveries of one run.
 */
static enum rp_status write_reports(const struct backend *backend, const struct rp_report *reports,
                                    size_t count, const struct rp_recovery *recovery,
                                    struct rp_problem *why)
{
    struct rp_output out;
    char *path = backend->is_page ? rp_html_path(output, recovery ? recovery->directory
                                                                  : reports[0].facts.directory)
                                  : NULL;
    enum rp_status status = backend->is_page && !path
                                ? rp_fail(why, RP_MEMORY, "out of memory")
                                : rp_output_open(path ? path : output, &out, why);

    if (status == RP_OK) {
        if (recovery)
            backend->put_recovery(&out, recovery);
        else
            backend->put(&out, reports, count);
        status = rp_output_close(&out, RP_OK, why);
    }
    if (status == RP_OK && path)
        rp_page_tell(path);
    free(path);
    return status;
}

static int report_recovery(const struct backend *backend, const char *name)
{
    struct rp_recovery recovery;
    struct rp_problem why;
    char *directory = rp_path_absolute(name);
    enum rp_status status = directory ? rp_recovery_collect(directory, &recovery, &why)
                                      : rp_fail(&why, RP_MEMORY, "out of memory");

    if (status == RP_OK) {
        status = write_reports(backend, NULL, 0, &recovery, &why);
        rp_recovery_free(&recovery);
    }
    if (status != RP_OK)
        rp_error("%s", why.text);
    free(directory);
    return rp_exit_status(status);
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    const char *latest = rp_setting("REPRISE_RUN");
    struct rp_problem why;
    int operands = rp_options_parse_all(command, argc, argv);

    if (operands < 0)
        return REPRISE_EXIT_USAGE;
    const struct backend *backend = format ? find_backend(format) : backend_for_file(output);
    if (!backend)
        return rp_usage_error(command, "--format %s: there are html, text and json", format);
    if (operands == 1 && rp_recovery_is_here(argv[0]))
        return report_recovery(backend, argv[0]);
    struct collected c = {0};
    enum rp_status status = RP_OK;
    for (int i = 0; status == RP_OK && i < (operands > 0 ? operands : 1); i++)
        status = collect(operands > 0 ? argv[i] : latest, backend, &c, &why);
    if (status == RP_OK)
        status = write_reports(backend, c.reports, c.count, NULL, &why);
    if (status != RP_OK)
        rp_error("%s", why.text);
    for (size_t i = 0; i < c.count; i++)
        rp_report_free(&c.reports[i]);
    free(c.reports);
    return rp_exit_status(status);
}

const struct rp_command rp_command_report = {
    .name = "report",
    .synopsis = "[options] [RUN...]",
    .about = "show where a program is non-deterministic, by source line",
    .more =
        "Shows, for each record, the call sites where MPI had a choice, who sent to whom, and what "
        "the logs are made of. HTML and JSON have every event, too. The HTML page is one file, "
        "RUN.html in the current directory unless -o names another; any browser opens it, without "
        "a network. Without --format, the names FILE.txt and FILE.json choose text and JSON.\n"
        "For a directory that `reprise ft -o` wrote, it shows the recoveries, each from the "
        "failure until the dead rank had caught up.",
    .options = options,
    .run = run,
};
