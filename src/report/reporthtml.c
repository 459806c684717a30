/* SPDX-License-Identifier: MIT */
/*
 * The data of the page are elements of base64, deflated: the facts as the JSON of the other
 * backends, and for each record its events. So nothing of a record stands in the page as text, and
 * none of it can be taken for markup or script; the page's own script sets it as text alone.
 *
 * The events are columns, each over all ranks, rank after rank: events of each rank; a byte of kind
 * and of what is known; candidates; site; thread; number; source; tag; time, clock (from the one
 * before on the rank); how long the message was under way, in clocks; send; the candidates
 * themselves. All but the bytes are varints. page/data.js reads them.
 */
#include "report/reporthtml.h"

#include <string.h>

#include "cdc/codec/deflate.h"
#include "report/page.h"

enum { HAS_CLOCK = 16, HAS_SEND = 32, HAS_SOURCE = 64, HAS_NUMBER = 128 };

_Static_assert((int)RP_EVENT_KINDS <= (int)HAS_CLOCK, "a kind takes four bits");

/* Base64 */

static void put_base64(struct rp_output *out, const uint8_t *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < length; i += 3) {
        uint32_t left = length - i < 3 ? (uint32_t)(length - i) : 3,
                 three = (uint32_t)bytes[i] << 16;
        three |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        three |= left > 2 ? bytes[i + 2] : 0;
        for (uint32_t k = 0; k < 4; k++)
            rp_buffer_byte(&out->text,
                           (uint8_t)(k <= left ? digits[three >> (18 - 6 * k) & 63] : '='));
        rp_output_spill(out);
    }
}

/* An element of data; without bytes it is empty. */
static void put_data(struct rp_output *out, const char *name, const struct rp_buffer *bytes)
{
    struct rp_buffer deflated = {0};

    out->text.failed |=
        bytes->failed || rp_deflate(bytes->bytes, bytes->length, &deflated) != RP_OK;
    rp_buffer_printf(&out->text, "<script type=\"text/plain\" %s>", name);
    put_base64(out, deflated.bytes, deflated.length);
    rp_buffer_printf(&out->text, "</script>\n");
    rp_buffer_free(&deflated);
}

/* Events */

/* A column's way through a rank. */
struct column {
    struct rp_buffer *out;
    const struct rp_timeline *timeline;
    uint64_t last; /* value on this rank */
};

static void put_head(struct column *c, const struct rp_moment *m)
{
    rp_buffer_byte(c->out,
                   (uint8_t)(m->kind | (m->has_clock ? HAS_CLOCK : 0) |
                             (m->send >= 0 ? HAS_SEND : 0) | (m->source >= 0 ? HAS_SOURCE : 0) |
                             (m->number != UINT64_MAX ? HAS_NUMBER : 0)));
}

static void put_candidate_count(struct column *c, const struct rp_moment *m)
{
    rp_buffer_byte(c->out, m->candidates);
}

static void put_site(struct column *c, const struct rp_moment *m)
{
    rp_buffer_varint(c->out, m->site);
}

static void put_thread(struct column *c, const struct rp_moment *m)
{
    rp_buffer_svarint(c->out, m->thread);
}

static void put_number(struct column *c, const struct rp_moment *m)
{
    if (m->number != UINT64_MAX)
        rp_buffer_varint(c->out, m->number);
}

static void put_source(struct column *c, const struct rp_moment *m)
{
    if (m->source >= 0)
        rp_buffer_varint(c->out, (uint32_t)m->source);
}

static void put_tag(struct column *c, const struct rp_moment *m)
{
    if (m->source >= 0 && m->kind != RP_CLOCK)
        rp_buffer_svarint(c->out, m->tag);
}

static void put_change(struct column *c, uint64_t value)
{
    rp_buffer_svarint(c->out, (int64_t)(value - c->last));
    c->last = value;
}

static void put_time(struct column *c, const struct rp_moment *m)
{
    put_change(c, m->time);
}

static void put_clock(struct column *c, const struct rp_moment *m)
{
    if (m->has_clock)
        put_change(c, m->clock);
}

