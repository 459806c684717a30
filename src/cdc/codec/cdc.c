/* SPDX-License-Identifier: MIT */
/*
 * The encoder of Clock Delta Compression. A table of rows (figure 4) becomes four; redundancy
 * elimination (section 3.2) gives the first three:
 *
 *   matched-test    the permutation of the messages against their reference order (figure 7)
 *   with_next       entries that are followed by another of the same call
 *   unmatched-test  before which entry how many polls completed nothing
 *   epoch line      the largest clock of each sender (section 3.5)
 *
 * and, where the paper has nothing: the late messages, the OTHER rows, the indices that were not
 * guessed, and the threads of polls. Columns that rise use linear predictive encoding (section
 * 3.4). All tables together go through zlib.
 *
 * Late messages. The paper assumes that a message at or below the epoch line of a chunk belongs to
 * that chunk or to an earlier one. But a program may learn of a sender's messages out of order (the
 * paper's figure 3), and the chunk may end between two of them. Then the older one is below the
 * line, but in a later chunk. Such messages are listed, with rank and clock, in the chunk that has
 * them. `past` holds the epoch lines of all chunks so far: struct past_line, sorted by site and
 * rank.
 */
#include "cdc/codec/cdc.h"

#include <stdlib.h>

#include "cdc/codec/cdc_parts.h"
#include "cdc/codec/deflate.h"
#include "cdc/codec/indices.h"
#include "cdc/codec/linear_prediction.h"
#include "cdc/codec/permutation.h"

struct past_line {
    uint32_t site;
    int32_t rank;
    uint64_t clock;
};

/* One table while it is encoded. Its arrays have room for all its rows. */
struct work {
    const struct rp_row_table *table;
    struct rp_cdc_counts counts;
    struct rp_row_message
        *messages; /* in the reference order; `position` is the observed position */
    struct rp_row_message *spare;
    uint32_t *order;
    struct rp_move *moves;
    struct rp_cdc_clock *epoch, *late;
    struct rp_cdc_index *indices;
    struct rp_indices guess;
};

static void work_free(struct work *work)
{
    free(work->messages);
    free(work->spare);
    free(work->order);
    free(work->moves);
    free(work->epoch);
    free(work->late);
    free(work->indices);
    rp_indices_free(&work->guess);
}

static bool work_init(struct work *work, const struct rp_row_table *table)
{
    size_t messages = 0;

    *work = (struct work){.table = table};
    for (size_t i = 0; i < table->count; i++)
        messages += table->rows[i].kind == RP_ROW_MESSAGE;
    work->messages = malloc((messages + 1) * sizeof *work->messages);
    work->spare = malloc((messages + 1) * sizeof *work->spare);
    work->order = malloc((messages + 1) * sizeof *work->order);
    work->moves = malloc((messages + 1) * sizeof *work->moves);
    work->epoch = malloc((messages + 1) * sizeof *work->epoch);
    work->late = malloc((messages + 1) * sizeof *work->late);
    work->indices = malloc((messages + 1) * sizeof *work->indices);
    if (work->messages && work->spare && work->order && work->moves && work->epoch && work->late &&
        work->indices && rp_indices_init(&work->guess, messages))
        return true;
    work_free(work);
    return false;
}

/* What there is */

static void count_rows(struct work *work)
{
    struct rp_cdc_counts *counts = &work->counts;

    counts->of[RP_CDC_SITE] = work->table->site;
    for (size_t i = 0; i < work->table->count; i++) {
        const struct rp_row *row = &work->table->rows[i];
        counts->of[RP_CDC_ENTRIES] += row->kind != RP_ROW_UNMATCHED;
        counts->of[RP_CDC_OTHERS] += row->kind == RP_ROW_OTHER;
        counts->of[RP_CDC_WITH_NEXT] += row->with_next;
        counts->of[RP_CDC_UNMATCHED] += row->kind == RP_ROW_UNMATCHED;
        counts->of[RP_CDC_THREADS] += row->kind == RP_ROW_UNMATCHED && row->thread != 0;
    }
}

