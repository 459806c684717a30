/* SPDX-License-Identifier: MIT */
/* Writes the log of one rank: each stream has a ring, and an encoder thread drains the rings into
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

/* Makes `rank-NNNNN.log` in the directory, and starts the encoder. rp_log_close frees *out. */
enum rp_status rp_log_create(const char *directory, uint64_t run, uint32_t rank, uint32_t ranks,
                             const struct rp_log_manner *manner, struct rp_log_writer **out,
                             struct rp_problem *why);

/* Makes the ring of a new stream. *out belongs to the writer. */
enum rp_status rp_log_stream(struct rp_log_writer *writer, uint32_t stream, struct rp_ring **out,
                             struct rp_problem *why);

/* Appends a SITES chunk of `count` sites, the first of which has the number `first`. */
void rp_log_sites(struct rp_log_writer *writer, const struct rp_buffer *records, uint32_t first,
                  uint32_t count);

/* Writes what is left, END and INDEX, removes the rings and frees the writer. The producer must
 * have pushed its open run of polls. RP_END_KILLED and RP_END_STOPPED are not written: they leave
 * the log without an end, and the ring in place. Returns RP_SYSTEM if recording had stopped early.
 */
enum rp_status rp_log_close(struct rp_log_writer *writer, enum rp_end_reason reason, int64_t code,
                            struct rp_problem *why);

/* What was written so far. To be read before rp_log_close, which frees the writer. */
struct rp_log_totals {
    uint64_t events, receives, bytes;
};
void rp_log_drain(struct rp_log_writer *writer);
struct rp_log_totals rp_log_totals(const struct rp_log_writer *writer);

/* Returns the errno that ended the recording early; 0 if nothing did. */
int rp_log_error(const struct rp_log_writer *writer);

/* Return the paths `directory/rank-NNNNN.log` and `directory/rank-NNNNN.S.ring`, which the caller
 * frees. */
char *rp_log_path(const char *directory, uint32_t rank);
char *rp_ring_path(const char *directory, uint32_t rank, uint32_t stream);

#endif
