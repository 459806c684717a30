/* SPDX-License-Identifier: MIT */
/*
 * A chunk is written whole with one pwrite; only then the ring's tail moves on, so that at every
 * instant each event is in a complete chunk or in the ring. LATE stands before its EVENTS chunk in
 * the same write. Where events have times, a TIMES chunk stands before each EVENTS chunk, too.
 *
 * A log of rows has these instead of events. The rows of a call are made when its end was seen, so
 * that the ring's tail stays behind: at the first event of the call that has not ended. A call with
 * more events than the ring has room for is put into EVENTS chunks as it is, before its rows.
 *
 * A codec may be too dear for a program that makes events fast: then a cheaper one takes over,
 * chunk by chunk, until it has become affordable again.
 *
 * When a write fails, the file is cut back to its last whole chunk, and there is one message.
 */
#include "log/logdrain.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/crc32c.h"
#include "base/diagnostics.h"

/* Writing chunks */

static void stop_recording(struct rp_log_writer *w, int error)
{
    if (w->error)
        return;
    w->error = error;
    for (size_t i = 0; i < w->stream_count; i++) {
        struct rp_ring_header *shared = w->streams[i].ring.shared;
        shared->stopped_head = atomic_load(&shared->head);
        shared->stopped = (uint32_t)error;
    }
    int cut = rp_reopen_truncate(&w->file, (off_t)w->length);
    if (cut)
        rp_error("%s: cannot cut off a torn chunk: %s", w->path, strerror(cut));
    rp_error("%s: recording stops: %s; the application goes on unrecorded", w->path,
             strerror(error));
}

static void add_to_index(struct rp_log_writer *w, const struct rp_chunk *chunk)
{
    rp_buffer_byte(&w->index, chunk->kind);
    rp_buffer_varint(&w->index, chunk->items);
    rp_buffer_varint(&w->index, chunk->stored);
    w->chunk_count++;
}

void rp_log_put_chunk(struct rp_log_writer *w, struct rp_chunk *chunk,
                      const struct rp_buffer *payload)
{
    chunk->stored = (uint32_t)payload->length;
    chunk->crc = rp_crc32c(payload->bytes, payload->length);
    rp_format_put_chunk(&w->output, chunk);
    rp_buffer_put(&w->output, payload->bytes, payload->length);
    add_to_index(w, chunk);
}

bool rp_log_write_output(struct rp_log_writer *w)
{
    int error =
        w->output.failed || w->index.failed || w->payload.failed || w->times.failed ? ENOMEM : 0;

    if (!error)
        error = rp_reopen_write(&w->file, w->output.bytes, w->output.length, (off_t)w->length);
    if (error)
        stop_recording(w, error);
    else
        w->length += w->output.length;
    rp_buffer_clear(&w->output);
    return !error;
}

static void note_late(struct rp_log_writer *w, const struct rp_stream *s,
                      const struct rp_event *event)
{
    struct rp_late late = {event->match.post, event->kind, event->match.source, event->match.tag};

    /* The replay passes over FREED when the event before it is done. That may be before the post
     * that FREED names. */
    bool of_its_own = event->kind == RP_FREED && event->match.post + event->posts >= s->posts;
    if (event->match.post >= s->previous_posts && !of_its_own)
        return;
    rp_format_put_late(&w->late, &late);
    w->late_count++;
}

/* Polls do not count posts: a receive may be posted before or after any of those in a row. */
static const struct rp_event *first_that_counts(const struct rp_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rp_event_counts_posts(events[i].kind))
            return &events[i];
    return NULL;
}

static void survey(struct rp_log_writer *w, struct rp_stream *s, size_t count)
{
    const struct rp_event *first = first_that_counts(w->batch, count);
    uint64_t posts_before = s->posts + (first ? first->posts : 0);

    if (s->only_polls)
        s->previous_posts = posts_before;
    s->only_polls = !first;
    for (size_t i = 0; i < count; i++) {
        const struct rp_event *event = &w->batch[i];
        s->posts += event->posts;
        s->digest = rp_digest(s->digest, event);
        if (rp_event_has_post(event->kind))
            note_late(w, s, event);
        s->receives += rp_event_receives(event);
    }
    s->previous_posts = posts_before;
}

