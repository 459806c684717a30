/* SPDX-License-Identifier: MIT */
/*
 * One pass over the events of each rank, one rank after the other. Counts that are those of a rank
 * (different sources, entropy) are added to the call sites at its end.
 *
 * An event counts for the site of the call that told the program its outcome. So the match of a
 * receive counts for the Wait that completed it, not for the place where it was posted, which is
 * not recorded.
 */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "log/logreader.h"
#include "report/counters.h"

/* A rank on the way through its log. */
struct walk {
    struct rp_report *report;
    struct rp_timeline *timeline; /* NULL: not asked for */
    uint32_t rank;
    const uint32_t *rows; /* of the sites of the log */
    uint8_t *is_here;     /* by row: there were events of it */
    struct rp_event last; /* the event before that is of a call; kind 0: none */
    int32_t thread;
    uint64_t highest_post;       /* of the matches so far, + 1 */
    uint64_t expected_post;      /* of the column c */
    struct rp_counters outcomes; /* by row and source, or index */
    struct rp_counters sources;
};

/* Call sites */

static bool is_match(const struct rp_event *event)
{
    return (event->kind == RP_RECV || event->kind == RP_PROBE || event->kind == RP_MATCH) &&
           event->any.a >= 0;
}

static bool completes_several(const char *function)
{
    return strstr(function, "all") || strstr(function, "some");
}

/* Calls that this event says have begun. Two calls of Waitall that follow each other, with nothing
 * posted between them, are taken for one. */
static uint64_t calls_begun(const struct rp_event *last, const struct rp_event *event,
                            const char *function)
{
    bool same_site = last->kind != 0 && last->site == event->site;

    switch (event->kind) {
    case RP_NO:
        return event->any.c;
    case RP_RECV:
    case RP_PROBE:
    case RP_YES:
    case RP_ERROR:
    case RP_VALUE:
        return 1;
    case RP_MATCH:
    case RP_CANCELLED:
    case RP_UNSENT:
        if (!same_site || event->posts > 0)
            return 1;
        if (last->kind == RP_YES || last->kind == RP_NEXT)
            return 0;
        return !(rp_event_has_post(last->kind) || last->kind == RP_UNSENT) ||
               !completes_several(function);
    case RP_CLOCK:
        return !same_site || last->kind == RP_NO ||
               (last->kind == RP_CLOCK && rp_clock_left(last->scope) == 0);
    default:
        return 0;
    }
}

static uint64_t outcome_key(uint32_t row, bool is_index, int32_t value)
{
    return (uint64_t)row << 33 | (uint64_t)is_index << 32 | (uint32_t)value;
}

static void count_for_site(struct walk *w, const struct rp_event *event)
{
    uint32_t row = w->rows[event->site];
    struct rp_call_site *site = &w->report->sites.rows[row];

    if (event->kind == RP_THREAD || event->kind == RP_TURN)
        return;
    w->is_here[row] = 1;
    site->events++;
    site->calls += calls_begun(&w->last, event, site->function);
    site->polls += event->kind == RP_NO ? event->no.times : 0;
    if (event->kind == RP_MATCH) {
        site->out_of_order += event->match.post < w->highest_post;
        w->highest_post =
            event->match.post >= w->highest_post ? event->match.post + 1 : w->highest_post;
    }
    if (is_match(event)) {
        site->matches++;
        rp_counters_add(&w->outcomes, outcome_key(row, false, event->any.a));
    } else if (event->kind == RP_YES && event->yes.index >= 0) {
        rp_counters_add(&w->outcomes, outcome_key(row, true, event->yes.index));
    }
}

struct distribution {
    uint64_t total[2]; /* of sources; of indices */
    uint32_t different[2];
    double sum[2]; /* of n log2 n over all values */
};

static void add_entropy(struct rp_call_site *site, const struct distribution *d)
{
    int which = d->total[0] > 0 ? 0 : 1;
    double n = (double)d->total[which];

    if (d->different[0] > site->sources)
        site->sources = d->different[0];
    site->outcomes += d->total[which];
    if (d->different[which] > 1)
        site->bits += n * log2(n) - d->sum[which];
}

static bool settle_sites(struct walk *w)
{
    struct rp_call_sites *sites = &w->report->sites;
    struct distribution *all = calloc(sites->count + 1, sizeof *all);

    if (!all || w->outcomes.failed) {
        free(all);
        return false;
    }
    for (size_t i = 0; i < w->outcomes.room; i++) {
        const struct rp_counter *entry = &w->outcomes.entries[i];
        if (entry->count == 0)
            continue;
        struct distribution *d = &all[entry->key >> 33];
        int which = entry->key >> 32 & 1;
        d->total[which] += entry->count;
        d->different[which]++;
        d->sum[which] += (double)entry->count * log2((double)entry->count);
    }
    for (size_t i = 0; i < sites->count; i++) {
        add_entropy(&sites->rows[i], &all[i]);
        sites->rows[i].ranks += w->is_here[i];
    }
    free(all);
    return true;
}