static void take_message(struct work *work, const struct rp_row *row, uint32_t number)
{
    uint32_t known = work->guess.ranks.count;

    work->messages[number] = (struct rp_row_message){row->clock, row->rank, number};
    if (rp_indices_guess(&work->guess, row->rank) != row->index)
        work->indices[work->counts.of[RP_CDC_INDICES]++] =
            (struct rp_cdc_index){number, row->index};
    rp_indices_tell(&work->guess, row->rank, row->index);
    uint32_t sender = rp_numbering_of(&work->guess.ranks, (uint32_t)row->rank);
    struct rp_cdc_clock *epoch = &work->epoch[sender];
    if (sender == known)
        *epoch = (struct rp_cdc_clock){row->rank, row->clock};
    else if (row->clock > epoch->clock)
        epoch->clock = row->clock;
}

static int by_rank(const void *one, const void *other)
{
    int32_t a = ((const struct rp_cdc_clock *)one)->rank,
            b = ((const struct rp_cdc_clock *)other)->rank;

    return a < b ? -1 : a > b;
}

static int by_site_and_rank(const void *one, const void *other)
{
    const struct past_line *a = one, *b = other;

    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static struct past_line *find_past(const struct rp_buffer *past, size_t known, uint32_t site,
                                   int32_t rank)
{
    struct past_line key = {site, rank, 0};
    size_t count = known / sizeof key;

    return count == 0 ? NULL : bsearch(&key, past->bytes, count, sizeof key, by_site_and_rank);
}

static void take_messages(struct work *work, const struct rp_buffer *past, size_t known)
{
    uint32_t number = 0;

    for (size_t i = 0; i < work->table->count; i++) {
        const struct rp_row *row = &work->table->rows[i];
        if (row->kind != RP_ROW_MESSAGE)
            continue;
        take_message(work, row, number++);
        const struct past_line *line = find_past(past, known, work->table->site, row->rank);
        if (line && row->clock <= line->clock)
            work->late[work->counts.of[RP_CDC_LATE]++] =
                (struct rp_cdc_clock){row->rank, row->clock};
    }
    work->counts.of[RP_CDC_EPOCH] = work->guess.ranks.count;
    qsort(work->epoch, work->guess.ranks.count, sizeof *work->epoch, by_rank);
}

static enum rp_status find_permutation(struct work *work)
{
    size_t count = work->counts.of[RP_CDC_ENTRIES] - work->counts.of[RP_CDC_OTHERS], moves = 0;

    rp_reference_sort(work->messages, work->spare, count);
    for (size_t i = 0; i < count; i++)
        work->order[work->messages[i].position] = (uint32_t)i;
    enum rp_status status = rp_permutation_encode(work->order, count, work->moves, &moves);
    work->counts.of[RP_CDC_MOVES] = moves;
    return status;
}

/* Writing. Each part is a few columns. */

static void put_matched_test(const struct work *work, struct rp_buffer *out)
{
    struct rp_linear linear = {0};
    size_t count = work->counts.of[RP_CDC_MOVES];

    for (size_t i = 0; i < count; i++)
        rp_buffer_svarint(out, rp_linear_encode(&linear, work->moves[i].index));
    for (size_t i = 0; i < count; i++)
        rp_buffer_svarint(out, work->moves[i].delay);
}

static void put_with_next(const struct work *work, struct rp_buffer *out)
{
    struct rp_linear linear = {0};
    uint64_t entry = 0;

    for (size_t i = 0; i < work->table->count; i++) {
        if (work->table->rows[i].with_next)
            rp_buffer_svarint(out, rp_linear_encode(&linear, entry));
        entry += work->table->rows[i].kind != RP_ROW_UNMATCHED;
    }
}

static void put_unmatched_test(const struct work *work, struct rp_buffer *out)
{
    struct rp_linear linear = {0};
    uint64_t entry = 0;

    for (size_t i = 0; i < work->table->count; i++) {
        if (work->table->rows[i].kind == RP_ROW_UNMATCHED)
            rp_buffer_svarint(out, rp_linear_encode(&linear, entry));
        else
            entry++;
    }
    for (size_t i = 0; i < work->table->count; i++)
        if (work->table->rows[i].kind == RP_ROW_UNMATCHED)
            rp_buffer_varint(out, work->table->rows[i].count);
}

static void put_clocks(const struct rp_cdc_clock *clocks, size_t count, struct rp_buffer *out)
{
    struct rp_linear linear = {0};
    uint64_t before = 0;

    for (size_t i = 0; i < count; i++)
        rp_buffer_svarint(out, rp_linear_encode(&linear, (uint64_t)clocks[i].rank));
    for (size_t i = 0; i < count; i++) {
        rp_buffer_svarint(out, (int64_t)(clocks[i].clock - before));
        before = clocks[i].clock;
    }
}

static void put_indices(const struct work *work, struct rp_buffer *out)
{
    struct rp_linear linear = {0};
    size_t count = work->counts.of[RP_CDC_INDICES];

    for (size_t i = 0; i < count; i++)
        rp_buffer_svarint(out, rp_linear_encode(&linear, work->indices[i].message));
    for (size_t i = 0; i < count; i++)
        rp_buffer_svarint(out, work->indices[i].index);
}

static void put_threads(const struct work *work, struct rp_buffer *out)
{
    struct rp_linear linear = {0};
    uint64_t number = 0;

    for (size_t i = 0; i < work->table->count; i++) {
        const struct rp_row *row = &work->table->rows[i];
        if (row->kind == RP_ROW_UNMATCHED && row->thread != 0)
            rp_buffer_svarint(out, rp_linear_encode(&linear, number));
        number += row->kind == RP_ROW_UNMATCHED;
    }
    for (size_t i = 0; i < work->table->count; i++)
        if (work->table->rows[i].kind == RP_ROW_UNMATCHED && work->table->rows[i].thread != 0)
            rp_buffer_varint(out, (uint64_t)work->table->rows[i].thread);
}

/* One column of the OTHER rows. */
static void put_other(enum rp_cdc_column column, const struct rp_row *row, uint64_t entry,
                      struct rp_cdc_state *state, struct rp_buffer *out)
{
    const struct rp_event *event = &row->other;

    switch (column) {
    case RP_CDC_COLUMN_ENTRY:
        rp_buffer_svarint(out, rp_linear_encode(&state->linear, entry));
        break;
    case RP_CDC_COLUMN_KIND:
        rp_buffer_byte(out, (uint8_t)event->kind);
        break;
    case RP_CDC_COLUMN_SCOPE:
        rp_buffer_varint(out, event->scope);
        break;
    case RP_CDC_COLUMN_A:
        rp_buffer_svarint(out, event->any.a);
        break;
    case RP_CDC_COLUMN_B:
        rp_buffer_svarint(out, event->any.b);
        break;
    case RP_CDC_COLUMN_C:
        if (!rp_event_has_post(event->kind)) {
            rp_buffer_varint(out, event->any.c);
            break;
        }
        rp_buffer_svarint(out, (int64_t)(event->any.c - state->expected));
        state->expected = event->any.c + 1;
        break;
    default:
        if (rp_row_has_order(row))
            rp_buffer_svarint(out, rp_linear_encode(&state->linear, row->order));
    }
}

static void put_others(const struct work *work, struct rp_buffer *out)
{
    if (work->counts.of[RP_CDC_OTHERS] == 0)
        return;
    for (int column = 0; column < RP_CDC_COLUMNS; column++) {
        struct rp_cdc_state state = {{0, 0}, 0};
        uint64_t entry = 0;
        for (size_t i = 0; i < work->table->count; i++) {
            if (work->table->rows[i].kind == RP_ROW_OTHER)
                put_other((enum rp_cdc_column)column, &work->table->rows[i], entry, &state, out);
            entry += work->table->rows[i].kind != RP_ROW_UNMATCHED;
        }
    }
}

static void put_table(const struct work *work, struct rp_buffer *out, struct rp_row_sizes *sizes,
                      size_t *at)
{
    const uint64_t *of = work->counts.of;

    for (int i = 0; i < RP_CDC_COUNTS; i++)
        rp_buffer_varint(out, of[i]);
    rp_row_sizes_add(sizes, RP_PART_FRAME, 1, out, at);
    put_matched_test(work, out);
    rp_row_sizes_add(sizes, RP_PART_MATCHED, of[RP_CDC_MOVES], out, at);
    put_with_next(work, out);
    rp_row_sizes_add(sizes, RP_PART_WITH_NEXT, of[RP_CDC_WITH_NEXT], out, at);
    put_unmatched_test(work, out);
    rp_row_sizes_add(sizes, RP_PART_UNMATCHED, of[RP_CDC_UNMATCHED], out, at);
    put_clocks(work->epoch, of[RP_CDC_EPOCH], out);
    rp_row_sizes_add(sizes, RP_PART_EPOCH, of[RP_CDC_EPOCH], out, at);
    put_clocks(work->late, of[RP_CDC_LATE], out);
    rp_row_sizes_add(sizes, RP_PART_LATE, of[RP_CDC_LATE], out, at);
    put_indices(work, out);
    rp_row_sizes_add(sizes, RP_PART_INDEX, of[RP_CDC_INDICES], out, at);
    put_threads(work, out);
    put_others(work, out);
    rp_row_sizes_add(sizes, RP_PART_OTHERS, of[RP_CDC_OTHERS] + of[RP_CDC_THREADS], out, at);
    sizes->rows += work->table->count;
    sizes->messages += of[RP_CDC_ENTRIES] - of[RP_CDC_OTHERS];
}

/* Epoch lines that later chunks need. New lines are appended behind those of the earlier tables,
 * `known`, and sorted in when the table is done. */

static void remember_epoch(struct rp_buffer *past, size_t known, uint32_t site,
                           const struct rp_cdc_clock *epoch, size_t count)
{
    for (size_t i = 0; i < count && !past->failed; i++) {
        struct past_line *line = find_past(past, known, site, epoch[i].rank),
                         added = {site, epoch[i].rank, epoch[i].clock};
        if (!line)
            rp_buffer_put(past, &added, sizeof added);
        else if (line->clock < epoch[i].clock)
            line->clock = epoch[i].clock;
    }
}

static void sort_past(struct rp_buffer *past, size_t known)
{
    if (past->length > known)
        qsort(past->bytes, past->length / sizeof(struct past_line), sizeof(struct past_line),
              by_site_and_rank);
}

static enum rp_status encode_table(struct rp_row_coder *coder, size_t known,
                                   const struct rp_row_table *table, struct rp_row_sizes *sizes,
                                   size_t *at)
{
    struct work work;

    if (!work_init(&work, table))
        return RP_MEMORY;
    count_rows(&work);
    take_messages(&work, &coder->past, known);
    enum rp_status status = find_permutation(&work);
    if (status == RP_OK) {
        put_table(&work, &coder->scratch, sizes, at);
        remember_epoch(&coder->past, known, table->site, work.epoch, work.counts.of[RP_CDC_EPOCH]);
    }
    work_free(&work);
    return coder->past.failed ? RP_MEMORY : status;
}

enum rp_status rp_cdc_encode(struct rp_row_coder *coder, const struct rp_row_tables *tables,
                             struct rp_buffer *out, struct rp_row_sizes *sizes)
{
    struct rp_row_sizes own;
    enum rp_status status = RP_OK;
    size_t at = 0, before = out->length;

    sizes = sizes ? sizes : &own;
    *sizes = (struct rp_row_sizes){0};
    rp_buffer_clear(&coder->scratch);
    rp_buffer_varint(&coder->scratch, tables->table_count);
    for (size_t i = 0; i < tables->table_count && status == RP_OK; i++) {
        size_t known = coder->past.length;
        status = encode_table(coder, known, &tables->tables[i], sizes, &at);
        sort_past(&coder->past, known);
    }
    rp_row_sizes_add(sizes, RP_PART_FRAME, 0, &coder->scratch, &at);
    for (int part = 0; part < RP_PARTS; part++)
        sizes->before += sizes->bytes[part];
    if (status == RP_OK)
        status = coder->scratch.failed
                     ? RP_MEMORY
                     : rp_deflate(coder->scratch.bytes, coder->scratch.length, out);
    sizes->after = out->length - before;
    return status;
}
