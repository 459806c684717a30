/* SPDX-License-Identifier: MIT */
/*
 * An event has its time when the call returns, and how long the call took is not known: it is drawn
 * with a short length, behind the one before. Polls that answered no take all the time since then.
 */
#include "report/intervals.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT = 100, EVENT = 1000, MICROSECOND = 1000 };

/* Whether the event belongs to the call of the one before. */
static bool goes_on(const struct rp_moment *last, const struct rp_moment *moment)
{
    bool is_part = moment->kind == RP_NEXT || moment->kind == RP_MATCH ||
                   moment->kind == RP_CANCELLED || moment->kind == RP_UNSENT ||
                   moment->kind == RP_CLOCK;

    if (!is_part || last->site != moment->site || last->thread != moment->thread ||
        last->kind == RP_NO)
        return false;
    return last->kind != RP_CLOCK || last->number > 0;
}

static void place(const struct rp_report *r, const struct rp_timeline *t, struct rp_interval *span,
                  uint64_t last_end)
{
    uint64_t time = t->at[span->first].time * MICROSECOND;

    if (!r->timed) {
        span->start = span->first * EVENT + EVENT / 2;
        span->end = (span->first + span->count) * EVENT;
        return;
    }
    span->start = t->at[span->first].kind == RP_NO || time < last_end ? last_end : time;
    span->end = time > span->start + SHORT ? time : span->start + SHORT;
}

static bool make_spans(const struct rp_report *r, const struct rp_timeline *t,
                       struct rp_intervals *out)
{
    out->at = calloc(t->count + 1, sizeof *out->at);
    if (!out->at)
        return false;
    for (size_t i = 0; i < t->count;) {
        struct rp_interval *span = &out->at[out->count];
        span->first = i++;
        while (i < t->count && goes_on(&t->at[i - 1], &t->at[i]))
            i++;
        span->count = i - span->first;
        place(r, t, span, out->count > 0 ? span[-1].end : 0);
        out->count++;
    }
    return true;
}

/* The span that has this moment. */
static const struct rp_interval *span_of(const struct rp_intervals *spans, size_t moment)
{
    size_t low = 0, high = spans->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (spans->at[middle].first <= moment)
            low = middle;
        else
            high = middle;
    }
    return &spans->at[low];
}

static bool is_known(const struct rp_report *r, const struct rp_moment *moment)
{
    return moment->kind == RP_CLOCK && moment->send >= 0 &&
           (uint64_t)moment->send <= r->timelines[moment->source].count;
}

/* The place of a send is the latest possible: it was not sent after it was received. */
static struct rp_trace_message message_of(const struct rp_trace *trace, uint32_t rank,
                                          size_t number)
{
    const struct rp_moment *moment = &trace->report->timelines[rank].at[number];
    uint64_t received = span_of(&trace->ranks[rank], number)->start;
    uint64_t sent = moment->send > 0
                        ? span_of(&trace->ranks[moment->source], (size_t)moment->send - 1)->end
                        : 0;

    return (struct rp_trace_message){(uint32_t)moment->source,
                                     rank,
                                     number,
                                     moment->sent,
                                     trace->report->timed && received < sent ? received : sent,
                                     received};
}

static int by_sender_and_time(const void *one, const void *other)
{
    const struct rp_trace_message *a = one, *b = other;

    if (a->sender != b->sender)
        return a->sender < b->sender ? -1 : 1;
    if (a->sent != b->sent)
        return a->sent < b->sent ? -1 : 1;
    return a->clock < b->clock ? -1 : a->clock > b->clock;
}

static bool make_messages(struct rp_trace *trace)
{
    const struct rp_report *r = trace->report;
    size_t count = 0;

    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && !(trace->messages = malloc((count + 1) * sizeof *trace->messages)))
            return false;
        for (uint32_t rank = 0; rank < r->facts.manifest.ranks; rank++)
            for (size_t i = 0; i < r->timelines[rank].count; i++) {
                const struct rp_moment *moment = &r->timelines[rank].at[i];
                if (!is_known(r, moment))
                    continue;
                if (pass == 0)
                    count++;
                else
                    trace->messages[trace->message_count++] = message_of(trace, rank, i);
            }
    }
    if (count > 0)
        qsort(trace->messages, count, sizeof *trace->messages, by_sender_and_time);
    return true;
}

enum rp_status rp_trace_make(const struct rp_report *report, struct rp_trace *out,
                             struct rp_problem *why)
{
    uint32_t ranks = report->facts.manifest.ranks;

    *out = (struct rp_trace){.report = report, .ranks = calloc(ranks, sizeof *out->ranks)};
    bool done = out->ranks != NULL;
    for (uint32_t rank = 0; done && rank < ranks; rank++) {
        struct rp_intervals *spans = &out->ranks[rank];
        done = make_spans(report, &report->timelines[rank], spans);
        if (done && spans->count > 0 && spans->at[spans->count - 1].end > out->end)
            out->end = spans->at[spans->count - 1].end;
    }
    if (done && make_messages(out))
        return RP_OK;
    rp_trace_free(out);
    return rp_fail(why, RP_MEMORY, "out of memory");
}

void rp_trace_free(struct rp_trace *trace)
{
    for (uint32_t rank = 0; trace->ranks && rank < trace->report->facts.manifest.ranks; rank++)
        free(trace->ranks[rank].at);
    free(trace->ranks);
    free(trace->messages);
    memset(trace, 0, sizeof *trace);
}
