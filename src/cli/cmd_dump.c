/* SPDX-License-Identifier: MIT */
/* reprise dump: the events or rows of a record, one a line, as text or as JSON lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/diagnostics.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/dumprows.h"
#include "cli/print_writers.h"
#include "event/describe.h"
#include "event/naming.h"
#include "log/jobs.h"
#include "log/logreader.h"
#include "log/rundir.h"
#include "report/callsites.h"
#include "reprise.h"

static const char *json, *rank_text, *sites, *who;

static const struct rp_option options[] = {
    {"--rank", "-r", "RANK", "print this rank only, such as 3, or 0.1.2 for a child", &rank_text},
    {"--sites", NULL, NULL, "print the call sites with their stacks, not the events", &sites},
    {"--who", NULL, NULL,
     "print which rank wrote what each one-sided read got, not the events; after 'reprise solo "
     "--who'",
     &who},
    {"--json", NULL, NULL, "print JSON, one object a line", &json},
    RP_OPTION_WRAPPERS,
    {NULL, NULL, NULL, NULL, NULL},
};

#define U64(x) ((unsigned long long)(x))

/* The job whose processes are printed, "" that of the launcher; and the name of the process. */
static const char *job_name = "";
static char process[RP_PROCESS_NAME];

/* By site: " at=file:line" and its wrappers, found when they are first needed; NULL: not yet. */
static char **places;

/* Appends the wrappers, the outermost first, such as " through=take@wrap.c:7". */
static void put_wrappers(struct rp_buffer *out, const struct rp_site_place *place)
{
    for (size_t i = place->wrappers; i-- > 0;) {
        const struct rp_source_line *line = &place->wrapper[i].line;
        rp_buffer_printf(out, "%s%s", i + 1 == place->wrappers ? " through=" : ",",
                         line->function ? rp_text_shown(line->function) : "?");
        if (line->file)
            rp_buffer_printf(out, "@%s:%d", rp_text_shown(line->file), line->line);
    }
}

static char *describe_place(struct rp_naming *naming, const struct rp_site_table *table,
                            uint32_t site)
{
    struct rp_site_place place;
    struct rp_buffer text = {0};

    if (rp_naming_find(naming, table, site, &place))
        rp_buffer_printf(&text, " at=%s:%d", rp_text_shown(place.spot.line.file),
                         place.spot.line.line);
    else if (place.wrappers > 0 && place.spot.line.function)
        rp_buffer_printf(&text, " at=%s", rp_text_shown(place.spot.line.function));
    put_wrappers(&text, &place);
    rp_buffer_byte(&text, 0);
    char *made = text.failed ? NULL : strdup((char *)text.bytes);
    rp_buffer_free(&text);
    return made;
}

static const char *place_of(struct rp_naming *naming, const struct rp_site_table *table,
                            uint32_t site)
{
    if (places && !places[site])
        places[site] = describe_place(naming, table, site);
    return places && places[site] ? places[site] : "";
}

static void forget_places(const struct rp_site_table *table)
{
    for (size_t i = 0; places && i < table->site_count; i++)
        free(places[i]);
    free(places);
    places = NULL;
}

static void put_text(struct rp_buffer *out, uint64_t number, const struct rp_event *e,
                     const uint64_t *time, const char *function, const char *place)
{
    rp_buffer_printf(out, "%s %llu %s %s site=%u", process, U64(number), rp_event_name(e->kind),
                     rp_text_shown(function), e->site);
    if (e->posts)
        rp_buffer_printf(out, " posts=%u", e->posts);
    rp_event_put_fields(e, false, out);
    if (time)
        rp_buffer_printf(out, " time=%llu", U64(*time));
    rp_buffer_printf(out, "%s\n", place);
}

static void put_json_job(struct rp_buffer *out)
{
    rp_buffer_byte(out, '{');
    if (*job_name)
        rp_buffer_printf(out, "\"job\": \"%s\", ", job_name);
}

