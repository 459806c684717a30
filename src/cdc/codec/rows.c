/* SPDX-License-Identifier: MIT */
/*
 * Events to rows. The events of a call follow each other. No event marks the beginning of a call,
 * so it is derived:
 *
 *   NO, PROBE, ERROR, THREAD, TURN, VALUE   are each a whole call;
 *   RECV, YES                               begin a call;
 *   NEXT                                    continues a call behind YES or NEXT;
 *   MATCH, CANCELLED, UNSENT, FREED         continue a call, unless a receive was posted before
 *                                           them (posts > 0) or CLOCKs are before them;
 *   CLOCK                                   continues a call, and ends it if it is the last
 *                                           (scope = 0); one that does not count down begins
 * another; another site                            begins another call.
 *
 * A call that has ended yields its rows in this order. First come its notes, each by itself
 * (with_next = 0): CANCELLED, UNSENT and FREED, and RECV and MATCH if no CLOCK stands for them. A
 * note names its receive or cancel by number, so nothing is lost when it is not tied to the call;
 * and the notes of a Wait look like those of a Waitall. Then come the outcomes, tied together by
 * with_next: first the indices of YES and NEXT in their order, each as a MESSAGE if the next CLOCK
 * has that index, else as an OTHER that carries the event; then the CLOCKs without an index. A YES
 * without index is implied by its messages, if there are any. A YES with c != 0 (of a Waitall that
 * failed early) always has a row, in front of the message that may have its index.
 *
 * So there are never more rows than events, and every CLOCK is one MESSAGE.
 *
 * Of a NO, the thread is kept. Its `b` only delimits the group, which has no particular order
 * anyway. Its scope is not needed: between two entries of a site all polls there complete nothing,
 * in the program's own order, so that their number is enough.
 */
#include "cdc/codec/rows.h"

static struct rp_event *call_events(const struct rp_rows *rows)
{
    return (struct rp_event *)(void *)rows->call.bytes;
}

size_t rp_rows_pending(const struct rp_rows *rows)
{
    return rows->call.length / sizeof(struct rp_event);
}

size_t rp_rows_count(const struct rp_rows *rows)
{
    return rows->rows.length / sizeof(struct rp_row);
}

const struct rp_row *rp_rows_of(const struct rp_rows *rows)
{
    return (const struct rp_row *)(const void *)rows->rows.bytes;
}

void rp_rows_clear(struct rp_rows *rows)
{
    rp_buffer_clear(&rows->rows);
}

void rp_rows_free(struct rp_rows *rows)
{
    rp_buffer_free(&rows->rows);
    rp_buffer_free(&rows->call);
}

static void add_unmatched_row(struct rp_rows *rows, const struct rp_event *no)
{
    struct rp_row row = {.kind = RP_ROW_UNMATCHED,
                         .site = no->site,
                         .count = no->no.times,
                         .thread = no->no.thread};

    rp_buffer_put(&rows->rows, &row, sizeof row);
}

static void put_message(struct rp_rows *rows, const struct rp_event *clock)
{
    struct rp_row row = {.kind = RP_ROW_MESSAGE,
                         .site = clock->site,
                         .count = 1,
                         .clock = clock->clock.clock,
                         .rank = clock->clock.sender,
                         .index = clock->clock.index,
                         .order = clock->scope & RP_CLOCK_FRESH ? 1 : 0};

    rp_buffer_put(&rows->rows, &row, sizeof row);
}

static void put_other(struct rp_rows *rows, const struct rp_event *event)
{
    struct rp_row row = {.kind = RP_ROW_OTHER, .site = event->site, .count = 1, .other = *event};

    row.other.site = row.other.posts = 0;
    rp_buffer_put(&rows->rows, &row, sizeof row);
}

/* Returns whether a real message was received (not one of MPI_PROC_NULL), for which there may be a
 * CLOCK. */
static bool is_received(const struct rp_event *event)
{
    return (event->kind == RP_MATCH || event->kind == RP_RECV) && event->match.source >= 0;
}

static bool is_note(const struct rp_event *event)
{
    return event->kind != RP_YES && event->kind != RP_NEXT && event->kind != RP_CLOCK;
}

static void put_notes(struct rp_rows *rows, const struct rp_event *events, size_t count)
{
    size_t received = 0, clocks = 0;

    for (size_t i = 0; i < count; i++) {
        received += is_received(&events[i]);
        clocks += events[i].kind == RP_CLOCK;
    }
    for (size_t i = 0; i < count; i++)
        if (is_note(&events[i]) && !(is_received(&events[i]) && received <= clocks))
            put_other(rows, &events[i]);
}

