/* SPDX-License-Identifier: MIT */
/*
 * The producer never waits for the disk unless its ring is full. It wakes the encoder when the ring
 * is half full, and drains the ring itself when it is full ("helps"). `lock` makes whoever drains
 * the one consumer. A chunk is written whole with one pwrite; only then tail moves on, so that at
 * every instant each event is in a complete chunk or in the ring. LATE stands before its EVENTS
 * chunk in the same write.
 *
 * Where events have times, the producer leaves them in the ring, and a TIMES chunk stands before
 * each EVENTS chunk, too.
 *
 * A log of rows has these instead of events. The rows of a call are made when its end was seen, so
 * that the ring's tail stays behind: at the first event of the call that has not ended. A call with
 * more events than the ring has room for is put into EVENTS chunks as it is, before its rows.
 *
 * A codec may be too dear for a program that makes events fast: then a cheaper one takes over,
 * chunk by chunk, until it has become affordable again.
 *
 * When a write fails, the file is cut back to its last whole chunk, the ring is disconnected from
 * its file (which keeps the newest events), and the application goes on unrecorded, after one
 * message.
 */
#include "log/logwriter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/reopen_file.h"
#include "base/diagnostics.h"

struct stream {
    struct rp_ring ring;
    struct rp_log_writer *writer;
    uint32_t id;
    uint64_t events;         /* in chunks */
    uint64_t receives;       /* that these tell of */
    uint64_t posts;          /* made up to the last event that was drained */
    uint64_t previous_posts; /* made up to the first event of the last chunk that counts posts */
    bool only_polls;         /* the last chunk had no other events */
    uint64_t digest;
    uint64_t taken;  /* a log of rows: events that were given to `rows` */
    uint64_t parted; /* of these, in EVENTS chunks, since their call has not ended */
};

struct rp_log_writer {
    struct rp_reopen file;
    char *directory;
    char *path;
    uint64_t run;
    uint32_t rank;
    const struct rp_codec *codec;
    pthread_mutex_t lock;
    pthread_t thread;
    bool has_thread, is_inline, timed;
    _Atomic uint32_t wake; /* futex: counts the calls for the encoder */
    _Atomic bool closing;
    _Atomic int error;
    uint64_t length; /* of the file, in whole chunks */
    struct stream *streams;
    size_t stream_count;
    struct rp_event *batch; /* RP_CHUNK_EVENTS */
    struct rp_buffer times; /* of these, as the payload of TIMES */
    uint64_t last_time;
    void *encoder;                /* the codec's state */
    uint64_t in_span;             /* events since it was reset */
    const struct rp_codec *cheap; /* or NULL */
    void *cheap_encoder;
    bool is_cheap; /* the chunk before was */
    int64_t share; /* of `codec`, in thousandths of the process's time */
    int64_t spent; /* on `codec`, in nanoseconds */
    struct rp_buffer payload, late, output, index;
    uint32_t late_count, chunk_count;
    const struct rp_row_codec *row_codec; /* NULL: a log of events */
    struct rp_rows rows;
    struct rp_row_coder coder;
    uint64_t row_count, part_count; /* rows, and events of calls that had not ended, in chunks */
};

char *rp_log_path(const char *directory, uint32_t rank)
{
    char *path;

    return asprintf(&path, "%s/rank-%05u.log", directory, rank) < 0 ? NULL : path;
}

char *rp_ring_path(const char *directory, uint32_t rank, uint32_t stream)
{
    char *path;

    return asprintf(&path, "%s/rank-%05u.%u.ring", directory, rank, stream) < 0 ? NULL : path;
}

/* Writing chunks. All of it with the lock held. */

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

/* Appends a chunk to w->output. */
static void put_chunk(struct rp_log_writer *w, struct rp_chunk *chunk,
                      const struct rp_buffer *payload)
{
    chunk->stored = (uint32_t)payload->length;
    chunk->crc = rp_crc32c(payload->bytes, payload->length);
    rp_format_put_chunk(&w->output, chunk);
    rp_buffer_put(&w->output, payload->bytes, payload->length);
    add_to_index(w, chunk);
}

static bool write_output(struct rp_log_writer *w)
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

