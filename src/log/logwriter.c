/* SPDX-License-Identifier: MIT */
/*
 * The producer never waits for the disk unless its ring is full. It wakes the encoder when the ring
 * is half full, and drains the ring itself when it is full ("helps"). Whoever drains holds `lock`,
 * so there is one consumer at a time; log/logdrain.c says how it drains. Where events have times,
 * the producer leaves them in the ring.
 *
 * When a write failed, the ring is disconnected from its file (which keeps the newest events), and
 * the application goes on unrecorded.
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
#include <unistd.h>

#include "base/diagnostics.h"
#include "base/reopen_file.h"
#include "log/logdrain.h"

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

void rp_log_drain(struct rp_log_writer *w)
{
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->stream_count; i++)
        rp_stream_drain(w, &w->streams[i]);
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

static void *encoder_thread(void *data)
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
    w->has_thread = pthread_create(&w->thread, &attributes, encoder_thread, w) == 0;
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
static uint64_t drain_full_ring(struct rp_log_writer *w, struct rp_stream *s)
{
    pthread_mutex_lock(&w->lock);
    rp_stream_drain(w, s);
    uint64_t tail = w->error ? s->ring.head : atomic_load(&s->ring.shared->tail);
    if (w->error && rp_ring_disconnect(&s->ring) != RP_OK)
        rp_bug(__FILE__, __LINE__, "no memory to go on unrecorded");
    pthread_mutex_unlock(&w->lock);
    return tail;
}

static void make_room(struct rp_ring *ring)
{
    struct rp_stream *s = ring->owner;
    struct rp_log_writer *w = s->writer;
    uint64_t tail = atomic_load_explicit(&ring->shared->tail, memory_order_acquire);

    if (w->error || ring->head - tail >= RP_RING_CAPACITY) {
        rp_ring_publish(ring); /* inside a call, for want of room alone: a half-full ring waits for
                                  the call's end */
        tail = drain_full_ring(w, s);
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
    struct rp_stream *s = calloc(1, sizeof *s);
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
        rp_log_put_chunk(w, &chunk, records);
        rp_log_write_output(w);
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
    rp_log_put_chunk(w, &end, &w->payload);
    uint64_t index_offset = w->length + w->output.length;
    index.items = w->chunk_count;
    rp_buffer_clear(&w->payload);
    rp_buffer_put(&w->payload, w->index.bytes, w->index.length);
    rp_log_put_chunk(w, &index, &w->payload);
    rp_buffer_u64(&w->output, index_offset);
    rp_buffer_put(&w->output, rp_index_magic, sizeof rp_index_magic);
    rp_log_write_output(w);
}

enum rp_status rp_log_close(struct rp_log_writer *w, enum rp_end_reason reason, int64_t code,
                            struct rp_problem *why)
{
    enum rp_status status = RP_OK;

    stop_encoder(w);
    rp_log_drain(w);
    bool ends = reason != RP_END_KILLED && reason != RP_END_STOPPED;
    if (ends)
        rp_log_finish_rows(w);
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
