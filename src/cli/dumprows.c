/* SPDX-License-Identifier: MIT */
#include "cli/dumprows.h"

#include <stdio.h>

#include "base/json.h"
#include "base/text.h"
#include "event/describe.h"

#define U64(x) ((unsigned long long)(x))

struct dump {
    const struct rp_site_table *sites;
    struct rp_buffer out;
    uint32_t rank;
    uint64_t number; /* of the row, or of the table */
    bool json;
};

/* A line: what it is and where, then its fields as name and number. */
static void begin(struct dump *d, const char *kind, uint32_t site)
{
    const char *function = d->sites->sites[site].function;

    if (!d->json) {
        rp_buffer_printf(&d->out, "%u %llu %s %s site=%u", d->rank, U64(d->number), kind, function,
                         site);
        return;
    }
    rp_buffer_printf(&d->out,
                     "{\"rank\": %u, \"row\": %llu, \"kind\": \"%s\", \"function\": ", d->rank,
                     U64(d->number), kind);
    rp_json_put_string(&d->out, function);
    rp_buffer_printf(&d->out, ", \"site\": %u", site);
}

static void field(struct dump *d, const char *name, long long value)
{
    rp_buffer_printf(&d->out, d->json ? ", \"%s\": %lld" : " %s=%lld", name, value);
}

static void end(struct dump *d)
{
    rp_buffer_printf(&d->out, d->json ? "}\n" : "\n");
}

static void put_polls(struct dump *d, uint64_t count, int32_t thread)
{
    field(d, "count", (long long)count);
    if (thread)
        field(d, "thread", thread);
}

static void put_other(struct dump *d, const struct rp_event *event, uint64_t order)
{
    rp_buffer_printf(&d->out, d->json ? ", \"event\": \"%s\"" : " event=%s",
                     rp_event_name(event->kind));
    if (d->json) {
        rp_event_put_fields(event, true, &d->out);
    } else {
        field(d, "scope", event->scope);
        field(d, "a", event->any.a);
        field(d, "b", event->any.b);
        field(d, "c", (long long)event->any.c);
    }
    if (event->kind == RP_THREAD || event->kind == RP_TURN)
        field(d, "order", (long long)order);
}

static void put_row(struct dump *d, const struct rp_row *row)
{
    static const char *const names[] = {"?", "UNMATCHED", "MESSAGE", "OTHER"};

    begin(d, names[row->kind], row->site);
    if (row->kind == RP_ROW_UNMATCHED) {
        put_polls(d, row->count, row->thread);
    } else if (row->kind == RP_ROW_MESSAGE) {
        field(d, "sender", row->rank);
        field(d, "clock", (long long)row->clock);
        field(d, "index", row->index);
    } else {
        put_other(d, &row->other, row->order);
    }
    if (row->kind != RP_ROW_UNMATCHED)
        field(d, "with_next", row->with_next);
    end(d);
    d->number++;
}

static void put_clocks(struct dump *d, const char *kind, uint32_t site,
                       const struct rp_cdc_clock *clocks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        begin(d, kind, site);
        field(d, "sender", clocks[i].rank);
        field(d, "clock", (long long)clocks[i].clock);
        end(d);
    }
}

static void put_lists(struct dump *d, const struct rp_cdc_table *t)
{
    for (size_t i = 0; i < t->unmatched_count; i++) {
        begin(d, "UNMATCHED", t->site);
        field(d, "entry", t->unmatched[i].entry);
        put_polls(d, t->unmatched[i].count, t->unmatched[i].thread);
        end(d);
    }
    for (size_t i = 0; i < t->other_count; i++) {
        begin(d, "OTHER", t->site);
        field(d, "entry", t->others[i].entry);
        put_other(d, &t->others[i].event, t->others[i].order);
        end(d);
    }
    for (size_t i = 0; i < t->index_count; i++) {
        begin(d, "INDEX", t->site);
        field(d, "message", t->indices[i].message);
        field(d, "index", t->indices[i].index);
        end(d);
    }
}

/* Messages that were not observed in their place, and all else that the table lists. */
static void put_table(struct dump *d, const struct rp_cdc_table *t)
{
    begin(d, "TABLE", t->site);
    field(d, "entries", t->entry_count);
    field(d, "messages", t->message_count);
    end(d);
    for (uint32_t i = 0; i < t->message_count; i++) {
        if (t->order[i] == i)
            continue;
        begin(d, "ORDER", t->site);
        field(d, "message", i);
        field(d, "place", t->order[i]);
        end(d);
    }
    for (uint32_t i = 0; i < t->entry_count; i++) {
        if (!t->with_next[i])
            continue;
        begin(d, "WITH_NEXT", t->site);
        field(d, "entry", i);
        end(d);
    }
    put_lists(d, t);
    put_clocks(d, "EPOCH", t->site, t->epoch, t->epoch_count);
    put_clocks(d, "LATE", t->site, t->late, t->late_count);
    d->number++;
}

static void put_chunk(struct dump *d, const struct rp_row_chunk *chunk)
{
    for (size_t i = 0; i < chunk->cdc.table_count; i++)
        put_table(d, &chunk->cdc.tables[i]);
    for (size_t i = 0; i < chunk->tables.table_count; i++)
        for (size_t k = 0; k < chunk->tables.tables[i].count; k++)
            put_row(d, &chunk->tables.tables[i].rows[k]);
}

enum rp_status rp_dump_rows(struct rp_log *log, uint32_t rank, bool json, struct rp_problem *why)
{
    struct dump d = {.sites = rp_log_site_table(log), .rank = rank, .json = json};
    struct rp_row_chunk chunk;
    enum rp_status status;
    bool found;

    while ((status = rp_log_next_rows(log, &chunk, &found, why)) == RP_OK && found) {
        put_chunk(&d, &chunk);
        rp_row_chunk_free(&chunk);
        bool written = rp_text_print(stdout, d.out.bytes, d.out.length);
        rp_buffer_clear(&d.out);
        if (written)
            continue;
        status = rp_fail(why, RP_SYSTEM, "cannot write: output closed");
        break;
    }
    rp_buffer_free(&d.out);
    return status;
}
