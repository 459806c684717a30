/* SPDX-License-Identifier: MIT */
/*
 * Rows to tables: a stable distribution by site, in two passes over the rows. The first pass
 * numbers the sites and counts their rows. The second fills the tables, and joins polls that
 * completed nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "cdc/codec/numbering.h"
#include "cdc/codec/rows.h"

/* How many rows back a poll of the same thread is searched for: a group has no more kinds. */
enum { LOOK_BACK = RP_OPEN_RUNS };

static struct rp_row_table *find_table(struct rp_numbering *sites, struct rp_row_tables *out,
                                       uint32_t site)
{
    uint32_t number = rp_numbering_of(sites, site);

    if (number == out->table_count)
        out->tables[out->table_count++].site = site;
    return &out->tables[number];
}

static void place_tables(struct rp_row_tables *out)
{
    struct rp_row *at = out->rows;

    for (size_t i = 0; i < out->table_count; i++) {
        out->tables[i].rows = at;
        at += out->tables[i].count;
        out->tables[i].count = 0;
    }
}

/* Adds the polls to those of the same thread since the last entry. Returns false if there are none.
 */
static bool join_polls(struct rp_row_table *table, const struct rp_row *row)
{
    for (size_t back = 1; back <= LOOK_BACK && back <= table->count; back++) {
        struct rp_row *before = &table->rows[table->count - back];
        if (before->kind != RP_ROW_UNMATCHED)
            return false;
        if (before->thread == row->thread && before->count <= UINT64_MAX - row->count) {
            before->count += row->count;
            return true;
        }
    }
    return false;
}

static void fill(struct rp_numbering *sites, const struct rp_row *rows, size_t count,
                 struct rp_row_tables *out)
{
    uint64_t entries = 0;

    for (size_t i = 0; i < count; i++) {
        struct rp_row_table *table = find_table(sites, out, rows[i].site);
        if (rows[i].kind == RP_ROW_UNMATCHED && join_polls(table, &rows[i]))
            continue;
        struct rp_row *row = &table->rows[table->count++];
        *row = rows[i];
        row->order = rp_row_has_order(row) ? entries : 0;
        entries += row->kind != RP_ROW_UNMATCHED;
        out->row_count++;
    }
}

enum rp_status rp_row_tables_by_site(const struct rp_row *rows, size_t count,
                                     struct rp_row_tables *out)
{
    struct rp_row_tables made = {0};
    struct rp_numbering sites = {0};

    made.tables = calloc(count + 1, sizeof *made.tables);
    made.rows = calloc(count + 1, sizeof *made.rows);
    if (!made.tables || !made.rows || !rp_numbering_init(&sites, count)) {
        rp_row_tables_free(&made);
        return RP_MEMORY;
    }
    for (size_t i = 0; i < count; i++)
        find_table(&sites, &made, rows[i].site)->count++;
    place_tables(&made);
    fill(&sites, rows, count, &made);
    rp_numbering_free(&sites);
    *out = made;
    return RP_OK;
}

/* Returns whether a table begins at row `at`. Rows of one call stay together: a table begins with
 * the first row of its call. */
static bool begins_table(const struct rp_row *rows, size_t count, size_t at)
{
    if (at == 0 || rows[at - 1].with_next)
        return at == 0;
    while (at < count && rows[at].kind != RP_ROW_UNMATCHED && rows[at].with_next && !rows[at].order)
        at++;
    return at < count && rows[at].kind == RP_ROW_MESSAGE && rows[at].order;
}

static void add_row(struct rp_row_tables *made, const struct rp_row *row)
{
    struct rp_row_table *table = &made->tables[made->table_count - 1];

    if (row->kind == RP_ROW_UNMATCHED && join_polls(table, row))
        return;
    struct rp_row *added = &table->rows[table->count++];
    *added = *row;
    added->site = 0;
    added->order = 0;
    made->row_count++;
}

enum rp_status rp_row_tables_by_time(const struct rp_row *rows, size_t count,
                                     struct rp_row_tables *out)
{
    struct rp_row_tables made = {0};

    made.tables = calloc(count + 1, sizeof *made.tables);
    made.rows = calloc(count + 1, sizeof *made.rows);
    if (!made.tables || !made.rows) {
        rp_row_tables_free(&made);
        return RP_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        if (begins_table(rows, count, i))
            made.tables[made.table_count++].rows = made.rows + made.row_count;
        add_row(&made, &rows[i]);
    }
    *out = made;
    return RP_OK;
}

void rp_row_tables_free(struct rp_row_tables *tables)
{
    free(tables->tables);
    free(tables->rows);
    memset(tables, 0, sizeof *tables);
}

void rp_row_coder_free(struct rp_row_coder *coder)
{
    rp_buffer_free(&coder->scratch);
    rp_buffer_free(&coder->past);
}
