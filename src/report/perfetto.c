/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace event format, which ui.perfetto.dev and chrome://tracing read: a process for each
 * rank, a track for each of its threads and one for its sends, a flow for each message whose send
 * is known. Its time is in microseconds; three digits behind the point keep our nanoseconds.
 */
#include "base/json.h"
#include "report/intervals.h"

enum { SENDS_TRACK = 1000000, SEND_LENGTH = 50 };

#define U64(x) ((unsigned long long)(x))

static void put_time(struct rp_buffer *out, const char *key, uint64_t nanoseconds)
{
    rp_buffer_printf(out, ", \"%s\": %llu.%03llu", key, U64(nanoseconds / 1000),
                     U64(nanoseconds % 1000));
}

static void put_name(struct rp_buffer *out, const char *what, uint32_t rank, int32_t track,
                     const char *name, int32_t number)
{
    rp_buffer_printf(
        out,
        ",\n{\"ph\": \"M\", \"name\": \"%s\", \"pid\": %u, \"tid\": %d, \"args\": {\"name\": \"%s",
        what, rank, track, name);
    if (number >= 0)
        rp_buffer_printf(out, " %d", number);
    rp_buffer_printf(out, "\"}}");
}

static void put_tracks(struct rp_output *out, const struct rp_trace *trace, uint32_t rank)
{
    const struct rp_timeline *t = &trace->report->timelines[rank];
    int32_t named = 0;

    put_name(&out->text, "process_name", rank, 0, "rank", (int32_t)rank);
    rp_buffer_printf(&out->text,
                     ",\n{\"ph\": \"M\", \"name\": \"process_sort_index\", \"pid\": %u, \"args\": "
                     "{\"sort_index\": %u}}",
                     rank, rank);
    put_name(&out->text, "thread_name", rank, 0, "thread", 0);
    for (size_t i = 0; i < t->count; i++) { /* threads are numbered as they come */
        if (t->at[i].thread <= named)
            continue;
        named = t->at[i].thread;
        put_name(&out->text, "thread_name", rank, named, "thread", named);
    }
    if (trace->message_count > 0)
        put_name(&out->text, "thread_name", rank, SENDS_TRACK, "sends", -1);
}

static void put_arguments(struct rp_buffer *out, const struct rp_report *r,
                          const struct rp_timeline *t, const struct rp_interval *span)
{
    const struct rp_moment *first = &t->at[span->first];
    struct rp_buffer place = {0};

    rp_call_site_put_place(&place, &r->sites.rows[first->site]);
    rp_buffer_byte(&place, 0);
    rp_buffer_printf(out, ", \"args\": {\"event\": %zu, \"kind\": \"%s\", \"call\": ", span->first,
                     rp_event_name(first->kind));
    rp_json_put_string(out, place.failed ? "" : (char *)place.bytes);
    rp_buffer_free(&place);
    if (first->kind == RP_NO)
        rp_buffer_printf(out, ", \"polls\": %llu", U64(first->number));
    for (size_t i = span->first; i < span->first + span->count; i++) {
        const struct rp_moment *m = &t->at[i];
        if (m->source < 0)
            continue;
        rp_buffer_printf(out, ", \"source\": %d, \"tag\": %d, \"candidates\": [", m->source,
                         m->tag);
        for (uint8_t k = 0; k < m->candidates; k++)
            rp_buffer_printf(out, "%s%d", k ? ", " : "", t->candidate[m->candidate + k]);
        rp_buffer_printf(out, "]");
        break;
    }
    rp_buffer_printf(out, "}");
}

static void put_spans(struct rp_output *out, const struct rp_trace *trace, uint32_t rank)
{
    const struct rp_report *r = trace->report;
    const struct rp_timeline *t = &r->timelines[rank];

    for (size_t i = 0; i < trace->ranks[rank].count; i++) {
        const struct rp_interval *span = &trace->ranks[rank].at[i];
        const struct rp_moment *first = &t->at[span->first];
        rp_buffer_printf(&out->text, ",\n{\"ph\": \"X\", \"name\": ");
        rp_json_put_string(&out->text, r->sites.rows[first->site].function);
        rp_buffer_printf(&out->text, ", \"cat\": \"%s\", \"pid\": %u, \"tid\": %d",
                         first->kind == RP_NO ? "polls" : "call", rank, first->thread);
        put_time(&out->text, "ts", span->start);
        put_time(&out->text, "dur", span->end - span->start);
        put_arguments(&out->text, r, t, span);
        rp_buffer_printf(&out->text, "}");
        rp_output_spill(out);
    }
}

/* A flow begins and ends in a slice; sends have none of their own, and get a short one. */
static void put_message(struct rp_buffer *out, const struct rp_trace *trace, size_t number,
                        uint64_t sent)
{
    const struct rp_trace_message *m = &trace->messages[number];
    int32_t thread = trace->report->timelines[m->receiver].at[m->moment].thread;

    rp_buffer_printf(out,
                     ",\n{\"ph\": \"X\", \"name\": \"send to rank %u\", \"cat\": \"send\", "
                     "\"pid\": %u, \"tid\": %d",
                     m->receiver, m->sender, SENDS_TRACK);
    put_time(out, "ts", sent);
    put_time(out, "dur", SEND_LENGTH);
    rp_buffer_printf(out,
                     "},\n{\"ph\": \"s\", \"name\": \"message\", \"cat\": \"message\", \"id\": "
                     "%zu, \"pid\": %u, \"tid\": %d",
                     number, m->sender, SENDS_TRACK);
    put_time(out, "ts", sent);
    rp_buffer_printf(out,
                     "},\n{\"ph\": \"f\", \"bp\": \"e\", \"name\": \"message\", \"cat\": "
                     "\"message\", \"id\": %zu, \"pid\": %u, \"tid\": %d",
                     number, m->receiver, thread);
    put_time(out, "ts", m->received);
    rp_buffer_printf(out, "}");
}

void rp_trace_put_perfetto(struct rp_output *out, const struct rp_trace *trace)
{
    const struct rp_manifest *m = &trace->report->facts.manifest;
    uint64_t free_from = 0;

    rp_buffer_printf(&out->text, "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"program\": ");
    rp_json_put_string(&out->text, m->program);
    rp_buffer_printf(&out->text, ", \"record\": ");
    rp_json_put_string(&out->text, trace->report->facts.directory);
    rp_buffer_printf(&out->text,
                     ", \"time\": \"%s\"}, \"traceEvents\": [\n{\"ph\": \"M\", \"name\": "
                     "\"process_labels\", \"pid\": 0, \"args\": {\"labels\": \"%u ranks\"}}",
                     trace->report->timed ? "physical" : "logical", m->ranks);
    for (uint32_t rank = 0; rank < m->ranks; rank++) {
        put_tracks(out, trace, rank);
        put_spans(out, trace, rank);
    }
    for (size_t i = 0; i < trace->message_count; i++) {
        if (i == 0 || trace->messages[i].sender != trace->messages[i - 1].sender)
            free_from = 0;
        uint64_t sent = trace->messages[i].sent > free_from ? trace->messages[i].sent : free_from;
        put_message(&out->text, trace, i, sent);
        free_from = sent + SEND_LENGTH;
        rp_output_spill(out);
    }
    rp_buffer_printf(&out->text, "\n]}\n");
}
