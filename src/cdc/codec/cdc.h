/* SPDX-License-Identifier: MIT */
/*
 * Codec `cdc`: the whole of Clock Delta Compression: redundancy elimination, permutation encoding,
 * linear predictive encoding, epoch lines, zlib. It encodes each table that it gets. Unlike the
 * paper (4.4), a record has one for all matching functions (call sites): rows.h says why.
 * docs/format.md, section 3.
 *
 * A payload does not hold the ranks and clocks of the messages. It says in which order the messages
 * of a table were observed, compared with the order of their clocks. The replay supplies the
 * messages.
 */
#ifndef RP_CDC_H
#define RP_CDC_H

#include "cdc/codec/reference_order.h"
#include "cdc/codec/rows.h"

/* Appends the payload of `tables` to `out`. `sizes` may be NULL; it gets the sizes of the parts, in
 * `before` without zlib. `coder->past` keeps what the stream's next chunk needs. */
enum rp_status rp_cdc_encode(struct rp_row_coder *coder, const struct rp_row_tables *tables,
                             struct rp_buffer *out, struct rp_row_sizes *sizes);

/* Polls that completed nothing, before an entry or behind the last one. */
struct rp_cdc_unmatched {
    uint32_t entry; /* up to `entry_count` */
    int32_t thread;
    uint64_t count;
};

struct rp_cdc_other {
    uint32_t entry;
    struct rp_event event; /* its site and posts are not stored */
    uint64_t order;        /* for THREAD and TURN: see struct rp_row */
};

/* The index of a request where the guess (indices.h) is wrong. */
struct rp_cdc_index {
    uint32_t message;
    int32_t index;
};

/* A message; or a point of the epoch line: the largest clock of the messages of a rank. */
struct rp_cdc_clock {
    int32_t rank;
    uint64_t clock;
};

/*
 * A record table within a chunk, of all call sites together: only tests have one for each, as the
 * codecs raw and gzip do. Its entries are messages and others, numbered together; its messages are
 * also numbered alone, both in the order in which they were observed.
 */
struct rp_cdc_table {
    uint32_t site;
    uint32_t entry_count, message_count;
    uint32_t
        *order; /* by message: its position in the reference order of the messages of the table */
    uint8_t *with_next;                 /* by entry: 1 if the next entry belongs to the same call */
    struct rp_cdc_unmatched *unmatched; /* by entry */
    size_t unmatched_count;
    struct rp_cdc_other *others; /* by entry; entries that are not listed are messages */
    size_t other_count;
    struct rp_cdc_index *indices; /* by message */
    size_t index_count;
    struct rp_cdc_clock *epoch; /* by rank: a message of a later table has a larger clock, unless it
                                   is in that table's `late` */
    size_t epoch_count;
    struct rp_cdc_clock
        *late; /* messages of this table that are not above all epoch lines of the site before */
    size_t late_count;
};

struct rp_cdc_chunk {
    struct rp_cdc_table *tables;
    size_t table_count;
};

/* Decodes a payload of at most `most` rows, messages included. RP_DAMAGED: the bytes are not valid.
 * Allocations are bounded by `most` and by `length` (zlib's best ratio is 1:1,032). */
enum rp_status rp_cdc_decode(const uint8_t *bytes, size_t length, size_t raw, size_t most,
                             struct rp_buffer *scratch, struct rp_cdc_chunk *out,
                             struct rp_problem *why);
void rp_cdc_chunk_free(struct rp_cdc_chunk *chunk);

/* Returns how many rows a table has. */
static inline size_t rp_cdc_row_count(const struct rp_cdc_table *table)
{
    return table->entry_count + table->unmatched_count;
}

/*
 * Sets the rows of a table from its messages, which may be in any order. RP_DIVERGED: there are
 * more or fewer messages than the table has, or they do not end at its epoch line. Of equal
 * messages (same rank, same clock), the one that is earlier in the array was observed earlier.
 */
enum rp_status rp_cdc_restore(const struct rp_cdc_table *table,
                              const struct rp_row_message *messages, size_t count,
                              struct rp_row *rows, struct rp_problem *why);

#endif
