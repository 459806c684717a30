/* SPDX-License-Identifier: MIT */
/* A report as JSON; docs/guide.md and reprise-report(1) describe its members. */
#include <string.h>

#include "base/json.h"
#include "report/report.h"

#define U64(x) ((unsigned long long)(x))

static void put_member(struct rp_buffer *out, const char *key, const char *value)
{
    rp_buffer_printf(out, ", \"%s\": ", key);
    if (value)
        rp_json_put_string(out, value);
    else
        rp_buffer_printf(out, "null");
}

static void put_verdict(struct rp_buffer *out, const struct rp_report *r)
{
    size_t used, open = rp_report_open_sites(r, &used);

    rp_buffer_printf(out,
                     ",\n    \"verdict\": {\"sites\": %zu, \"open_sites\": %zu, \"no_choice\": %s}",
                     used, open,
                     r->has_rows && used == 0 ? "null"
                     : open == 0              ? "true"
                                              : "false");
}

/* Only of rows that have one. */
static void put_wrapper(struct rp_buffer *out, const struct rp_call_site *s)
{
    if (!s->through)
        return;
    put_member(out, "through", s->through);
    rp_buffer_printf(out, ", \"fold\": %u, \"wrapper\": {\"line\": %d", s->fold, s->wrapper_line);
    put_member(out, "in", s->wrapper_in);
    put_member(out, "file", s->wrapper_file);
    rp_buffer_byte(out, '}');
}

static void put_site(struct rp_buffer *out, const struct rp_call_site *s, size_t number)
{
    rp_buffer_printf(out, "%s\n      {\"site\": %zu, \"function\": ", number ? "," : "", number);
    rp_json_put_string(out, s->function);
    put_member(out, "in", s->in);
    put_member(out, "file", s->file);
    rp_buffer_printf(out, ", \"line\": %d", s->line);
    put_wrapper(out, s);
    put_member(out, "module", s->module);
    put_member(out, "build_id", s->build_id);
    rp_buffer_printf(out,
                     ", \"offset\": %llu, \"chains\": %u, \"ranks\": %u, \"events\": %llu, "
                     "\"calls\": %llu, \"matches\": %llu, \"sources\": %u, \"out_of_order\": %llu, "
                     "\"polls\": %llu, \"outcomes\": %llu, \"entropy\": %.6f, \"open\": %s}",
                     U64(s->offset), s->chains, s->ranks, U64(s->events), U64(s->calls),
                     U64(s->matches), s->sources, U64(s->out_of_order), U64(s->polls),
                     U64(s->outcomes), rp_call_site_entropy(s),
                     rp_call_site_is_open(s) ? "true" : "false");
}

static void put_matrix(struct rp_output *out, const struct rp_report *r)
{
    rp_buffer_printf(&out->text,
                     ",\n    \"matrix\": {\"basis\": \"%s\", \"elsewhere\": %llu, \"columns\": "
                     "[\"from\", \"to\", \"messages\"], \"rows\": [",
                     r->clocked || r->has_rows ? "clocks" : "matches", U64(r->elsewhere));
    for (size_t i = 0; i < r->edge_count; i++) {
        rp_buffer_printf(&out->text, "%s[%u, %u, %llu]", i ? ", " : "", r->edges[i].from,
                         r->edges[i].to, U64(r->edges[i].messages));
        rp_output_spill(out);
    }
    rp_buffer_printf(&out->text, "]}");
}

static void put_composition(struct rp_buffer *out, const struct rp_report *r)
{
    static const char *const fields[RP_FIELDS] = {"kind", "site", "posts", "scope", "a", "b", "c"};

    rp_buffer_printf(out, ",\n    \"composition\": {\"chunks\": [");
    for (size_t i = 0; i < r->part_count; i++) {
        const struct rp_report_part *part = &r->parts[i];
        rp_buffer_printf(out,
                         "%s\n      {\"kind\": \"%s\", \"codec\": \"%s\", \"chunks\": %llu, "
                         "\"items\": %llu, \"bytes\": %llu}",
                         i ? "," : "", rp_report_chunk_name(part->kind),
                         rp_report_codec_name(part->codec), U64(part->chunks), U64(part->items),
                         U64(part->bytes));
    }
    rp_buffer_printf(out, "\n    ], \"frame\": %llu, \"fields\": {", U64(r->frame));
    for (int i = 0; i < RP_FIELDS; i++)
        rp_buffer_printf(out, "%s\"%s\": %llu", i ? ", " : "", fields[i], U64(r->fields[i]));
    rp_buffer_printf(out, "}, \"events\": {");
    for (uint32_t i = 1; i < RP_EVENT_KINDS; i++)
        rp_buffer_printf(out, "%s\"%s\": %llu", i > 1 ? ", " : "", rp_event_name(i),
                         U64(r->kinds[i]));
    rp_buffer_printf(out, "}}");
}

static void put_counters(struct rp_buffer *out, const struct rp_report *r)
{
    const struct rp_rank_facts *sum = &r->facts.sum;

    rp_buffer_printf(
        out,
        ",\n    \"counters\": {\"bytes_an_event\": %.6f, \"bytes_a_receive\": %.6f, "
        "\"ring_events\": %llu, \"threads\": %llu, \"unfinished\": %u, \"stopped\": %u}",
        sum->events ? (double)sum->bytes / (double)sum->events : 0.0,
        sum->receives ? (double)sum->bytes / (double)sum->receives : 0.0, U64(r->ring_events),
        U64(r->threads), r->facts.unfinished, r->facts.stopped);
}