static void put_under_way(struct column *c, const struct rp_moment *m)
{
    if (m->has_clock)
        rp_buffer_varint(c->out, m->clock - m->sent);
}

static void put_send(struct column *c, const struct rp_moment *m)
{
    if (m->send >= 0)
        rp_buffer_varint(c->out, (uint64_t)m->send);
}

static void put_candidates(struct column *c, const struct rp_moment *m)
{
    for (uint8_t i = 0; i < m->candidates; i++)
        rp_buffer_svarint(c->out, c->timeline->candidate[m->candidate + i]);
}

/* The largest number of events of one rank with which all ranks together have no more than the page
 * holds. */
static size_t rank_limit(const struct rp_report *r)
{
    size_t low = 0, high = RP_PAGE_EVENTS;

    while (low < high) {
        size_t middle = low + (high - low + 1) / 2, sum = 0;
        for (uint32_t rank = 0; rank < r->facts.manifest.ranks; rank++)
            sum += r->timelines[rank].count < middle ? r->timelines[rank].count : middle;
        if (sum <= RP_PAGE_EVENTS)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void put_column(struct rp_buffer *out, const struct rp_report *r, size_t limit,
                       void (*put)(struct column *, const struct rp_moment *))
{
    for (uint32_t rank = 0; rank < r->facts.manifest.ranks; rank++) {
        struct column column = {.out = out, .timeline = &r->timelines[rank]};
        for (size_t i = 0; i < column.timeline->count && i < limit; i++)
            put(&column, &column.timeline->at[i]);
    }
}

static void put_events(struct rp_buffer *out, const struct rp_report *r)
{
    static void (*const columns[])(struct column *, const struct rp_moment *) = {
        put_head,   put_candidate_count, put_site, put_thread,
        put_number, put_source,          put_tag,  put_time,
        put_clock,  put_under_way,       put_send, put_candidates};
    size_t limit = rank_limit(r);

    for (uint32_t rank = 0; rank < r->facts.manifest.ranks; rank++)
        rp_buffer_varint(out, r->timelines[rank].count < limit ? r->timelines[rank].count : limit);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (columns[i] != put_time || r->timed)
            put_column(out, r, limit, columns[i]);
}

/* The page */

static void put_facts(struct rp_output *out, const struct rp_report *reports, size_t count,
                      const struct rp_diff *diff)
{
    struct rp_output facts = {0};

    rp_buffer_printf(&facts.text, "{\"runs\": [");
    for (size_t i = 0; i < count; i++) {
        rp_buffer_printf(&facts.text, i ? ", {" : "{");
        rp_report_put_json_members(&facts, &reports[i]);
        rp_buffer_printf(&facts.text, "}");
    }
    rp_buffer_printf(&facts.text, "], \"diff\": ");
    if (diff)
        rp_diff_put_json(&facts, diff);
    else
        rp_buffer_printf(&facts.text, "null");
    rp_buffer_printf(&facts.text, "}");
    put_data(out, "id=\"facts\"", &facts.text);
    rp_buffer_free(&facts.text);
}

static void put_page(struct rp_output *out, const struct rp_report *reports, size_t count,
                     const struct rp_diff *diff)
{
    rp_buffer_put(&out->text, rp_page_before.bytes, rp_page_before.length);
    put_facts(out, reports, count, diff);
    for (size_t i = 0; i < count; i++) {
        struct rp_buffer events = {0};
        if (reports[i].timelines)
            put_events(&events, &reports[i]);
        put_data(out, "class=\"events\"", &events);
        rp_buffer_free(&events);
    }
    rp_buffer_put(&out->text, rp_page_behind.bytes, rp_page_behind.length);
}

void rp_report_put_html(struct rp_output *out, const struct rp_report *reports, size_t count)
{
    put_page(out, reports, count, NULL);
}

void rp_diff_put_html(struct rp_output *out, const struct rp_diff *diff,
                      const struct rp_report *reports)
{
    put_page(out, reports, 2, diff);
}
