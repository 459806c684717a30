/* SPDX-License-Identifier: MIT */
/* A report as text. */
#include "report/report.h"

#define U64(x) ((unsigned long long)(x))

enum { EDGES_MOST = 64 };

static void put_verdict(struct rp_buffer *out, const struct rp_report *r)
{
    size_t used, open = rp_report_open_sites(r, &used);

    rp_buffer_printf(out, "\nverdict   ");
    if (r->has_rows && used == 0)
        rp_buffer_printf(out, "not known: its codec tells no call sites");
    else if (used == 0)
        rp_buffer_printf(out, "deterministic: nothing that MPI leaves open was asked");
    else if (open == 0)
        rp_buffer_printf(out, "no choice seen: each of %zu call sites was always answered the same",
                         used);
    else
        rp_buffer_printf(out, "MPI had a choice at %zu of %zu call sites", open, used);
    rp_buffer_byte(out, '\n');
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static void put_site(struct rp_buffer *out, const struct rp_call_site *s, size_t number,
                     const char *indent)
{
    rp_buffer_printf(out, "%5zu %6u %12llu %12llu %8u %8.1f%% %12llu %8.3f  %s%s in ", number,
                     s->ranks, U64(s->calls), U64(s->matches), s->sources,
                     share(s->out_of_order, s->matches), U64(s->polls), rp_call_site_entropy(s),
                     indent, s->function);
    rp_call_site_put_place(out, s);
    rp_buffer_byte(out, '\n');
}

/* All calls of a wrapper, and under that where it was called from. */
static void put_folded(struct rp_buffer *out, const struct rp_call_sites *sites, size_t first)
{
    const struct rp_call_site *rows = sites->rows;
    struct rp_call_site all = {0};
    size_t places = 0;

    for (size_t i = first; i < sites->count; i++) {
        if (rows[i].fold != rows[first].fold || rows[i].events == 0)
            continue;
        all.calls += rows[i].calls;
        all.matches += rows[i].matches;
        all.out_of_order += rows[i].out_of_order;
        all.polls += rows[i].polls;
        places++;
    }
    rp_buffer_printf(out, "%5s %6s %12llu %12llu %8s %8.1f%% %12llu %8s  %s in ", "", "",
                     U64(all.calls), U64(all.matches), "", share(all.out_of_order, all.matches),
                     U64(all.polls), "", rows[first].function);
    rp_call_site_put_wrapper(out, &rows[first]);
    rp_buffer_printf(out, ", a wrapper, from %zu places:\n", places);
    for (size_t i = first; i < sites->count; i++)
        if (rows[i].fold == rows[first].fold && rows[i].events > 0)
            put_site(out, &rows[i], i, "  ");
}

/* Whether it was put under its wrapper. */
static bool is_put(const struct rp_call_sites *sites, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (sites->rows[i].events > 0 && sites->rows[i].fold == sites->rows[row].fold)
            return true;
    return false;
}

static void put_sites(struct rp_buffer *out, const struct rp_report *r)
{
    rp_buffer_printf(out, "\ncall sites\n%5s %6s %12s %12s %8s %9s %12s %8s  %s\n", "site", "ranks",
                     "calls", "matches", "sources", "unordered", "polls", "bits", "call");
    for (size_t i = 0; i < r->sites.count; i++) {
        if (r->sites.rows[i].events == 0 || is_put(&r->sites, i))
            continue;
        if (rp_call_site_is_folded(&r->sites, i))
            put_folded(out, &r->sites, i);
        else
            put_site(out, &r->sites.rows[i], i, "");
    }
}

static void put_matrix(struct rp_buffer *out, const struct rp_report *r)
{
    size_t most = r->edge_count < EDGES_MOST ? r->edge_count : EDGES_MOST;

    rp_buffer_printf(out, "\nmessages%s\n%8s %8s %12s\n",
                     r->clocked || r->has_rows
                         ? ""
                         : " to wildcard receives, from ranks as their communicators number them",
                     "from", "to", "messages");
    for (size_t i = 0; i < most; i++)
        rp_buffer_printf(out, "%8u %8u %12llu\n", r->edges[i].from, r->edges[i].to,
                         U64(r->edges[i].messages));
    if (most < r->edge_count)
        rp_buffer_printf(out, "... and %zu pairs more: --format json has them all\n",
                         r->edge_count - most);
    if (r->elsewhere > 0)
        rp_buffer_printf(out, "%8s %8s %12llu\n", "others", "", U64(r->elsewhere));
}

static void put_composition(struct rp_buffer *out, const struct rp_report *r)
{
    static const char *const fields[RP_FIELDS] = {"kind", "site", "posts", "scope", "a", "b", "c"};
    uint64_t all = 0;

    rp_buffer_printf(out, "\nlogs\n%8s %8s %12s %12s %12s\n", "chunks", "codec", "count", "items",
                     "bytes");
    for (size_t i = 0; i < r->part_count; i++)
        rp_buffer_printf(out, "%8s %8s %12llu %12llu %12llu\n",
                         rp_report_chunk_name(r->parts[i].kind),
                         rp_report_codec_name(r->parts[i].codec), U64(r->parts[i].chunks),
                         U64(r->parts[i].items), U64(r->parts[i].bytes));
    rp_buffer_printf(out, "%8s %8s %12s %12s %12llu\n", "frame", "", "", "", U64(r->frame));
    if (r->ring_events > 0)
        rp_buffer_printf(out, "%8s %8s %12s %12llu\n", "rings", "", "", U64(r->ring_events));
    for (int i = 0; i < RP_FIELDS; i++)
        all += r->fields[i];
    if (all == 0)
        return;
    rp_buffer_printf(out, "\nfields of events, as columns that are not compressed\n");
    for (int i = 0; i < RP_FIELDS; i++)
        rp_buffer_printf(out, "%8s %12llu %5.1f%%\n", fields[i], U64(r->fields[i]),
                         share(r->fields[i], all));
    rp_buffer_printf(out, "\nevents\n");
    for (uint32_t i = 1; i < RP_EVENT_KINDS; i++)
        if (r->kinds[i] > 0)
            rp_buffer_printf(out, "%10s %12llu\n", rp_event_name(i), U64(r->kinds[i]));
}

static void put_times(struct rp_buffer *out, const struct rp_report *r)
{
    double seconds = (double)(r->last_time - r->first_time) / 1e6;

    if (r->timed && r->last_time > 0)
        rp_buffer_printf(
            out, "\ntimes     %.6f s from the first event to the last, %.0f events a second\n",
            seconds, seconds > 0 ? (double)r->facts.sum.events / seconds : 0.0);
}

static void put_one(struct rp_output *out, const struct rp_report *r)
{
    const struct rp_rank_facts *sum = &r->facts.sum;

    rp_facts_put_text(&out->text, &r->facts);
    put_verdict(&out->text, r);
    rp_buffer_printf(&out->text, "overhead  %.3f bytes an event, %llu threads besides the first\n",
                     sum->events ? (double)sum->bytes / (double)sum->events : 0.0, U64(r->threads));
    put_times(&out->text, r);
    put_sites(&out->text, r);
    put_matrix(&out->text, r);
    put_composition(&out->text, r);
    rp_output_spill(out);
}

void rp_report_put_text(struct rp_output *out, const struct rp_report *reports, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            rp_buffer_printf(&out->text, "\n\n");
        put_one(out, &reports[i]);
    }
}