/* Timelines */

/* By hand: there are millions of them. */
static void put_number(struct rp_buffer *out, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    rp_buffer_put(out, digits + at, sizeof digits - at);
}

static void put_signed(struct rp_buffer *out, int64_t number)
{
    if (number < 0)
        rp_buffer_byte(out, '-');
    put_number(out, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

static void put_text(struct rp_buffer *out, const char *text)
{
    rp_buffer_put(out, text, strlen(text));
}

static void put_number_or_null(struct rp_buffer *out, bool known, uint64_t number)
{
    put_text(out, known ? ", " : ", null");
    if (known)
        put_number(out, number);
}

static void put_moment(struct rp_buffer *out, const struct rp_report *r,
                       const struct rp_timeline *t, size_t number)
{
    const struct rp_moment *m = &t->at[number];

    put_text(out, number ? ",\n        [" : "[");
    put_number(out, number);
    put_text(out, ", \"");
    put_text(out, rp_event_name(m->kind));
    put_text(out, "\", ");
    put_number(out, m->site);
    put_text(out, ", ");
    put_signed(out, m->thread);
    put_number_or_null(out, m->number != UINT64_MAX, m->number);
    put_number_or_null(out, m->source >= 0, (uint32_t)m->source);
    bool has_tag = m->source >= 0 && m->kind != RP_CLOCK;
    put_text(out, has_tag ? ", " : ", null");
    if (has_tag)
        put_signed(out, m->tag);
    put_number_or_null(out, r->timed, m->time);
    put_number_or_null(out, m->has_clock, m->clock);
    put_number_or_null(out, m->has_clock, m->sent);
    put_number_or_null(out, m->send >= 0, (uint64_t)m->send);
    put_text(out, ", [");
    for (uint8_t i = 0; i < m->candidates; i++) {
        put_text(out, i ? ", " : "");
        put_signed(out, t->candidate[m->candidate + i]);
    }
    put_text(out, "]]");
}

static void put_timelines(struct rp_output *out, const struct rp_report *r)
{
    if (!r->timelines) {
        rp_buffer_printf(&out->text, ",\n    \"timeline\": null");
        return;
    }
    rp_buffer_printf(
        &out->text,
        ",\n    \"timeline\": {\"messages\": \"%s\", \"candidates\": \"%s\", \"started\": ",
        r->clocked ? "clocks" : "matches", r->clocked ? "clocks" : "later");
    if (r->timed)
        rp_buffer_printf(&out->text, "%llu", U64(r->first_time));
    else
        rp_buffer_printf(&out->text, "null");
    rp_buffer_printf(
        &out->text,
        ", \"columns\": [\"event\", \"kind\", \"site\", \"thread\", \"number\", \"source\", "
        "\"tag\", \"time\", \"clock\", \"sent\", \"send\", \"candidates\"], \"ranks\": [");
    for (uint32_t rank = 0; rank < r->facts.manifest.ranks; rank++) {
        rp_buffer_printf(&out->text, "%s\n      [", rank ? "," : "");
        for (size_t i = 0; i < r->timelines[rank].count; i++) {
            put_moment(&out->text, r, &r->timelines[rank], i);
            rp_output_spill(out);
        }
        rp_buffer_printf(&out->text, "]");
    }
    rp_buffer_printf(&out->text, "\n    ]}");
}

void rp_report_put_json_members(struct rp_output *out, const struct rp_report *r)
{
    rp_facts_put_members(&out->text, &r->facts, "    ");
    rp_buffer_printf(&out->text, ",\n    \"clocks\": %s, \"times\": %s, \"rows\": %s",
                     r->clocked ? "true" : "false", r->timed ? "true" : "false",
                     r->has_rows ? "true" : "false");
    put_member(&out->text, "codec", r->facts.manifest.codec);
    put_verdict(&out->text, r);
    put_counters(&out->text, r);
    rp_buffer_printf(&out->text, ",\n    \"call_sites\": [");
    for (size_t i = 0; i < r->sites.count; i++) {
        put_site(&out->text, &r->sites.rows[i], i);
        rp_output_spill(out);
    }
    rp_buffer_printf(&out->text, "\n    ]");
    put_matrix(out, r);
    put_composition(&out->text, r);
}

static void put_one(struct rp_output *out, const struct rp_report *r)
{
    rp_buffer_printf(&out->text, "    {\n");
    rp_report_put_json_members(out, r);
    put_timelines(out, r);
    rp_buffer_printf(&out->text, "\n    }");
}

void rp_report_put_json(struct rp_output *out, const struct rp_report *reports, size_t count)
{
    rp_buffer_printf(
        &out->text,
        "{\n  \"format\": \"reprise-report\",\n  \"major\": 1,\n  \"minor\": 0,\n  \"runs\": [\n");
    for (size_t i = 0; i < count; i++) {
        put_one(out, &reports[i]);
        rp_buffer_printf(&out->text, i + 1 < count ? ",\n" : "\n");
    }
    rp_buffer_printf(&out->text, "  ]\n}\n");
}
