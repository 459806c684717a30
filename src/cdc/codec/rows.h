/* SPDX-License-Identifier: MIT */
/*
 * The record table of the clock delta compression paper (its figure 4): what the codecs raw, gzip
 * and cdc work on.
 *
 * A row tells one thing that a matching function (a call site) answered. Message rows identify a
 * message by the sender's rank in MPI_COMM_WORLD and the Lamport clock that it carried; what the
 * paper's table cannot tell (probes, completed sends, cancels) stands in rows that carry an event
 * of ours. MESSAGE and OTHER rows are called entries.
 */
#ifndef RP_ROWS_H
#define RP_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"
#include "event/event.h"

enum rp_row_kind {
    RP_ROW_UNMATCHED = 1, /* `count` polls that answered no */
    RP_ROW_MESSAGE = 2,   /* a message was received: rank, clock; index of its request in the call's
                             array, -1 where there is none */
    RP_ROW_OTHER = 3,     /* anything else: `other`, whose site and posts are not kept */
};

struct rp_row {
    uint32_t kind;
    uint32_t site;
    uint64_t count; /* UNMATCHED, else 1 */
    uint64_t clock;
    int32_t rank;
    int32_t index;
    int32_t thread;     /* UNMATCHED: who polled */
    uint32_t with_next; /* the next entry of this site belongs to the same call */
    uint64_t order; /* OTHER that is a THREAD or TURN, in a table: entries of all sites since the
                     * tables begin that stand before it; MESSAGE, in no
                     * table: 1 if the program began a nonblocking collective call since the message
                     * before */
    struct rp_event other;
};

_Static_assert(sizeof(struct rp_row) == 80, "rows have no padding: they may be compared as bytes");

/* Whether `order` counts. */
static inline bool rp_row_has_order(const struct rp_row *row)
{
    return row->kind == RP_ROW_OTHER &&
           (row->other.kind == RP_THREAD || row->other.kind == RP_TURN);
}

/* Whether an OTHER row can have been made of it. */
static inline bool rp_row_may_carry(const struct rp_event *event)
{
    return rp_event_is_valid(event) && event->kind != RP_NO && event->kind != RP_CLOCK;
}

/* Events -> rows */

struct rp_rows {
    struct rp_buffer rows; /* of struct rp_row, in the order of time */
    struct rp_buffer
        call; /* events of the call whose end has not been seen: kept from chunk to chunk */
};

/*
 * Appends the rows of all calls that end within these events; the last events are kept if their
 * call may go on. Events may be given in pieces of any
 * length: the rows are the same. RP_MEMORY is final.
 */
enum rp_status rp_rows_add(struct rp_rows *rows, const struct rp_event *events, size_t count);

/* The stream has ended: a call that is whole gives its rows, one that was cut off does not
 * count. */
enum rp_status rp_rows_finish(struct rp_rows *rows);

/* How many of the events that were given last are not in rows yet: a writer must not forget them
 * before they are. */
size_t rp_rows_pending(const struct rp_rows *rows);

size_t rp_rows_count(const struct rp_rows *rows);
const struct rp_row *rp_rows_of(const struct rp_rows *rows);

/* Drops the rows; the events of the unfinished call stay. */
void rp_rows_clear(struct rp_rows *rows);
void rp_rows_free(struct rp_rows *rows);

/* Rows -> tables, one for each call site (the paper's section 4.4) */

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
 * UNMATCHED rows of one thread between two entries of a site become one: the paper counts polls
 * until the next message. `order` is set. A caller who wants several sites to share a table gives
 * their rows the same number as `site`.
 */
enum rp_status rp_row_tables_split(const struct rp_row *rows, size_t count,
                                   struct rp_row_tables *out);

/*
 * The same, but for all sites together: one table after the other, each of site 0, and each of
 * which ends where the program began a nonblocking collective call between two messages. With these
 * the tables of a replay can be told apart, and none needs a message that is sent only after it
 * (docs/format.md, codec cdc).
 */
enum rp_status rp_row_tables_cut(const struct rp_row *rows, size_t count,
                                 struct rp_row_tables *out);
void rp_row_tables_free(struct rp_row_tables *tables);

/* What every encoder of tables tells about its output. */
enum rp_row_part {
    RP_PART_FRAME,     /* numbers of tables and of their rows, sites */
    RP_PART_MATCHED,   /* messages: of raw and gzip all rows of figure 4; of cdc the permutation */
    RP_PART_WITH_NEXT, /* this and the next two: cdc alone */
    RP_PART_UNMATCHED,
    RP_PART_EPOCH,
    RP_PART_LATE, /* not in the paper, as all that follow: messages below an epoch line of before */
    RP_PART_OTHERS, /* OTHER rows, threads of UNMATCHED rows */
    RP_PART_INDEX,  /* indices of requests */
    RP_PARTS
};

struct rp_row_sizes {
    uint64_t rows, messages;
    uint64_t items[RP_PARTS]; /* rows of each part */
    uint64_t bytes[RP_PARTS]; /* before general-purpose compression */
    uint64_t before, after;   /* sum of `bytes`; what was appended to the output */
};

/* What was appended to `out` since `at` belongs to this part. */
static inline void rp_row_sizes_add(struct rp_row_sizes *sizes, enum rp_row_part part, size_t items,
                                    const struct rp_buffer *out, size_t *at)
{
    sizes->items[part] += items;
    sizes->bytes[part] += out->length - *at;
    *at = out->length;
}

/* What encoders keep from chunk to chunk of one stream: memory, and what cdc must remember. Begins
 * as zeros. */
struct rp_row_coder {
    struct rp_buffer scratch;
    struct rp_buffer past; /* epoch lines so far: cdc.c */
};

void rp_row_coder_free(struct rp_row_coder *coder);

#endif
