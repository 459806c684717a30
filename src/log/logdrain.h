/* SPDX-License-Identifier: MIT */
/*
 * Inside the writer of logs (log/logwriter.h): events go from the rings into chunks of the file.
 * All of it is called with the writer's lock held. When a write fails, recording stops, and
 * writer->error is the errno.
 */
#ifndef RP_LOGDRAIN_H
#define RP_LOGDRAIN_H

#include <pthread.h>

#include "base/reopen_file.h"
#include "log/logwriter.h"

struct rp_stream {
    struct rp_ring ring;
    struct rp_log_writer *writer;
    uint32_t id;
    uint64_t events;         /* in chunks */
    uint64_t receives;       /* that these record */
    uint64_t posts;          /* made up to the last event that was drained */
    uint64_t previous_posts; /* made up to the first event of the last chunk that counts posts */
    bool only_polls;         /* the last chunk had no other events */
    uint64_t digest;
    uint64_t taken;  /* a log of rows: events that were passed to `rows` */
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
    struct rp_stream *streams;
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

/* Writes all events that are in the stream's ring, and moves the ring's tail behind them. */
void rp_stream_drain(struct rp_log_writer *w, struct rp_stream *s);

/* Of a log of rows whose stream has ended: writes the rows that are left. A call that was cut off
 * counts among the events, too, though it has no rows. */
void rp_log_finish_rows(struct rp_log_writer *w);

/* Appends a chunk to w->output, and to the index. */
void rp_log_put_chunk(struct rp_log_writer *w, struct rp_chunk *chunk,
                      const struct rp_buffer *payload);

/* Writes w->output behind what the file has, and empties it. Returns false if recording stopped. */
bool rp_log_write_output(struct rp_log_writer *w);

#endif