/* Messages */

static void count_message(struct walk *w, int32_t source)
{
    if (source < 0)
        return;
    if ((uint32_t)source < w->report->facts.manifest.ranks)
        rp_counters_add(&w->sources, (uint32_t)source);
    else
        w->report->elsewhere++;
}

static int by_sender(const void *one, const void *other)
{
    const struct rp_edge *a = one, *b = other;

    return a->from < b->from ? -1 : a->from > b->from;
}

static bool settle_edges(struct walk *w)
{
    struct rp_report *r = w->report;
    size_t first = r->edge_count, needed = r->edge_count + w->sources.used;

    if (w->sources.failed)
        return false;
    if (needed > r->edge_room) {
        size_t room = 2 * needed;
        struct rp_edge *more = realloc(r->edges, room * sizeof *more);
        if (!more)
            return false;
        r->edges = more;
        r->edge_room = room;
    }
    for (size_t i = 0; i < w->sources.room; i++)
        if (w->sources.entries[i].count > 0)
            r->edges[r->edge_count++] = (struct rp_edge){(uint32_t)w->sources.entries[i].key,
                                                         w->rank, w->sources.entries[i].count};
    if (r->edge_count > first)
        qsort(r->edges + first, r->edge_count - first, sizeof *r->edges, by_sender);
    return true;
}

/* Composition */

static uint64_t varint_length(uint64_t value)
{
    return value ? (uint64_t)(63 - __builtin_clzll(value)) / 7 + 1 : 1;
}

