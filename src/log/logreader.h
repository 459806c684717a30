/* SPDX-License-Identifier: MIT */
/* Reads the log of one rank. The log may be whole, cut off, or that of a process that died. Damaged
 * or hostile bytes give an error that says where. */
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
    uint64_t events;           /* as END says; after a killed process, how many were found */
    uint64_t receives, digest; /* as END says; 0 after a killed process */
};

/* Opens `rank-NNNNN.log` of the record `directory` and the ring beside it. `run` and `ranks` are
 * those of the manifest. rp_log_free frees *out. */
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

/* Reads and checks the payload of chunk `index`. *payload is valid until the next call. */
enum rp_status rp_log_payload(struct rp_log *log, size_t index, const struct rp_buffer **payload,
                              struct rp_problem *why);

/* Decodes the next block of events, in order: one block for each EVENTS chunk, then one of what
 * only the ring held. `events` must have room for RP_CHUNK_EVENTS_LIMIT; *count is 0 at the end.
 * rp_log_rewind begins again with the first block. */
enum rp_status rp_log_next_block(struct rp_log *log, struct rp_event *events, size_t *count,
                                 struct rp_problem *why);
void rp_log_rewind(struct rp_log *log);

/* rp_log_is_timed returns whether events have times (docs/format.md, section 9). rp_log_block_times
 * returns the times of the block that was decoded last, in microseconds since 1970. */
bool rp_log_is_timed(const struct rp_log *log);
const uint64_t *rp_log_block_times(const struct rp_log *log);

/*
 * rp_log_has_rows returns whether the log holds rows instead of events (docs/format.md, section 3).
 * rp_log_next_rows then reads the next block of rows: one for each ROWS chunk, and one of what only
 * the ring held. The caller frees *out by rp_row_chunk_free; *found is false at the end.
 */
bool rp_log_has_rows(const struct rp_log *log);
enum rp_status rp_log_next_rows(struct rp_log *log, struct rp_row_chunk *out, bool *found,
                                struct rp_problem *why);

/* Sets *out to the *count late matches, sorted by post, each post once. The caller frees *out. */
enum rp_status rp_log_late(struct rp_log *log, struct rp_late **out, size_t *count,
                           struct rp_problem *why);

/* The sums over the events of a log. In a log of rows, receives are messages, and the digest is the
 * one in its END chunk. */
struct rp_log_sum {
    uint64_t events, receives, polls, digest;
};

/* rp_log_sum_add adds `count` events to *sum, which begins as {.digest = RP_DIGEST_START}; events
 * are added in order. rp_log_sum_check returns RP_DAMAGED if the log has ended and its END chunk
 * says other sums. */
void rp_log_sum_add(struct rp_log_sum *sum, const struct rp_event *events, size_t count);
enum rp_status rp_log_sum_check(const struct rp_log *log, const struct rp_log_sum *sum,
                                struct rp_problem *why);

/* Reads and checks the whole log. *sum is the sum of the events that were found. */
enum rp_status rp_log_verify(struct rp_log *log, struct rp_log_sum *sum, struct rp_problem *why);

/* Checks that a log that was closed has its index. A log without it can be read, but more slowly.
 */
enum rp_status rp_log_verify_index(const struct rp_log *log, struct rp_problem *why);

#endif
