/* SPDX-License-Identifier: MIT */
/* Rows for the tests of codecs that work on tables: the example of Clock Delta Compression (figure
 * 4), and random ones. */
#ifndef ROWSAMPLE_H
#define ROWSAMPLE_H

#include "cdc/codec/rows.h"
#include "unit.h"

#define ROW_MESSAGE(at, next, from, when)                                                          \
    {                                                                                              \
        .kind = RP_ROW_MESSAGE, .site = at, .count = 1, .clock = when, .rank = from, .index = -1,  \
        .with_next = next                                                                          \
    }
#define ROW_UNMATCHED(at, times)                                                                   \
    {                                                                                              \
        .kind = RP_ROW_UNMATCHED, .site = at, .count = times                                       \
    }

/* Figure 4 */
static const struct rp_row row_paper[] = {
    ROW_MESSAGE(5, 0, 0, 2),  ROW_UNMATCHED(5, 2),      ROW_MESSAGE(5, 1, 0, 13),
    ROW_MESSAGE(5, 0, 2, 8),  ROW_MESSAGE(5, 0, 1, 8),  ROW_MESSAGE(5, 0, 0, 15),
    ROW_MESSAGE(5, 0, 1, 19), ROW_UNMATCHED(5, 3),      ROW_MESSAGE(5, 0, 0, 17),
    ROW_UNMATCHED(5, 1),      ROW_MESSAGE(5, 0, 0, 18),
};

enum { ROW_PAPER = sizeof row_paper / sizeof *row_paper };

/* An event that an OTHER row may carry. */
__attribute__((unused)) static struct rp_event row_random_event(uint64_t *seed)
{
    struct rp_event e;

    do {
        e = (struct rp_event)RP_EVENT(1 + (uint32_t)unit_below(seed, RP_EVENT_KINDS - 1), 0, 0,
                                      (uint32_t)unit_edge(seed), (int32_t)unit_edge(seed),
                                      (int32_t)unit_edge(seed), unit_edge(seed));
        if (unit_below(seed, 2))
            e.any.a = (int32_t)unit_below(seed, 5), e.any.b = (int32_t)unit_below(seed, 5) - 1;
    } while (!rp_row_may_carry(&e));
    return e;
}

struct row_style {
    uint32_t sites, ranks, threads;
    uint32_t disorder; /* of clocks */
    uint32_t others;   /* of 16 entries */
    bool wild;         /* any numbers */
};

__attribute__((unused)) static struct row_style row_random_style(uint64_t *seed)
{
    return (struct row_style){1 + (uint32_t)unit_below(seed, 4),
                              1 + (uint32_t)unit_below(seed, 20),
                              (uint32_t)unit_below(seed, 3),
                              (uint32_t)unit_below(seed, 30),
                              (uint32_t)unit_below(seed, 3) ? 0 : (uint32_t)unit_below(seed, 17),
                              unit_below(seed, 10) == 0};
}

static struct rp_row row_random(uint64_t *seed, const struct row_style *style, uint64_t time,
                                uint32_t site)
{
    struct rp_row row = {.site = site, .count = 1};

    if (unit_below(seed, 5) == 0) {
        row.kind = RP_ROW_UNMATCHED;
        row.count = style->wild ? unit_edge(seed) | 1 : 1 + unit_below(seed, 100);
        row.thread = style->threads ? (int32_t)unit_below(seed, style->threads + 1) : 0;
    } else if (unit_below(seed, 16) < style->others) {
        row.kind = RP_ROW_OTHER;
        row.other = row_random_event(seed);
    } else {
        row.kind = RP_ROW_MESSAGE;
        row.rank = style->wild ? (int32_t)(unit_edge(seed) & INT32_MAX)
                               : (int32_t)unit_below(seed, style->ranks);
        row.clock = style->wild ? unit_edge(seed) : time + unit_below(seed, style->disorder + 1);
        row.index = style->wild            ? (int32_t)(unit_edge(seed) & INT32_MAX) - 1
                    : unit_below(seed, 10) ? row.rank
                                           : (int32_t)unit_below(seed, 40) - 1;
    }
    return row;
}

/* So many rows or some more: calls of one or several entries, each at one site. */
__attribute__((unused)) static size_t row_random_rows(uint64_t *seed, const struct row_style *style,
                                                      struct rp_row *rows, size_t count)
{
    size_t made = 0;

    while (made < count) {
        uint32_t site =
            style->wild ? (uint32_t)unit_edge(seed) : (uint32_t)unit_below(seed, style->sites);
        size_t entries = unit_below(seed, 4) ? 1 : 1 + unit_below(seed, 5);
        for (size_t i = 0; i < entries; i++) {
            rows[made] = row_random(seed, style, made, site);
            if (i > 0 &&
                rows[made].kind == RP_ROW_UNMATCHED) /* a call has answered when it polls again */
                break;
            made++;
            if (rows[made - 1].kind == RP_ROW_UNMATCHED)
                break;
            if (i > 0)
                rows[made - 2].with_next = 1;
        }
    }
    return made;
}

__attribute__((unused)) static bool row_tables_same(const struct rp_row_tables *one,
                                                    const struct rp_row_tables *other)
{
    bool same = one->table_count == other->table_count && one->row_count == other->row_count;

    for (size_t i = 0; same && i < one->table_count; i++) {
        const struct rp_row_table *a = &one->tables[i], *b = &other->tables[i];
        same = a->site == b->site && a->count == b->count &&
               memcmp(a->rows, b->rows, a->count * sizeof *a->rows) == 0;
    }
    return same;
}

#endif
