/* SPDX-License-Identifier: MIT */
/* reprise report: where a program is non-deterministic, and who sent what to whom. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/settings.h"
#include "cli/options.h"
#include "log/rundir.h"
#include "report/report.h"
#include "reprise.h"

static const char *format, *output;

static const struct rp_option options[] = {
    {"--format", NULL, "FORMAT", "text (default) or json", &format},
    {"--output", "-o", "FILE", "write there, not to the standard output", &output},
    {NULL, NULL, NULL, NULL, NULL},
};

static const struct backend {
    const char *name;
    bool with_timelines;
    void (*put)(struct rp_output *out, const struct rp_report *reports, size_t count);
} backends[] = {
    {"text", false, rp_report_put_text},
    {"json", true, rp_report_put_json},
};

static const struct backend *find_backend(const char *name)
{
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
        if (strcmp(backends[i].name, name) == 0)
            return &backends[i];
    return NULL;
}

static enum rp_status collect(const char *name, const struct backend *backend, struct rp_report *report, struct rp_problem *why)
{
    char *directory;
    enum rp_status status = rp_run_find(name, &directory, why);

    if (status != RP_OK)
        return status;
    status = rp_report_collect(directory, backend->with_timelines, report, why);
    free(directory);
    return status;
}

static enum rp_status write_reports(const struct backend *backend, const struct rp_report *reports, size_t count, struct rp_problem *why)
{
    struct rp_output out;
    enum rp_status status = rp_output_open(output, &out, why);

    if (status != RP_OK)
        return status;
    backend->put(&out, reports, count);
    return rp_output_close(&out, RP_OK, why);
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    const char *latest = rp_setting("REPRISE_RUN");
    struct rp_problem why;
    int operands = rp_options_parse_all(command, argc, argv);

    if (operands < 0)
        return REPRISE_EXIT_USAGE;
    const struct backend *backend = find_backend(format ? format : "text");
    if (!backend)
        return rp_usage_error(command, "--format %s: there are text and json", format);
    size_t count = operands > 0 ? (size_t)operands : 1, collected = 0;
    struct rp_report *reports = calloc(count, sizeof *reports);
    enum rp_status status = reports ? RP_OK : rp_fail(&why, RP_MEMORY, "out of memory");
    for (; status == RP_OK && collected < count; collected += status == RP_OK)
        status = collect(operands > 0 ? argv[collected] : latest, backend, &reports[collected], &why);
    if (status == RP_OK)
        status = write_reports(backend, reports, count, &why);
    if (status != RP_OK)
        rp_error("%s", why.text);
    for (size_t i = 0; i < collected; i++)
        rp_report_free(&reports[i]);
    free(reports);
    return rp_exit_status(status);
}

const struct rp_command rp_command_report = {
    .name = "report",
    .synopsis = "[options] [RUN...]",
    .about = "show where a program is non-deterministic, by source line",
    .more = "For each record: the call sites where MPI had a choice, who sent to whom, and what the logs are made of; as JSON also every event.",
    .options = options,
    .run = run,
};