static int64_t processor_time(clockid_t of)
{
    struct timespec time = {0};

    clock_gettime(of, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Whether the next chunk is the cheap codec's. Back to the other only when it has fallen far below
 * its share: it begins afresh then. */
static bool must_be_cheap(const struct rp_log_writer *w)
{
    if (!w->cheap)
        return false;
    int64_t allowed = processor_time(CLOCK_PROCESS_CPUTIME_ID) / 1000 * w->share;
    return w->spent > (w->is_cheap ? allowed / 2 : allowed);
}

/* What the encoder has learnt is kept from chunk to chunk, for a while: so that not too much hangs
 * on one damaged chunk. */
static uint16_t continue_span(struct rp_log_writer *w, size_t count)
{
    bool goes_on = w->codec->continues && w->in_span > 0 && w->in_span < RP_SPAN_EVENTS;

    if (!goes_on) {
        w->codec->reset(w->encoder);
        w->in_span = 0;
    }
    w->in_span += count;
    return goes_on ? RP_CHUNK_CONTINUES : 0;
}

static enum rp_status encode(struct rp_log_writer *w, size_t count, struct rp_chunk *chunk)
{
    w->is_cheap = must_be_cheap(w);
    if (w->is_cheap) {
        w->in_span = 0;
        chunk->codec = w->cheap->id;
        w->cheap->reset(w->cheap_encoder);
        return w->cheap->encode(w->cheap_encoder, w->batch, count, &w->payload);
    }
    int64_t start = w->cheap ? processor_time(CLOCK_THREAD_CPUTIME_ID) : 0;
    chunk->codec = w->codec->id;
    chunk->flags = continue_span(w, count);
    enum rp_status status = w->codec->encode(w->encoder, w->batch, count, &w->payload);
    if (w->cheap)
        w->spent += processor_time(CLOCK_THREAD_CPUTIME_ID) - start;
    return status;
}

static bool write_batch(struct rp_log_writer *w, struct rp_stream *s, uint64_t first, size_t count)
{
    struct rp_chunk late = {.kind = RP_CHUNK_LATE, .first = first};
    struct rp_chunk events = {.kind = RP_CHUNK_EVENTS_KIND,
                              .first = first,
                              .items = (uint32_t)count};
    struct rp_chunk times = {.kind = RP_CHUNK_TIMES,
                             .flags = RP_CHUNK_OPTIONAL,
                             .items = (uint32_t)count};

    rp_buffer_clear(&w->late);
    rp_buffer_clear(&w->payload);
    w->late_count = 0;
    survey(w, s, count);
    if (encode(w, count, &events) != RP_OK || w->late.failed) {
        stop_recording(w, ENOMEM);
        return false;
    }
    late.items = w->late_count;
    if (late.items > 0)
        rp_log_put_chunk(w, &late, &w->late);
    if (w->timed)
        rp_log_put_chunk(w, &times, &w->times);
    rp_log_put_chunk(w, &events, &w->payload);
    if (!rp_log_write_output(w))
        return false;
    s->events += count;
    return true;
}

/* Rows */

static void add_up(struct rp_stream *s, const struct rp_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        s->digest = rp_digest(s->digest, &events[i]);
        s->receives += rp_event_receives(&events[i]);
    }
}

/* All rows that there are, as one chunk: it covers all events but those of the call that has not
 * ended. */
static bool write_rows(struct rp_log_writer *w, struct rp_stream *s)
{
    struct rp_chunk chunk = {.kind = RP_CHUNK_ROWS,
                             .codec = w->row_codec->id,
                             .first = w->row_count};
    struct rp_rows_head head = {.events = s->taken - rp_rows_pending(&w->rows)};
    struct rp_buffer bytes = {0};
    size_t items = 0;
    enum rp_status status =
        w->row_codec->encode(&w->coder, rp_rows_of(&w->rows), rp_rows_count(&w->rows), &bytes,
                             &items, &head.raw);

    rp_buffer_clear(&w->payload);
    rp_format_put_rows(&w->payload, &head);
    rp_buffer_put(&w->payload, bytes.bytes, bytes.length);
    w->payload.failed |= bytes.failed;
    rp_buffer_free(&bytes);
    if (status != RP_OK || items > RP_CHUNK_ROWS_LIMIT ||
        w->payload.length > RP_CHUNK_BYTES_LIMIT) {
        stop_recording(w, status != RP_OK ? ENOMEM : EFBIG);
        return false;
    }
    chunk.items = (uint32_t)items;
    rp_log_put_chunk(w, &chunk, &w->payload);
    rp_rows_clear(&w->rows);
    w->row_count += items;
    s->events = head.events;
    s->parted = 0;
    return rp_log_write_output(w);
}

/* The call that has not ended is as long as the ring: its events must go somewhere. */
static bool write_part(struct rp_log_writer *w, struct rp_stream *s)
{
    const struct rp_event *call = (const struct rp_event *)(const void *)w->rows.call.bytes;
    size_t count = rp_rows_pending(&w->rows) - s->parted;

    for (size_t done = 0; done < count;) {
        size_t some = count - done < RP_CHUNK_EVENTS ? count - done : RP_CHUNK_EVENTS;
        struct rp_chunk chunk = {.kind = RP_CHUNK_EVENTS_KIND,
                                 .first = w->part_count,
                                 .codec = w->codec->id,
                                 .items = (uint32_t)some};
        rp_buffer_clear(&w->payload);
        w->codec->reset(w->encoder);
        if (w->codec->encode(w->encoder, call + s->parted, some, &w->payload) != RP_OK) {
            stop_recording(w, ENOMEM);
            return false;
        }
        rp_log_put_chunk(w, &chunk, &w->payload);
        if (!rp_log_write_output(w))
            return false;
        w->part_count += some;
        s->parted += some;
        done += some;
    }
    return true;
}

static void take_events(struct rp_log_writer *w, struct rp_stream *s, uint64_t head)
{
    while (s->taken < head && !w->error) {
        size_t count =
            head - s->taken > RP_CHUNK_EVENTS ? RP_CHUNK_EVENTS : (size_t)(head - s->taken);
        for (size_t i = 0; i < count; i++)
            w->batch[i] = s->ring.slots[(s->taken + i) % RP_RING_CAPACITY];
        add_up(s, w->batch, count);
        if (rp_rows_add(&w->rows, w->batch, count) != RP_OK)
            stop_recording(w, ENOMEM);
        s->taken += count;
    }
}

static void drain_rows(struct rp_log_writer *w, struct rp_stream *s)
{
    struct rp_ring_header *shared = s->ring.shared;
    uint64_t head = atomic_load_explicit(&shared->head, memory_order_acquire);

    take_events(w, s, head);
    if (!w->error && rp_rows_count(&w->rows) > 0)
        write_rows(w, s);
    if (!w->error && head - (s->events + s->parted) >= RP_RING_CAPACITY)
        write_part(w, s);
    if (!w->error)
        atomic_store_explicit(&shared->tail, s->events + s->parted, memory_order_release);
}

void rp_log_finish_rows(struct rp_log_writer *w)
{
    struct rp_stream *s = w->streams;

    if (!w->row_codec || w->stream_count == 0 || w->error)
        return;
    if (rp_rows_finish(&w->rows) != RP_OK)
        stop_recording(w, ENOMEM);
    else if (s->taken > s->events)
        write_rows(w, s);
}

/* Times that were not put, or are those of older events, are less than the one before. */
static void take_times(struct rp_log_writer *w, const struct rp_ring *ring, uint64_t first,
                       size_t count)
{
    uint64_t before = 0;

    rp_buffer_clear(&w->times);
    for (size_t i = 0; w->timed && i < count; i++) {
        uint64_t time = ring->times[(first + i) % RP_RING_CAPACITY];
        w->last_time = time > w->last_time ? time : w->last_time;
        rp_format_put_time(&w->times, w->last_time, &before);
    }
}

void rp_stream_drain(struct rp_log_writer *w, struct rp_stream *s)
{
    if (w->error)
        return; /* the ring may be disconnected */
    if (w->row_codec) {
        drain_rows(w, s);
        return;
    }
    struct rp_ring_header *shared = s->ring.shared;
    uint64_t tail = atomic_load_explicit(&shared->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&shared->head, memory_order_acquire);

    while (tail < head && !w->error) {
        size_t count = head - tail > RP_CHUNK_EVENTS ? RP_CHUNK_EVENTS : (size_t)(head - tail);
        for (size_t i = 0; i < count; i++)
            w->batch[i] = s->ring.slots[(tail + i) % RP_RING_CAPACITY];
        take_times(w, &s->ring, tail, count);
        if (!write_batch(w, s, tail, count))
            return;
        tail += count;
        atomic_store_explicit(&shared->tail, tail, memory_order_release);
    }
}