static void put_json(struct rp_buffer *out, uint32_t rank, uint64_t number,
                     const struct rp_event *e, const uint64_t *time, const char *function)
{
    put_json_job(out);
    rp_buffer_printf(out, "\"rank\": %u, \"event\": %llu, \"kind\": \"%s\", \"function\": ", rank,
                     U64(number), rp_event_name(e->kind));
    rp_json_put_string(out, function);
    rp_buffer_printf(out, ", \"site\": %u, \"posts\": %u", e->site, e->posts);
    rp_event_put_fields(e, true, out);
    if (time)
        rp_buffer_printf(out, ", \"time\": %llu", U64(*time));
    rp_buffer_printf(out, "}\n");
}

static bool flush(struct rp_buffer *out)
{
    bool done = rp_text_print(stdout, out->bytes, out->length);

    rp_buffer_clear(out);
    return done;
}

static void put_event(struct rp_buffer *out, struct rp_naming *naming,
                      const struct rp_site_table *table, uint32_t rank, uint64_t number,
                      const struct rp_event *e, const uint64_t *time)
{
    const char *function = table->sites[e->site].function;

    if (json)
        put_json(out, rank, number, e, time, function);
    else
        put_text(out, number, e, time, function, place_of(naming, table, e->site));
}

static enum rp_status dump_events(struct rp_log *log, struct rp_naming *naming, uint32_t rank,
                                  struct rp_event *events, struct rp_problem *why)
{
    const struct rp_site_table *table = rp_log_site_table(log);
    struct rp_buffer out = {0};
    uint64_t number = 0;
    size_t count;
    enum rp_status status;

    places = calloc(table->site_count + 1, sizeof *places);
    while ((status = rp_log_next_block(log, events, &count, why)) == RP_OK && count > 0) {
        const uint64_t *times = rp_log_block_times(log);
        for (size_t i = 0; i < count; i++)
            put_event(&out, naming, table, rank, number++, &events[i], times ? &times[i] : NULL);
        if (flush(&out))
            continue;
        status = rp_fail(why, RP_SYSTEM, "cannot write: %s", "output closed");
        break;
    }
    rp_buffer_free(&out);
    forget_places(table);
    return status;
}

static void put_json_place(struct rp_buffer *out, struct rp_naming *naming,
                           const struct rp_site_table *table, uint32_t site)
{
    struct rp_site_place place;
    struct rp_buffer text = {0};

    rp_naming_find(naming, table, site, &place);
    rp_site_place_put(&text, &place);
    rp_buffer_byte(&text, 0);
    rp_json_put_string(out, text.failed ? "" : (char *)text.bytes);
    rp_buffer_free(&text);
}

static void put_json_site(struct rp_buffer *out, struct rp_naming *naming,
                          const struct rp_site_table *table, uint32_t rank, uint32_t site)
{
    put_json_job(out);
    rp_buffer_printf(out, "\"rank\": %u, \"site\": %u, \"function\": ", rank, site);
    rp_json_put_string(out, table->sites[site].function);
    rp_buffer_printf(out, ", \"place\": ");
    put_json_place(out, naming, table, site);
    rp_buffer_printf(out, ", \"frames\": ");
    rp_source_lines_put_frames(rp_naming_lines(naming), table, site, out);
    rp_buffer_printf(out, "}\n");
}

static void dump_sites(struct rp_log *log, struct rp_naming *naming, uint32_t rank)
{
    const struct rp_site_table *table = rp_log_site_table(log);
    struct rp_buffer out = {0};

    for (uint32_t i = 0; i < table->site_count; i++) {
        if (json) {
            put_json_site(&out, naming, table, rank, i);
            continue;
        }
        rp_buffer_printf(&out, "%s site %u:\n", process, i);
        rp_naming_print_site(naming, table, i, "  ", &out);
    }
    flush(&out);
    rp_buffer_free(&out);
}

