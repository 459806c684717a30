/* SPDX-License-Identifier: MIT */
/*
 * The record table of the Clock Delta Compression paper (figure 4), which the codecs raw, gzip and
 * cdc work on.
 *
 * A row is one outcome of a matching function (a call site). MESSAGE rows identify a message by the
 * sender's rank in MPI_COMM_WORLD and the Lamport clock that it carried. Outcomes that the paper's
 * table cannot express (probes, completed sends, cancels) are OTHER rows, which carry an event of
 * ours. MESSAGE and OTHER rows are called entries.
 */
#ifndef RP_ROWS_H
#define RP_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"
#include "event/event.h"

enum rp_row_kind {
    RP_ROW_UNMATCHED = 1, /* `count` polls that completed nothing */
    RP_ROW_MESSAGE = 2, /* a message was received: rank, clock, and the index of its request in the
                           call's array, or -1 */
    RP_ROW_OTHER = 3,   /* anything else: `other`, whose site and posts are not kept */
};

struct rp_row {
    uint32_t kind;
    uint32_t site;
    uint64_t count; /* UNMATCHED, else 1 */
    uint64_t clock;
    int32_t rank;
    int32_t index;
    int32_t thread;     /* UNMATCHED: the thread that polled */
    uint32_t with_next; /* the next entry of this site belongs to the same call */
    uint64_t order; /* THREAD or TURN in a table: how many entries of all sites are before it since
                       the tables begin. MESSAGE outside of a table: 1 if the program began a
                       nonblocking collective call since the message before */
    struct rp_event other;
};

_Static_assert(sizeof(struct rp_row) == 80, "rows have no padding: they may be compared as bytes");

/* Returns whether `order` is used by an OTHER row. */
static inline bool rp_row_has_order(const struct rp_row *row)
{
    return row->kind == RP_ROW_OTHER &&
           (row->other.kind == RP_THREAD || row->other.kind == RP_TURN);
}

/* Returns whether an OTHER row can carry this event. */
static inline bool rp_row_may_carry(const struct rp_event *event)
{
    return rp_event_is_valid(event) && event->kind != RP_NO && event->kind != RP_CLOCK;
}

/* Events -> rows */

struct rp_rows {
    struct rp_buffer rows; /* struct rp_row, in the order of time */
    struct rp_buffer
        call; /* events of the call whose end was not seen yet; they stay from chunk to chunk */
};

/*
 * Appends the rows of all calls that end within these events. The last events are kept if their
 * call may continue. However the events are split over calls of this function, the rows are the
 * same. After RP_MEMORY, `rows` cannot be used any more.
 */
enum rp_status rp_rows_add(struct rp_rows *rows, const struct rp_event *events, size_t count);

/* Ends the stream: appends the rows of the last call if it is complete, else drops it. */
enum rp_status rp_rows_finish(struct rp_rows *rows);

/* Returns how many of the last events are not in rows yet. A writer must keep them until they are.
 */
size_t rp_rows_pending(const struct rp_rows *rows);

size_t rp_rows_count(const struct rp_rows *rows);
const struct rp_row *rp_rows_of(const struct rp_rows *rows);

/* Drops the rows. The events of the unfinished call stay. */
void rp_rows_clear(struct rp_rows *rows);
void rp_rows_free(struct rp_rows *rows);

/* Rows -> tables. Codecs raw and gzip have one for each call site (the paper's section 4.4); cdc
 * has one for all sites, since a message does not say at which site it will be received. */

struct rp_row_table {
    uint32_t site;
    size_t count;
    struct rp_row *rows; /* in the order of time */
};

struct rp_row_tables {
    struct rp_row_table *tables; /* in the order of their first rows */
    size_t table_count;
    struct rp_row *rows; /* of all tables */
    size_t row_count;
};

/*
 * Splits rows into one table for each site, and sets `order`. UNMATCHED rows of one thread between
 * two entries of a site are joined: the paper counts polls until the next message. To put several
 * sites into one table, give their rows the same `site`.
 */
enum rp_status rp_row_tables_by_site(const struct rp_row *rows, size_t count,
                                     struct rp_row_tables *out);

/*
 * Splits rows into consecutive tables of all sites together, each with site 0. A table ends where
 * the program began a nonblocking collective call between two messages. A replay can then finish
 * one table after the other: none needs a message that is sent only after it (docs/format.md, codec
 * cdc).
 */
enum rp_status rp_row_tables_by_time(const struct rp_row *rows, size_t count,
                                     struct rp_row_tables *out);
void rp_row_tables_free(struct rp_row_tables *tables);

/* The parts of an encoder's output, for statistics. */
enum rp_row_part {
    RP_PART_FRAME,     /* counts of tables and of their rows; sites */
    RP_PART_MATCHED,   /* messages: raw and gzip: all rows of figure 4; cdc: the permutation */
    RP_PART_WITH_NEXT, /* this and the next two: only cdc */
    RP_PART_UNMATCHED,
    RP_PART_EPOCH,
    RP_PART_LATE, /* this and all that follow are not in the paper: messages below an earlier epoch
                     line */
    RP_PART_OTHERS, /* OTHER rows, threads of UNMATCHED rows */
    RP_PART_INDEX,  /* indices of requests */
    RP_PARTS
};

struct rp_row_sizes {
    uint64_t rows, messages;
    uint64_t items[RP_PARTS]; /* rows of each part */
    uint64_t bytes[RP_PARTS]; /* before general-purpose compression */
    uint64_t before, after;   /* the sum of `bytes`; the bytes appended to the output */
};

/* Counts the bytes that were appended to `out` since *at, and `items` rows, for this part. Moves
 * *at to the end. */
static inline void rp_row_sizes_add(struct rp_row_sizes *sizes, enum rp_row_part part, size_t items,
                                    const struct rp_buffer *out, size_t *at)
{
    sizes->items[part] += items;
    sizes->bytes[part] += out->length - *at;
    *at = out->length;
}

/* What an encoder keeps from chunk to chunk of one stream: memory, and the epoch lines of cdc. All
 * zeros at the beginning. */
struct rp_row_coder {
    struct rp_buffer scratch;
    struct rp_buffer past; /* epoch lines so far: cdc.c */
};

void rp_row_coder_free(struct rp_row_coder *coder);

#endif
