/* SPDX-License-Identifier: MIT */
/*
 * Codec `cdc`: clock delta compression, whole: redundancy elimination, permutation encoding, linear
 * predictive encoding, epoch lines, a table for each matching function, zlib. docs/format.md,
 * section 3.
 *
 * A payload does not hold the messages' ranks and clocks: it says in which order the messages of a
 * table were observed, compared with the order of their clocks. Whoever replays brings the
 * messages.
 */
#ifndef RP_CDC_H
#define RP_CDC_H

#include "cdc/codec/reference_order.h"
#include "cdc/codec/rows.h"

/* Appends the payload to `out`. `sizes` may be NULL; the length before zlib is sizes->before.
 * `coder->past` is remembered for the stream's next chunk. */
enum rp_status rp_cdc_encode(struct rp_row_coder *coder, const struct rp_row_tables *tables,
                             struct rp_buffer *out, struct rp_row_sizes *sizes);

/* Polls that answered no before an entry, or behind the last one. */
struct rp_cdc_unmatched {
    uint32_t entry; /* up to `entry_count` */
    int32_t thread;
    uint64_t count;
};

struct rp_cdc_other {
    uint32_t entry;
    struct rp_event event; /* without site and posts */
    uint64_t order;        /* of THREAD and TURN: struct rp_row */
};

/* The index of a request that is not as foretold (indices.h). */
struct rp_cdc_index {
    uint32_t message;
    int32_t index;
};

/* A point on the epoch line: the largest clock of a rank's messages; or a message. */
struct rp_cdc_clock {
    int32_t rank;
    uint64_t clock;
};

/*
 * What one call site answered, within a chunk. Its answers are numbered as entries, messages and
 * others together; its messages alone as messages, both in the order in which they were observed.
 */
struct rp_cdc_table {
    uint32_t site;
    uint32_t entry_count, message_count;
    uint32_t *order;    /* by message: its place in the reference order of the table's messages */
    uint8_t *with_next; /* by entry: 1 if the next entry belongs to the same call */
    struct rp_cdc_unmatched *unmatched; /* by entry */
    size_t unmatched_count;
    struct rp_cdc_other *others; /* by entry: all other entries are messages */
    size_t other_count;
    struct rp_cdc_index *indices; /* by message */
    size_t index_count;
    struct rp_cdc_clock *epoch; /* by rank: a message of a later chunk has a larger clock, unless it
                                   is in that chunk's `late` */
    size_t epoch_count;
    struct rp_cdc_clock
        *late; /* messages of this table that are not above all epoch lines of the site before */
    size_t late_count;
};

struct rp_cdc_chunk {
    struct rp_cdc_table *tables;
    size_t table_count;
};

/* At most `most` rows, messages included. Hostile bytes are RP_DAMAGED; what is allocated is
 * bounded by `most` and by `length` (zlib's best is 1:1,032). */
enum rp_status rp_cdc_decode(const uint8_t *bytes, size_t length, size_t raw, size_t most,
                             struct rp_buffer *scratch, struct rp_cdc_chunk *out,
                             struct rp_problem *why);
void rp_cdc_chunk_free(struct rp_cdc_chunk *chunk);

/* How many rows a table has. */
static inline size_t rp_cdc_row_count(const struct rp_cdc_table *table)
{
    return table->entry_count + table->unmatched_count;
}

/*
 * The rows, given the messages of the table, in any order. RP_DIVERGED if these are not as many as
 * the table has, or do not end at its epoch line. Of equal messages (same rank, same clock) the one
 * that was given first is the one that was observed first.
 */
enum rp_status rp_cdc_restore(const struct rp_cdc_table *table,
                              const struct rp_row_message *messages, size_t count,
                              struct rp_row *rows, struct rp_problem *why);

#endif
