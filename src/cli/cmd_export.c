/* SPDX-License-Identifier: MIT */
/* reprise export: a record as a trace that other viewers read. */
#include <stdlib.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "cli/options.h"
#include "log/rundir.h"
#include "report/intervals.h"
#include "reprise.h"

static const char *perfetto, *otf2, *output;

static const struct rp_option options[] = {
    {"--perfetto", NULL, NULL, "Chrome's trace JSON, for ui.perfetto.dev and chrome://tracing",
     &perfetto},
    {"--otf2", NULL, NULL, "an OTF2 archive, if reprise was built with that library", &otf2},
    {"--output", "-o", "FILE",
     "write to this file; with --otf2, which needs this option, to a directory that does not exist "
     "yet",
     &output},
    RP_OPTION_WRAPPERS,
    {NULL, NULL, NULL, NULL, NULL},
};

static enum rp_status write_perfetto(const struct rp_trace *trace, struct rp_problem *why)
{
    struct rp_output out;
    enum rp_status status = rp_output_open(output, &out, why);

    if (status != RP_OK)
        return status;
    rp_trace_put_perfetto(&out, trace);
    return rp_output_close(&out, RP_OK, why);
}

static enum rp_status export_run(const char *directory, struct rp_problem *why)
{
    struct rp_report report;
    struct rp_trace trace;
    enum rp_status status = rp_report_collect(directory, true, &report, why);

    if (status != RP_OK)
        return status;
    if (!report.timelines)
        status = rp_fail(why, RP_USAGE,
                         "%s holds rows (codec cdc, gzip or raw), which do not keep the order of "
                         "events: only records of codec mix or tables can be exported",
                         directory);
    if (status == RP_OK)
        status = rp_trace_make(&report, &trace, why);
    if (status == RP_OK) {
        if (!report.clocked)
            rp_note("without arrows: sends are known of records with clocks ('record --clocks')");
        status = otf2 ? rp_trace_write_otf2(&trace, output, why) : write_perfetto(&trace, why);
        rp_trace_free(&trace);
    }
    rp_report_free(&report);
    return status;
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct rp_problem why;
    char *directory = NULL;
    int operands = rp_options_parse_all(command, argc, argv);

    if (operands < 0)
        return REPRISE_EXIT_USAGE;
    if (operands > 1)
        return rp_usage_error(command, "one RUN is expected, not '%s' too", argv[1]);
    if (!perfetto == !otf2)
        return rp_usage_error(command, "one of --perfetto and --otf2 is expected");
    if (otf2 && !output)
        return rp_usage_error(command, "--otf2 makes a directory: -o says which");
    enum rp_status status =
        rp_run_find(operands > 0 ? argv[0] : rp_setting("REPRISE_RUN"), &directory, &why);
    if (status == RP_OK)
        status = export_run(directory, &why);
    free(directory);
    if (status != RP_OK)
        rp_error("%s", why.text);
    return rp_exit_status(status);
}

const struct rp_command rp_command_export = {
    .name = "export",
    .synopsis = "--perfetto|--otf2 [options] [RUN]",
    .about = "write a record as a trace for other viewers",
    .more =
        "Each rank is a process. If the record has times (record --timestamps), events have these; "
        "else every event takes one microsecond. Arrows between ranks need 'record --clocks'.",
    .options = options,
    .run = run,
};