static enum rp_status dump_rank(const char *directory, const struct rp_manifest *m,
                                struct rp_naming *naming, uint32_t rank, struct rp_problem *why)
{
    struct rp_log *log;
    struct rp_event *events = malloc(RP_CHUNK_EVENTS_LIMIT * sizeof *events);
    enum rp_status status = events ? RP_OK : rp_fail(why, RP_MEMORY, "out of memory");

    if (status == RP_OK)
        status = rp_log_open(directory, m->run, rank, m->ranks, &log, why);
    if (status == RP_OK) {
        if (sites)
            dump_sites(log, naming, rank);
        else if (rp_log_has_rows(log))
            status = rp_dump_rows(log, rank, json != NULL, why);
        else
            status = dump_events(log, naming, rank, events, why);
        rp_log_free(log);
    }
    free(events);
    return status;
}

/* Processes of all jobs. */
static enum rp_status chosen_ranks(const struct rp_jobs *jobs, uint32_t *first, uint32_t *last,
                                   struct rp_problem *why)
{
    *first = 0;
    *last = jobs->processes - 1;
    if (!rank_text)
        return RP_OK;
    *first = *last = rp_jobs_find(jobs, rank_text);
    if (*first == UINT32_MAX)
        return rp_fail(why, RP_USAGE, "--rank %s: the record has ranks 0 to %u%s", rank_text,
                       jobs->job[0].manifest.ranks - 1,
                       jobs->count > 1 ? ", and children, which 'reprise info' lists" : "");
    return RP_OK;
}

/* Those from `first` to `last` that are of the job. */
static enum rp_status dump_job(const struct rp_job *job, uint32_t first, uint32_t last,
                               struct rp_problem *why)
{
    uint32_t end = job->first + job->manifest.ranks;
    enum rp_status status = RP_OK;

    if (last < job->first || first >= end)
        return RP_OK;
    struct rp_naming *naming = rp_naming_open(job->manifest.wrappers);
    rp_learn_callers(naming, job->directory, &job->manifest);
    job_name = job->name;
    for (uint32_t i = job->first; status == RP_OK && i < end; i++) {
        if (i < first || i > last)
            continue;
        rp_process_name(job->name, i - job->first, process);
        status = dump_rank(job->directory, &job->manifest, naming, i - job->first, why);
    }
    rp_naming_close(naming);
    return status;
}

static enum rp_status dump(const char *name, struct rp_problem *why)
{
    struct rp_jobs jobs;
    char *directory;
    uint32_t first, last;
    enum rp_status status = rp_run_find(name, &directory, why);

    if (status != RP_OK)
        return status;
    status = rp_jobs_read(directory, &jobs, why);
    if (status == RP_OK) {
        status = chosen_ranks(&jobs, &first, &last, why);
        if (status == RP_OK && who)
            status =
                rp_print_writers(directory, &jobs.job[0].manifest, rank_text, json != NULL, why);
        for (size_t i = 0; !who && status == RP_OK && i < jobs.count; i++)
            status = dump_job(&jobs.job[i], first, last, why);
        rp_jobs_free(&jobs);
    }
    free(directory);
    return status;
}

static int run(const struct rp_command *command, int argc, char **argv)
{
    struct rp_problem why;
    const char *name;

    if (!rp_options_one_run(command, argc, argv, &name))
        return REPRISE_EXIT_USAGE;
    enum rp_status status = dump(name, &why);
    fflush(stdout);
    if (status != RP_OK)
        rp_error("%s", why.text);
    return rp_exit_status(status);
}

const struct rp_command rp_command_dump = {
    .name = "dump",
    .synopsis = "[options] [RUN]",
    .about = "print the events of a record",
    .more = "A line is: rank, event number, kind, MPI function, and the event's fields "
            "(docs/format.md, section 3).\n"
            "A record of rows: rank, row number, kind, MPI function, and the row's fields; of cdc, "
            "its tables.\n"
            "With --who: rank, call, READ or CHANGE, MPI function, where it read, and which rank "
            "wrote that (docs/model.md).",
    .options = options,
    .run = run,
};
