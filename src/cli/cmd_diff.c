/* SPDX-License-Identifier: MIT */
/* reprise diff: where two runs part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "cli/diffdecisions.h"
#include "cli/options.h"
#include "cli/html_path.h"
#include "log/jobs.h"
#include "log/rundir.h"
#include "report/reporthtml.h"
#include "reprise.h"

static const char *html, *json, *output, *ignore_polls;

static const struct rp_option options[] = {
    {"--html", NULL, NULL, "write a page that draws both runs side by side; so does -o FILE.html",
     &html},
    {"--ignore-polls", NULL, NULL, "ignore polls that answered no", &ignore_polls},
    {"--json", NULL, NULL, "as JSON", &json},
    {"--output", "-o", "FILE",
     "write to this file (default: RUN1-RUN2.html for a page, else standard output)", &output},
    RP_OPTION_WRAPPERS,
    {NULL, NULL, NULL, NULL, NULL},
};

static enum rp_status write_diff(const struct rp_diff *diff, struct rp_problem *why)
{
    struct rp_output out;
    enum rp_status status = rp_output_open(output, &out, why);

    if (status != RP_OK)
        return status;
    (json ? rp_diff_put_json : rp_diff_put_text)(&out, diff);
    return rp_output_close(&out, RP_OK, why);
}

static enum rp_status write_page(const struct rp_diff *diff, struct rp_problem *why)
{
    struct rp_output out;
    struct rp_report reports[2];
    int collected = 0;
    enum rp_status status = RP_OK;
    char *path = rp_html_path_of_two(output, diff->directory[0], diff->directory[1]);

    if (!path)
        return rp_fail(why, RP_MEMORY, "out of memory");
    for (; status == RP_OK && collected < 2; collected += status == RP_OK)
        status = rp_report_collect(diff->directory[collected], true, &reports[collected], why);
    if (status == RP_OK)
        status = rp_output_open(path, &out, why);
    if (status == RP_OK) {
        rp_diff_put_html(&out, diff, reports);
        status = rp_output_close(&out, RP_OK, why);
    }
    if (status == RP_OK)
        rp_page_tell(path);
    while (collected > 0)
        rp_report_free(&reports[--collected]);
    free(path);
    return status;
}

static enum rp_status diff_job(const char *one, const char *other, bool *differ,
                               struct rp_problem *why)
{
    struct rp_diff diff;
    enum rp_status status = rp_diff_collect(one, other, ignore_polls != NULL, &diff, why);

    if (status != RP_OK)
        return status;
    status = (html ? write_page : write_diff)(&diff, why);
    *differ |= diff.rank_count > 0;
    rp_diff_free(&diff);
    return status;
}

static const struct rp_job *find_job(const struct rp_jobs *jobs, const char *name)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (strcmp(jobs->job[i].name, name) == 0)
            return &jobs->job[i];
    return NULL;
}

/* Says which spawned jobs only one record has, and compares those that both have: as text; of a
 * page or JSON, which are of one job each, says how. */
static enum rp_status diff_children(const struct rp_jobs jobs[2], bool *differ,
                                    struct rp_problem *why)
{
    enum rp_status status = RP_OK;

    for (int side = 0; side < 2; side++)
        for (size_t i = 1; status == RP_OK && i < jobs[side].count; i++) {
            const struct rp_job *job = &jobs[side].job[i];
            const struct rp_job *same = find_job(&jobs[1 - side], job->name);
            if (!same) {
                rp_note("only %s has the spawned job %s", jobs[side].job[0].directory, job->name);
                *differ = true;
            } else if (side == 0 && (html || json || output)) {
                rp_note("the spawned job %s: 'reprise diff %s %s' compares it", job->name,
                        job->directory, same->directory);
            } else if (side == 0) {
                printf("\njob %s:\n", job->name);
                fflush(stdout);
                status = diff_job(job->directory, same->directory, differ, why);
            }
        }
    return status;
}

static bool is_of_job(const char *directory)
{
    struct rp_manifest manifest;
    struct rp_problem ignored;
    bool is_job = rp_manifest_read(directory, &manifest, &ignored) == RP_OK && *manifest.job;

    rp_manifest_free(&manifest);
    return is_job;
}

static enum rp_status diff_records(const char *one, const char *other, bool *differ,
                                   struct rp_problem *why)
{
    struct rp_jobs jobs[2] = {{0}, {0}};
    enum rp_status status = diff_job(one, other, differ, why);

    if (status != RP_OK || is_of_job(one) || is_of_job(other))
        return status;
    status = rp_jobs_read(one, &jobs[0], why);
    if (status == RP_OK)
        status = rp_jobs_read(other, &jobs[1], why);
    if (status == RP_OK)
        status = diff_children(jobs, differ, why);
    rp_jobs_free(&jobs[0]);
    rp_jobs_free(&jobs[1]);
    return status;
}

static enum rp_status diff_runs(const char *one, const char *other, bool *differ,
                                struct rp_problem *why)
{
    if (!rp_det_digest_are_kept(one) && !rp_det_digest_are_kept(other))
        return diff_records(one, other, differ, why);
    if (html || json || ignore_polls)
        return rp_fail(why, RP_USAGE,
                       "digests of deterministic runs are compared as text, without options; "
                       "'reprise det --record' makes records, which show more");
    return rp_det_digest_diff(one, other, output, differ, why);
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    enum { DIFFERENT = 1 };
    struct rp_problem why;
    char *one = NULL, *other = NULL;
    bool differ = false;
    int operands = rp_options_parse_all(command, argc, argv);

    if (operands < 0)
        return REPRISE_EXIT_USAGE;
    if (operands != 2)
        return rp_usage_error(command, "two records are expected, not %d", operands);
    if (html && json)
        return rp_usage_error(command, "--html and --json exclude each other");
    if (!json && output && rp_ends_with(output, ".html"))
        html = "1";
    enum rp_status status = rp_run_find(argv[0], &one, &why);
    if (status == RP_OK)
        status = rp_run_find(argv[1], &other, &why);
    if (status == RP_OK)
        status = diff_runs(one, other, &differ, &why);
    free(one);
    free(other);
    if (status != RP_OK)
        rp_error("%s", why.text);
    return status != RP_OK ? rp_exit_status(status) : differ ? DIFFERENT : 0;
}

const struct rp_command rp_command_diff = {
    .name = "diff",
    .synopsis = "[options] RUN1 RUN2",
    .about = "show where two runs differ",
    .more = "Shows the first event that differs in each rank, and which of these came first. The "
            "exit status is 1 if there is a difference, and 0 if there is none.\n"
            "Given directories of 'reprise det --check -o DIR', it compares their digests and "
            "shows which ranks decided differently.",
    .options = options,
    .run = run,
};
