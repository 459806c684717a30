/* SPDX-License-Identifier: MIT */
/* Reading the log of one rank: whole, cut off, or of a process that died. Damaged or hostile bytes
 * give an error that says where. */
#ifndef RP_LOGREADER_H
#define RP_LOGREADER_H

#include <stdint.h>

#include "base/status.h"
#include "codec/codec.h"
#include "cdc/codec/row_codec.h"
#include "event/site.h"
#include "log/format.h"

struct rp_log;

struct rp_log_end {
    enum rp_end_reason reason;
    int64_t code;
    uint64_t events;           /* as END says; of a killed process, what was found */
    uint64_t receives, digest; /* as END says; 0 of a killed process */
};

/* Opens `rank-NNNNN.log` of a record and the ring beside it. `run` and `ranks` are those of the
 * manifest. */
enum rp_status rp_log_open(const char *directory, uint64_t run, uint32_t rank, uint32_t ranks,
                           struct rp_log **out, struct rp_problem *why);
void rp_log_free(struct rp_log *log);

uint64_t rp_log_event_count(const struct rp_log *log);
uint64_t rp_log_size(const struct rp_log *log); /* bytes on disk, of chunks */
struct rp_log_end rp_log_end(const struct rp_log *log);
const struct rp_site_table *rp_log_site_table(const struct rp_log *log);
const char *rp_log_name(const struct rp_log *log);

struct rp_log_id {
    uint64_t run;
    uint32_t rank, ranks;
};
struct rp_log_id rp_log_id(const struct rp_log *log);

/* The chunks in file order. */
size_t rp_log_chunk_count(const struct rp_log *log);
const struct rp_chunk *rp_log_chunk(const struct rp_log *log, size_t index);

/* The payload of one of them, checked; valid until the next call. */
enum rp_status rp_log_payload(struct rp_log *log, size_t index, const struct rp_buffer **payload,
                              struct rp_problem *why);

/* Blocks of events in order: one for each EVENTS chunk, then what only the ring held. Decodes into
 * `events`, which has room for RP_CHUNK_EVENTS_LIMIT, and sets `count`; 0 at the end. */
enum rp_status rp_log_next_block(struct rp_log *log, struct rp_event *events, size_t *count,
                                 struct rp_problem *why);
void rp_log_rewind(struct rp_log *log);

/* Whether events have times (docs/format.md, section 9); and those of the block that was given
 * last, in microseconds since 1970. */
bool rp_log_is_timed(const struct rp_log *log);
const uint64_t *rp_log_block_times(const struct rp_log *log);

/*
 * Whether it holds rows instead of events (docs/format.md, section 3). Then there are blocks of
 * rows: one for each ROWS chunk, and one of what only the ring held. `out` is to be freed
 * (rp_row_chunk_free); *found is false at the end.
 */
bool rp_log_has_rows(const struct rp_log *log);
enum rp_status rp_log_next_rows(struct rp_log *log, struct rp_row_chunk *out, bool *found,
                                struct rp_problem *why);

/* The late matches, sorted by post, each post once; to be freed. `count` may be 0. */
enum rp_status rp_log_late(struct rp_log *log, struct rp_late **out, size_t *count,
                           struct rp_problem *why);

/* What the events of a log add up to. Of a log of rows, receives are messages, and the digest is
 * the one that its end says. */
struct rp_log_sum {
    uint64_t events, receives, polls, digest;
};

/* Begins as {.digest = RP_DIGEST_START}; events are added in order. Of an ended log it is what its
 * end says, or the log is damaged. */
void rp_log_sum_add(struct rp_log_sum *sum, const struct rp_event *events, size_t count);
enum rp_status rp_log_sum_check(const struct rp_log *log, const struct rp_log_sum *sum,
                                struct rp_problem *why);

/* Reads everything, checks everything. `sum` is that of the events found. */
enum rp_status rp_log_verify(struct rp_log *log, struct rp_log_sum *sum, struct rp_problem *why);

/* A log that was closed has its index. Without it, everything can be read, though more slowly. */
enum rp_status rp_log_verify_index(const struct rp_log *log, struct rp_problem *why);

#endif