static void note_late(struct rp_log_writer *w, const struct stream *s, const struct rp_event *event)
{
    struct rp_late late = {event->match.post, event->kind, event->match.source, event->match.tag};

    /* The replay passes over FREED when the event before it is done, which may be before the post
     * that it tells of. */
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

static void survey(struct rp_log_writer *w, struct stream *s, size_t count)
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

static bool write_batch(struct rp_log_writer *w, struct stream *s, uint64_t first, size_t count)
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
        put_chunk(w, &late, &w->late);
    if (w->timed)
        put_chunk(w, &times, &w->times);
    put_chunk(w, &events, &w->payload);
    if (!write_output(w))
        return false;
    s->events += count;
    return true;
}

/* Rows */

static void add_up(struct stream *s, const struct rp_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        s->digest = rp_digest(s->digest, &events[i]);
        s->receives += rp_event_receives(&events[i]);
    }
}

/* All rows that there are, as one chunk: it covers all events but those of the call that has not
 * ended. */
static bool write_rows(struct rp_log_writer *w, struct stream *s)
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
    put_chunk(w, &chunk, &w->payload);
    rp_rows_clear(&w->rows);
    w->row_count += items;
    s->events = head.events;
    s->parted = 0;
    return write_output(w);
}

/* The call that has not ended is as long as the ring: its events must go somewhere. */
static bool write_part(struct rp_log_writer *w, struct stream *s)
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
        put_chunk(w, &chunk, &w->payload);
        if (!write_output(w))
            return false;
        w->part_count += some;
        s->parted += some;
        done += some;
    }
    return true;
}

static void take_events(struct rp_log_writer *w, struct stream *s, uint64_t head)
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

static void drain_rows(struct rp_log_writer *w, struct stream *s)
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

/* The stream has ended: also a call that was cut off counts among the events, though it has no
 * rows. */
static void finish_rows(struct rp_log_writer *w)
{
    struct stream *s = w->streams;

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
    uint64_t told = 0;

    rp_buffer_clear(&w->times);
    for (size_t i = 0; w->timed && i < count; i++) {
        uint64_t time = ring->times[(first + i) % RP_RING_CAPACITY];
        w->last_time = time > w->last_time ? time : w->last_time;
        rp_format_put_time(&w->times, w->last_time, &told);
    }
}

static void drain_stream(struct rp_log_writer *w, struct stream *s)
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

void rp_log_drain(struct rp_log_writer *w)
{
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->stream_count; i++)
        drain_stream(w, &w->streams[i]);
    pthread_mutex_unlock(&w->lock);
}

/* The encoder */

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void wake_encoder(struct rp_log_writer *w)
{
    atomic_fetch_add(&w->wake, 1);
    futex(&w->wake, FUTEX_WAKE, 1);
}

static void *encoder(void *data)
{
    struct rp_log_writer *w = data;
    uint32_t seen = 0;

    while (!w->closing) {
        uint32_t now = atomic_load(&w->wake);
        if (now == seen) {
            futex(&w->wake, FUTEX_WAIT, seen);
            continue;
        }
        seen = now;
        rp_log_drain(w);
    }
    return NULL;
}