/* Puts the row of a YES or NEXT. Moves on behind the CLOCK of the same message, if there is one. */
static void put_index(struct rp_rows *rows, const struct rp_event *event,
                      const struct rp_event **clock, const struct rp_event *end)
{
    bool is_early = event->kind == RP_YES && event->yes.waitalls != 0;
    bool is_told =
        *clock < end && (event->yes.index < 0 || (*clock)->clock.index == event->yes.index);

    if (is_early || !is_told)
        put_other(rows, event);
    if (is_told && event->yes.index >= 0)
        put_message(rows, (*clock)++);
}

static void put_answer(struct rp_rows *rows, const struct rp_event *events, size_t count)
{
    const struct rp_event *end = events + count, *clock = events;
    size_t first = rp_rows_count(rows);

    while (clock < end && clock->kind != RP_CLOCK)
        clock++;
    for (const struct rp_event *event = events; event < end; event++)
        if (event->kind == RP_YES || event->kind == RP_NEXT)
            put_index(rows, event, &clock, end);
    while (clock < end)
        put_message(rows, clock++);
    if (rows->rows.failed)
        return;
    struct rp_row *row = (struct rp_row *)(void *)rows->rows.bytes;
    for (size_t i = first; i + 1 < rp_rows_count(rows); i++)
        row[i].with_next = 1;
}

static void end_call(struct rp_rows *rows)
{
    size_t count = rp_rows_pending(rows);

    put_notes(rows, call_events(rows), count);
    put_answer(rows, call_events(rows), count);
    rows->call.length = 0;
}

static bool begins_call(const struct rp_event *event, const struct rp_event *last)
{
    if (event->site != last->site)
        return true;
    switch (event->kind) {
    case RP_CLOCK:
        return last->kind == RP_CLOCK &&
               rp_clock_left(last->scope) != rp_clock_left(event->scope) + 1;
    case RP_NEXT:
        return event->posts > 0 || (last->kind != RP_YES && last->kind != RP_NEXT);
    case RP_MATCH:
    case RP_CANCELLED:
    case RP_UNSENT:
    case RP_FREED:
        return event->posts > 0 || last->kind == RP_CLOCK;
    default:
        return true;
    }
}

static bool is_call_by_itself(uint32_t kind)
{
    return kind == RP_NO || kind == RP_PROBE || kind == RP_ERROR || kind == RP_THREAD ||
           kind == RP_TURN || kind == RP_VALUE;
}

static void add(struct rp_rows *rows, const struct rp_event *event)
{
    size_t pending = rp_rows_pending(rows);

    if (pending > 0 && begins_call(event, &call_events(rows)[pending - 1]))
        end_call(rows);
    if (event->kind == RP_NO) {
        add_unmatched_row(rows, event);
    } else if (is_call_by_itself(event->kind)) {
        put_other(rows, event);
    } else {
        rp_buffer_put(&rows->call, event, sizeof *event);
        if (event->kind == RP_CLOCK && rp_clock_left(event->scope) == 0 && !rows->call.failed)
            end_call(rows);
    }
}

static enum rp_status outcome(const struct rp_rows *rows)
{
    return rows->rows.failed || rows->call.failed ? RP_MEMORY : RP_OK;
}

enum rp_status rp_rows_add(struct rp_rows *rows, const struct rp_event *events, size_t count)
{
    for (size_t i = 0; i < count && outcome(rows) == RP_OK; i++)
        add(rows, &events[i]);
    return outcome(rows);
}

/* Returns whether NEXTs or CLOCKs of the last call are missing. */
static bool is_cut_off(const struct rp_event *events, size_t count)
{
    int64_t missing = events[0].kind == RP_YES ? events[0].yes.count - 1 : 0;

    for (size_t i = 0; i < count; i++)
        missing -= events[i].kind == RP_NEXT;
    return missing > 0 ||
           (events[count - 1].kind == RP_CLOCK && rp_clock_left(events[count - 1].scope) > 0);
}

enum rp_status rp_rows_finish(struct rp_rows *rows)
{
    size_t count = rp_rows_pending(rows);

    if (outcome(rows) == RP_OK && count > 0) {
        if (is_cut_off(call_events(rows), count))
            rows->call.length = 0;
        else
            end_call(rows);
    }
    return outcome(rows);
}
