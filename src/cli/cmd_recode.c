/* SPDX-License-Identifier: MIT */
/* reprise recode: writes a record again, with another codec, into another directory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "base/text.h"
#include "cli/options.h"
#include "codec/codec.h"
#include "cdc/codec/row_codec.h"
#include "log/manifest.h"
#include "log/recode.h"
#include "log/refusal.h"
#include "log/regionlog.h"
#include "log/rundir.h"
#include "reprise.h"

static const char *output, *codec_name;

static const struct rp_option options[] = {
    {"--codec", NULL, "CODEC",
     "codec of the new record: mix (default, smallest), tables (fastest), or, if RUN has clocks, "
     "cdc, gzip or raw",
     &codec_name},
    {"--output", "-o", "DIR",
     "the directory of the new record (default: RUN-CODEC); it must not exist yet, or be empty",
     &output},
    {NULL, NULL, NULL, NULL, NULL},
};

struct sizes {
    uint64_t events, before, after;
};

/* The new codec: either one of events or one of rows; the other is NULL. */
struct codec {
    const struct rp_codec *events;
    const struct rp_row_codec *rows;
};

static enum rp_status recode_rank(const char *from, const char *to, const struct rp_manifest *m,
                                  uint32_t rank, const struct codec *codec, struct sizes *sizes,
                                  struct rp_problem *why)
{
    struct rp_log *log, *made = NULL;
    enum rp_status status = rp_log_open(from, m->run, rank, m->ranks, &log, why);

    if (status != RP_OK)
        return status;
    sizes->events += rp_log_event_count(log);
    sizes->before += rp_log_size(log);
    status = rp_log_recode(log, to, codec->events, codec->rows, why);
    rp_log_free(log);
    if (status == RP_OK)
        status = rp_regions_copy(from, to, m->run, rank, why);
    if (status == RP_OK)
        status = rp_log_open(to, m->run, rank, m->ranks, &made, why);
    if (status == RP_OK)
        sizes->after += rp_log_size(made);
    rp_log_free(made);
    return status;
}

/* Sets *manifest to that of the new record. Fails if the record `from` lacks what the codec needs.
 */
static enum rp_status describe(const char *from, const char *name, const struct codec *codec,
                               struct rp_manifest *manifest, struct rp_problem *why)
{
    enum rp_status status = rp_manifest_read(from, manifest, why);

    if (status != RP_OK)
        return status;
    if (rp_row_codec_by_name(manifest->codec))
        status =
            rp_fail(why, RP_USAGE, "%s is stored as %s, which leaves out what another codec needs",
                    from, manifest->codec);
    else if (codec->rows && strcmp(manifest->clocks, "lamport") != 0)
        status = rp_fail(why, RP_USAGE, "%s has no clocks, which %s needs: record with --codec %s",
                         from, name, name);
    if (manifest->data)
        *manifest->data = 0; /* it is not written again */
    free(manifest->codec);
    manifest->codec = strdup(name);
    if (status == RP_OK && !manifest->codec)
        status = rp_fail(why, RP_MEMORY, "out of memory");
    if (status != RP_OK)
        rp_manifest_free(manifest);
    return status;
}

static enum rp_status recode(const char *from, const char *to, const struct rp_manifest *m,
                             const struct codec *codec, struct sizes *sizes, struct rp_problem *why)
{
    struct rp_refusal refusal;
    enum rp_status status = rp_manifest_write(to, m, why);

    for (uint32_t i = 0; i < m->ranks && status == RP_OK; i++)
        status = recode_rank(from, to, m, i, codec, sizes, why);
    if (status == RP_OK && rp_refusal_read(from, &refusal))
        rp_refusal_write(to, refusal.rank, refusal.function);
    if (status == RP_OK && m->complete)
        status = rp_manifest_complete(to, why);
    return status;
}

static enum rp_status make_directory(const char *from, const char *codec, char **to,
                                     struct rp_problem *why)
{
    char *beside = NULL;

    if (!output && asprintf(&beside, "%s-%s", from, codec) < 0)
        return rp_fail(why, RP_MEMORY, "out of memory");
    enum rp_status status = rp_run_new_at(output ? output : beside, to, why);
    free(beside);
    return status;
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct rp_problem why;
    struct sizes sizes = {0, 0, 0};
    struct rp_manifest manifest = {0};
    char *from = NULL, *to = NULL;
    const char *run_name;

    if (!rp_options_one_run(command, argc, argv, &run_name))
        return REPRISE_EXIT_USAGE;
    const char *name = codec_name ? codec_name : "mix";
    struct codec codec = {rp_codec_by_name(name), rp_row_codec_by_name(name)};
    if (!codec.events && !codec.rows)
        return rp_usage_error(command, "--codec %s: mix, tables, cdc, gzip or raw is expected",
                              name);
    codec.events = codec.events ? codec.events : &rp_codec_tables;
    enum rp_status status = rp_run_find(run_name, &from, &why);
    if (status == RP_OK)
        status = describe(from, name, &codec, &manifest, &why);
    if (status == RP_OK)
        status = make_directory(from, name, &to, &why);
    if (status == RP_OK)
        status = recode(from, to, &manifest, &codec, &sizes, &why);
    if (status == RP_OK)
        printf("%s: %llu events, %llu bytes, in %s %llu bytes before\n", rp_text_shown(to),
               (unsigned long long)sizes.events, (unsigned long long)sizes.after,
               rp_text_shown(from), (unsigned long long)sizes.before);
    else
        rp_error("cannot recode: %s", why.text);
    rp_manifest_free(&manifest);
    free(from);
    free(to);
    return rp_exit_status(status);
}

const struct rp_command rp_command_recode = {
    .name = "recode",
    .synopsis = "[options] [RUN]",
    .about = "write a record again with another codec",
    .more = "Leaves RUN as it is. The new record replays the same run. Records of rows (cdc, gzip, "
            "raw) cannot be recoded.",
    .options = options,
    .run = run,
};