static uint64_t svarint_length(int64_t value)
{
    return varint_length(((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static void count_fields(struct walk *w, const struct rp_event *e)
{
    uint64_t *fields = w->report->fields;

    fields[RP_FIELD_KIND]++;
    fields[RP_FIELD_SITE] += varint_length(e->site);
    fields[RP_FIELD_POSTS] += varint_length(e->posts);
    fields[RP_FIELD_SCOPE] += varint_length(e->scope);
    fields[RP_FIELD_A] += svarint_length(e->any.a);
    fields[RP_FIELD_B] += svarint_length(e->any.b);
    if (!rp_event_has_post(e->kind)) {
        fields[RP_FIELD_C] += varint_length(e->any.c);
        return;
    }
    fields[RP_FIELD_C] += svarint_length((int64_t)(e->any.c - w->expected_post));
    w->expected_post = e->any.c + 1;
}

static struct rp_report_part *part_of(struct rp_report *r, uint8_t kind, uint8_t codec)
{
    for (size_t i = 0; i < r->part_count; i++)
        if (r->parts[i].kind == kind && r->parts[i].codec == codec)
            return &r->parts[i];
    struct rp_report_part *more = realloc(r->parts, (r->part_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    r->parts = more;
    more[r->part_count] = (struct rp_report_part){.kind = kind, .codec = codec};
    return &more[r->part_count++];
}

static int by_kind_and_codec(const void *one, const void *other)
{
    const struct rp_report_part *a = one, *b = other;

    return a->kind != b->kind ? a->kind - b->kind : a->codec - b->codec;
}

/* After the events: chunks that an index lists have no codec before they are read. */
static bool survey_chunks(struct rp_report *r, const struct rp_log *log)
{
    uint64_t in_chunks = 0, bytes = 0;

    for (size_t i = 0; i < rp_log_chunk_count(log); i++) {
        const struct rp_chunk *chunk = rp_log_chunk(log, i);
        struct rp_report_part *part = part_of(r, chunk->kind, chunk->codec);
        if (!part)
            return false;
        part->chunks++;
        part->items += chunk->items;
        part->bytes += RP_CHUNK_HEADER + chunk->stored;
        bytes += RP_CHUNK_HEADER + chunk->stored;
        in_chunks += chunk->kind == RP_CHUNK_EVENTS_KIND ? chunk->items : 0;
    }
    r->frame += rp_log_size(log) - bytes;
    if (!r->has_rows)
        r->ring_events += rp_log_event_count(log) - in_chunks;
    return true;
}

/* Timelines */

static uint64_t number_of(const struct rp_event *event)
{
    switch (event->kind) {
    case RP_YES:
    case RP_NEXT:
        return event->any.a >= 0 ? (uint64_t)event->any.a : UINT64_MAX;
    case RP_CLOCK:
        return rp_clock_left(event->scope);
    default:
        return event->any.c;
    }
}

static bool append_moment(struct walk *w, const struct rp_event *event, const uint64_t *time)
{
    bool has_source = event->kind == RP_RECV || event->kind == RP_PROBE ||
                      event->kind == RP_MATCH || event->kind == RP_FREED || event->kind == RP_CLOCK;
    struct rp_moment moment = {.time = time ? *time : 0,
                               .number = number_of(event),
                               .send = -1,
                               .source = has_source && event->any.a >= 0 ? event->any.a : -1,
                               .tag = has_source && event->kind != RP_CLOCK ? event->any.b : 0,
                               .site = w->rows[event->site],
                               .kind = (uint8_t)event->kind};

    moment.thread = event->kind == RP_NO ? event->any.a : w->thread;
    moment.sent = event->kind == RP_CLOCK ? event->any.c : 0;
    return rp_timeline_append(w->timeline, &moment);
}

/* Events */

static bool take_event(struct walk *w, const struct rp_event *event, const uint64_t *time)
{
    struct rp_report *r = w->report;

    if (event->kind == RP_TURN)
        w->thread = event->any.a;
    r->kinds[event->kind]++;
    r->threads += event->kind == RP_THREAD;
    count_for_site(w, event);
    count_fields(w, event);
    if (r->clocked ? event->kind == RP_CLOCK : event->kind == RP_RECV || event->kind == RP_MATCH)
        count_message(w, event->any.a);
    if (time && (r->first_time == 0 || *time < r->first_time))
        r->first_time = *time;
    if (time && *time > r->last_time)
        r->last_time = *time;
    if (w->timeline && !append_moment(w, event, time))
        return false;
    if (event->kind != RP_FREED && event->kind != RP_THREAD && event->kind != RP_TURN)
        w->last = *event;
    return true;
}

static enum rp_status walk_events(struct walk *w, struct rp_log *log, struct rp_log_sum *sum,
                                  struct rp_problem *why)
{
    struct rp_event *block = malloc(RP_CHUNK_EVENTS_LIMIT * sizeof *block);
    enum rp_status status = block ? RP_OK : rp_fail(why, RP_MEMORY, "out of memory");
    size_t count = 1;

    *sum = (struct rp_log_sum){.digest = RP_DIGEST_START};
    while (status == RP_OK && count > 0) {
        status = rp_log_next_block(log, block, &count, why);
        const uint64_t *times = rp_log_block_times(log);
        w->expected_post = 0;
        rp_log_sum_add(sum, block, count);
        for (size_t i = 0; status == RP_OK && i < count; i++)
            if (!take_event(w, &block[i], times ? &times[i] : NULL))
                status = rp_fail(why, RP_MEMORY, "out of memory");
    }
    free(block);
    return status == RP_OK ? rp_log_sum_check(log, sum, why) : status;
}

/* Rows */

/* What stands before the answer of its call. */
static bool is_note(uint32_t kind)
{
    return kind == RP_CANCELLED || kind == RP_UNSENT || kind == RP_FREED || kind == RP_MATCH;
}

static void take_row(struct walk *w, const struct rp_row *row)
{
    struct rp_call_site *site = &w->report->sites.rows[w->rows[row->site]];

    if (row->kind == RP_ROW_OTHER && (row->other.kind == RP_THREAD || row->other.kind == RP_TURN))
        return;
    w->is_here[w->rows[row->site]] = 1;
    site->events++;
    if (row->kind == RP_ROW_UNMATCHED) {
        site->polls += row->count;
        site->calls += row->count;
        return;
    }
    site->calls += !row->with_next && !(row->kind == RP_ROW_OTHER && is_note(row->other.kind));
    if (row->kind == RP_ROW_OTHER)
        return;
    site->matches++;
    rp_counters_add(&w->outcomes, outcome_key(w->rows[row->site], false, row->rank));
    count_message(w, row->rank);
}

static enum rp_status walk_rows(struct walk *w, struct rp_log *log, struct rp_log_sum *sum,
                                struct rp_problem *why)
{
    struct rp_row_chunk chunk;
    bool found;
    enum rp_status status = rp_log_verify(log, sum, why);

    while (status == RP_OK && (status = rp_log_next_rows(log, &chunk, &found, why)) == RP_OK &&
           found) {
        for (size_t i = 0; i < chunk.tables.row_count; i++)
            take_row(w, &chunk.tables.rows[i]);
        rp_row_chunk_free(&chunk);
    }
    return status;
}

/* Ranks */

static enum rp_status walk_rank(struct walk *w, struct rp_log *log, struct rp_problem *why)
{
    struct rp_report *r = w->report;
    struct rp_log_sum sum;
    enum rp_status status = (rp_log_has_rows(log) ? walk_rows : walk_events)(w, log, &sum, why);

    if (status != RP_OK)
        return status;
    if (!settle_sites(w) || !settle_edges(w) || !survey_chunks(r, log))
        return rp_fail(why, RP_MEMORY, "out of memory");
    struct rp_log_end end = rp_log_end(log);
    rp_facts_add(&r->facts, w->rank,
                 &(struct rp_rank_facts){sum.events, sum.receives, sum.polls, rp_log_size(log),
                                         sum.digest, end.reason, end.code, 0});
    return RP_OK;
}

static enum rp_status collect_rank(struct rp_report *r, uint32_t rank, struct rp_problem *why)
{
    const struct rp_manifest *m = &r->facts.manifest;
    struct walk w = {.report = r,
                     .rank = rank,
                     .timeline = r->timelines ? &r->timelines[rank] : NULL};
    struct rp_log *log;
    enum rp_status status = rp_log_open(r->facts.directory, m->run, rank, m->ranks, &log, why);

    if (status != RP_OK)
        return status;
    uint32_t *rows = rp_call_sites_rows(&r->sites, rp_log_site_table(log));
    w.rows = rows;
    w.is_here = calloc(r->sites.count + 1, 1);
    r->timed |= rp_log_is_timed(log);
    r->has_rows |= rp_log_has_rows(log);
    status = rows && w.is_here ? walk_rank(&w, log, why) : rp_fail(why, RP_MEMORY, "out of memory");
    rp_counters_free(&w.outcomes);
    rp_counters_free(&w.sources);
    free(w.is_here);
    free(rows);
    rp_log_free(log);
    return status;
}

/* Times count from the first event of all ranks on. */
static void shift_times(struct rp_report *r)
{
    for (uint32_t rank = 0; r->timed && rank < r->facts.manifest.ranks; rank++)
        for (size_t i = 0; i < r->timelines[rank].count; i++) {
            uint64_t *time = &r->timelines[rank].at[i].time;
            *time = *time > r->first_time ? *time - r->first_time : 0;
        }
}

static void drop_timelines(struct rp_report *r)
{
    for (uint32_t rank = 0; r->timelines && rank < r->facts.manifest.ranks; rank++)
        rp_timeline_free(&r->timelines[rank]);
    free(r->timelines);
    r->timelines = NULL;
}

static enum rp_status finish(struct rp_report *r, struct rp_problem *why)
{
    if (r->part_count > 0)
        qsort(r->parts, r->part_count, sizeof *r->parts, by_kind_and_codec);
    if (r->has_rows)
        drop_timelines(r);
    if (!r->timelines)
        return RP_OK;
    shift_times(r);
    return rp_timelines_connect(r->timelines, r->facts.manifest.ranks, r->clocked, why);
}

enum rp_status rp_report_collect(const char *directory, bool with_timelines, struct rp_report *out,
                                 struct rp_problem *why)
{
    memset(out, 0, sizeof *out);
    enum rp_status status = rp_facts_begin(directory, &out->facts, why);

    if (status != RP_OK)
        return status;
    rp_call_sites_open(&out->sites, out->facts.directory, &out->facts.manifest);
    out->clocked = strcmp(out->facts.manifest.clocks, "lamport") == 0;
    if (with_timelines)
        out->timelines = calloc(out->facts.manifest.ranks, sizeof *out->timelines);
    if (with_timelines && !out->timelines)
        status = rp_fail(why, RP_MEMORY, "out of memory");
    for (uint32_t rank = 0; status == RP_OK && rank < out->facts.manifest.ranks; rank++)
        status = collect_rank(out, rank, why);
    if (status == RP_OK)
        status = finish(out, why);
    if (status != RP_OK)
        rp_report_free(out);
    return status;
}

void rp_report_free(struct rp_report *report)
{
    drop_timelines(report);
    free(report->parts);
    free(report->edges);
    rp_call_sites_free(&report->sites);
    rp_facts_free(&report->facts);
    memset(report, 0, sizeof *report);
}

size_t rp_report_open_sites(const struct rp_report *report, size_t *used)
{
    size_t open = 0;

    *used = 0;
    for (size_t i = 0; i < report->sites.count; i++) {
        *used += report->sites.rows[i].events > 0;
        open += rp_call_site_is_open(&report->sites.rows[i]);
    }
    return open;
}

const char *rp_report_chunk_name(uint8_t kind)
{
    static const char *const names[] = {"?",   "EVENTS", "SITES", "LATE",
                                        "END", "INDEX",  "ROWS",  "TIMES"};

    return kind < sizeof names / sizeof *names ? names[kind] : names[0];
}

const char *rp_report_codec_name(uint8_t codec)
{
    const struct rp_codec *of_events = rp_codec_by_id(codec);
    const struct rp_row_codec *of_rows = rp_row_codec_by_id(codec);

    return of_events ? of_events->name : of_rows ? of_rows->name : "";
}