static bool start_encoder(struct rp_log_writer *w)
{
    pthread_attr_t attributes;
    sigset_t all, before;

    /* Signals are the application's: none of its handlers may run on our thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    w->has_thread = pthread_create(&w->thread, &attributes, encoder, w) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return w->has_thread;
}

static void stop_encoder(struct rp_log_writer *w)
{
    if (!w->has_thread)
        return;
    w->closing = true;
    wake_encoder(w);
    pthread_join(w->thread, NULL);
    w->has_thread = false;
}

/* The producer's side */

/* Drains the full ring on the application's thread. Returns the tail to go on from. */
static uint64_t help(struct rp_log_writer *w, struct stream *s)
{
    pthread_mutex_lock(&w->lock);
    drain_stream(w, s);
    uint64_t tail = w->error ? s->ring.head : atomic_load(&s->ring.shared->tail);
    if (w->error && rp_ring_disconnect(&s->ring) != RP_OK)
        rp_bug(__FILE__, __LINE__, "no memory to go on unrecorded");
    pthread_mutex_unlock(&w->lock);
    return tail;
}

static void make_room(struct rp_ring *ring)
{
    struct stream *s = ring->owner;
    struct rp_log_writer *w = s->writer;
    uint64_t tail = atomic_load_explicit(&ring->shared->tail, memory_order_acquire);

    if (w->error || ring->head - tail >= RP_RING_CAPACITY) {
        rp_ring_publish(ring); /* inside a call, for want of room alone: a half-full ring waits for
                                  the call's end */
        tail = help(w, s);
    } else if (!w->is_inline) {
        wake_encoder(w);
    }
    uint64_t half = ring->head + RP_RING_CAPACITY / 2, full = tail + RP_RING_CAPACITY;
    ring->limit = half < full ? half : full;
}

enum rp_status rp_log_stream(struct rp_log_writer *w, uint32_t id, struct rp_ring **out,
                             struct rp_problem *why)
{
    if (w->stream_count > 0)
        return rp_fail(why, RP_UNSUPPORTED, "%s: one stream a log for now", w->path);
    char *path = rp_ring_path(w->directory, w->rank, id);
    struct stream *s = calloc(1, sizeof *s);
    if (!path || !s) {
        free(path);
        free(s);
        return rp_fail(why, RP_MEMORY, "%s: out of memory", w->path);
    }
    enum rp_status status =
        rp_ring_create(&s->ring, path, w->run, w->rank, id, w->timed ? RP_RING_TIMES : 0, why);
    free(path);
    if (status != RP_OK) {
        free(s);
        return status;
    }
    s->id = id;
    s->writer = w;
    s->digest = RP_DIGEST_START;
    s->ring.owner = s;
    s->ring.make_room = make_room;
    pthread_mutex_lock(&w->lock);
    w->streams = s;
    w->stream_count = 1;
    pthread_mutex_unlock(&w->lock);
    *out = &s->ring;
    return RP_OK;
}

void rp_log_sites(struct rp_log_writer *w, const struct rp_buffer *records, uint32_t first,
                  uint32_t count)
{
    struct rp_chunk chunk = {.kind = RP_CHUNK_SITES, .items = count, .first = first};

    pthread_mutex_lock(&w->lock);
    if (!w->error) {
        put_chunk(w, &chunk, records);
        write_output(w);
    }
    pthread_mutex_unlock(&w->lock);
}

struct rp_log_totals rp_log_totals(const struct rp_log_writer *w)
{
    struct rp_log_totals totals = {.bytes = w->length};

    for (size_t i = 0; i < w->stream_count; i++) {
        totals.events += w->row_codec ? w->streams[i].taken : w->streams[i].events;
        totals.receives += w->streams[i].receives;
    }
    return totals;
}

int rp_log_error(const struct rp_log_writer *w)
{
    return w->error;
}

/* Opening and closing */

static enum rp_status open_file(struct rp_log_writer *w, uint32_t ranks, struct rp_problem *why)
{
    int error = rp_reopen_open(&w->file, w->path, O_RDWR | O_CREAT | O_EXCL);

    if (error)
        return rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", w->path, strerror(error));
    rp_reopen_lock(&w->file); /* where locks do not work, readers go without the warning */
    rp_format_put_header(&w->output, w->row_codec ? RP_LOG_OF_ROWS | RP_LOG_CALLERS : 0, w->run,
                         w->rank, ranks);
    error =
        w->output.failed ? ENOMEM : rp_reopen_write(&w->file, w->output.bytes, w->output.length, 0);
    if (error)
        return rp_fail(why, RP_SYSTEM, "%s: cannot write: %s", w->path, strerror(error));
    w->length = w->output.length;
    rp_buffer_clear(&w->output);
    return RP_OK;
}

static void free_writer(struct rp_log_writer *w)
{
    rp_reopen_close(&w->file);
    if (w->encoder)
        w->codec->close(w->encoder);
    if (w->cheap_encoder)
        w->cheap->close(w->cheap_encoder);
    rp_buffer_free(&w->payload);
    rp_buffer_free(&w->late);
    rp_buffer_free(&w->times);
    rp_buffer_free(&w->output);
    rp_buffer_free(&w->index);
    rp_rows_free(&w->rows);
    rp_row_coder_free(&w->coder);
    pthread_mutex_destroy(&w->lock);
    free(w->streams);
    free(w->batch);
    free(w->directory);
    free(w->path);
    free(w);
}

enum rp_status rp_log_create(const char *directory, uint64_t run, uint32_t rank, uint32_t ranks,
                             const struct rp_log_manner *manner, struct rp_log_writer **out,
                             struct rp_problem *why)
{
    struct rp_log_writer *w = calloc(1, sizeof *w);

    if (!w)
        return rp_fail(why, RP_MEMORY, "%s: out of memory", directory);
    w->file.fd = -1;
    w->run = run;
    w->rank = rank;
    w->codec = manner->codec;
    w->row_codec = manner->rows;
    w->cheap = manner->cheap;
    w->share = manner->share;
    w->is_inline = manner->is_inline;
    w->timed = manner->timed;
    w->directory = strdup(directory);
    w->path = rp_log_path(directory, rank);
    w->batch = malloc(RP_CHUNK_EVENTS * sizeof *w->batch);
    w->encoder = w->codec->open();
    w->cheap_encoder = w->cheap ? w->cheap->open() : NULL;
    pthread_mutex_init(&w->lock, NULL);
    enum rp_status status = RP_OK;
    if (!w->directory || !w->path || !w->batch || !w->encoder || (w->cheap && !w->cheap_encoder))
        status = rp_fail(why, RP_MEMORY, "%s: out of memory", directory);
    if (status == RP_OK)
        status = open_file(w, ranks, why);
    if (status == RP_OK && !w->is_inline && !start_encoder(w))
        status = rp_fail(why, RP_SYSTEM, "%s: cannot start the encoder thread", w->path);
    if (status != RP_OK) {
        free_writer(w);
        return status;
    }
    *out = w;
    return RP_OK;
}

static void write_end(struct rp_log_writer *w, enum rp_end_reason reason, int64_t code)
{
    struct rp_chunk end = {.kind = RP_CHUNK_END};
    struct rp_chunk index = {.kind = RP_CHUNK_INDEX};

    rp_buffer_clear(&w->payload);
    rp_buffer_byte(&w->payload, (uint8_t)reason);
    rp_buffer_svarint(&w->payload, code);
    rp_buffer_u64(&w->payload, w->stream_count ? w->streams[0].events : 0);
    rp_buffer_u64(&w->payload, w->stream_count ? w->streams[0].receives : 0);
    rp_buffer_u64(&w->payload, w->stream_count ? w->streams[0].digest : RP_DIGEST_START);
    put_chunk(w, &end, &w->payload);
    uint64_t index_offset = w->length + w->output.length;
    index.items = w->chunk_count;
    rp_buffer_clear(&w->payload);
    rp_buffer_put(&w->payload, w->index.bytes, w->index.length);
    put_chunk(w, &index, &w->payload);
    rp_buffer_u64(&w->output, index_offset);
    rp_buffer_put(&w->output, rp_index_magic, sizeof rp_index_magic);
    write_output(w);
}

enum rp_status rp_log_close(struct rp_log_writer *w, enum rp_end_reason reason, int64_t code,
                            struct rp_problem *why)
{
    enum rp_status status = RP_OK;

    stop_encoder(w);
    rp_log_drain(w);
    bool ends = reason != RP_END_KILLED && reason != RP_END_STOPPED;
    if (ends)
        finish_rows(w);
    if (!w->error && ends)
        write_end(w, reason, code);
    if (reason == RP_END_STOPPED && w->stream_count > 0)
        w->streams[0].ring.shared->stopped = (uint32_t)code,
        w->streams[0].ring.shared->stopped_head = rp_log_totals(w).events;
    if (w->error)
        status =
            rp_fail(why, RP_SYSTEM, "%s: recording stopped early: %s", w->path, strerror(w->error));
    for (size_t i = 0; i < w->stream_count; i++)
        rp_ring_close(&w->streams[i].ring, !w->error && ends);
    free_writer(w);
    return status;
}
