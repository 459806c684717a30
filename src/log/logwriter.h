/* SPDX-License-Identifier: MIT */
/* Writing the log of one rank: a ring for each stream, an encoder thread that drains them into
 * chunks. */
#ifndef RP_LOGWRITER_H
#define RP_LOGWRITER_H

#include <stdint.h>

#include "base/status.h"
#include "codec/codec.h"
#include "cdc/codec/row_codec.h"
#include "event/ring.h"
#include "log/format.h"

struct rp_log_writer;

/* How a log is written. */
struct rp_log_manner {
    bool timed; /* events have times, which the producer puts into the ring; not with rows */
    const struct rp_codec *codec;
    bool is_inline;                  /* no encoder thread: a full ring is encoded by the producer */
    const struct rp_row_codec *rows; /* not NULL: the log is to hold rows instead of events */
    /* Not NULL: takes over while `codec` has had more than its share of the processor, in
     * thousandths of what the process has. */
    const struct rp_codec *cheap;
    unsigned share;
};

/* Makes `rank-NNNNN.log` in the directory, and starts the encoder. */
enum rp_status rp_log_create(const char *directory, uint64_t run, uint32_t rank, uint32_t ranks,
                             const struct rp_log_manner *manner, struct rp_log_writer **out,
                             struct rp_problem *why);

/* The ring of a new stream; belongs to the writer. */
enum rp_status rp_log_stream(struct rp_log_writer *writer, uint32_t stream, struct rp_ring **out,
                             struct rp_problem *why);

/* Appends a SITES chunk of so many sites. */
void rp_log_sites(struct rp_log_writer *writer, const struct rp_buffer *records, uint32_t first,
                  uint32_t count);

/* Writes everything, END and INDEX, removes the rings and frees the writer. The open run must have
 * been pushed. With RP_END_KILLED and RP_END_STOPPED, which are not written, the log is left
 * without an end, and the ring stays. */
enum rp_status rp_log_close(struct rp_log_writer *writer, enum rp_end_reason reason, int64_t code,
                            struct rp_problem *why);

/* What was written so far. Ask before closing. */
struct rp_log_totals {
    uint64_t events, receives, bytes;
};
void rp_log_drain(struct rp_log_writer *writer);
struct rp_log_totals rp_log_totals(const struct rp_log_writer *writer);

/* 0, or the errno that ended the recording early. */
int rp_log_error(const struct rp_log_writer *writer);

/* `directory/rank-NNNNN.log` and `directory/rank-NNNNN.S.ring`, to be freed. */
char *rp_log_path(const char *directory, uint32_t rank);
char *rp_ring_path(const char *directory, uint32_t rank, uint32_t stream);

#endif
