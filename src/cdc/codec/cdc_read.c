/* SPDX-License-Identifier: MIT */
/*
 * The decoder of Clock Delta Compression: reads the tables of a chunk, and makes rows of a table
 * and its messages. The rows (rp_cdc_restore, check_epoch) are for tests and fuzzers: a replay does
 * not have the messages beforehand. It goes through the table (next_of_table in
 * cdc_replay_rows.c), and finds the messages by their places (cdc_positions.c).
 *
 * The bytes may be damaged or hostile. Every count at the beginning of a table is checked first.
 * Entries are checked against the rows that the chunk may have, since messages take no bytes. All
 * other counts are checked against the bytes that are left, since each item takes at least one. So
 * no allocation is larger than the input justifies.
 */
#include <stdlib.h>
#include <string.h>

#include "cdc/codec/cdc.h"
#include "cdc/codec/cdc_parts.h"
#include "cdc/codec/deflate.h"
#include "cdc/codec/indices.h"
#include "cdc/codec/permutation.h"

/* A table takes at least a byte for each count; a row, alone in its table, at most 10 counts of 5
 * bytes and its share of every part. */
enum { TABLE_LEAST = RP_CDC_COUNTS, ROW_MOST = 160 };

struct reader {
    struct rp_view view;
    size_t rows_left;
    struct rp_problem *why;
    size_t number; /* of the table */
    struct rp_cdc_table *table;
};

static enum rp_status damaged(struct reader *in, const char *what)
{
    return rp_fail(in->why, RP_DAMAGED, "table %zu, of site %u: %s", in->number, in->table->site,
                   what);
}

static size_t bytes_left(const struct reader *in)
{
    return in->view.failed ? 0 : (size_t)(in->view.end - in->view.at);
}

/* Columns. `to` is the first of `count` numbers that are `stride` bytes from each other. */

static void store(void *to, size_t stride, size_t i, uint32_t value)
{
    memcpy((char *)to + i * stride, &value, sizeof value);
}

/* Reads numbers below `limit` that increase; not `strictly`: equal ones may follow each other. */
static bool get_increasing(struct reader *in, void *to, size_t stride, size_t count, uint64_t limit,
                           bool strictly)
{
    struct rp_linear linear = {0};
    uint64_t least = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t number = rp_linear_decode(&linear, rp_view_svarint(&in->view));
        if (in->view.failed || number < least || number >= limit)
            return false;
        store(to, stride, i, (uint32_t)number);
        least = number + strictly;
    }
    return true;
}

static bool get_signed(struct reader *in, void *to, size_t stride, size_t count, int64_t least)
{
    for (size_t i = 0; i < count; i++) {
        int64_t value = rp_view_svarint(&in->view);
        if (in->view.failed || value < least || value > INT32_MAX)
            return false;
        store(to, stride, i, (uint32_t)(int32_t)value);
    }
    return true;
}

/* Allocates `count` items, each of which takes at least one byte of input. Returns NULL, and marks
 * the view as failed, if fewer bytes are left. */
static void *take_items(struct reader *in, size_t count, size_t size)
{
    if (count <= bytes_left(in))
        return calloc(count + 1, size);
    in->view.failed = true;
    return NULL;
}

/* Parts */

static enum rp_status get_matched(struct reader *in, uint64_t count)
{
    struct rp_cdc_table *table = in->table;
    struct rp_move *moves = take_items(in, count, sizeof *moves);
    enum rp_status status = RP_OK;

    table->order = calloc((size_t)table->message_count + 1, sizeof *table->order);
    if (!moves || !table->order)
        status = RP_MEMORY;
    else if (!get_increasing(in, &moves->index, sizeof *moves, count, table->message_count, true) ||
             !get_signed(in, &moves->delay, sizeof *moves, count, INT32_MIN) ||
             !rp_permutation_decode(moves, count, table->order, table->message_count))
        status = damaged(in, "the permutation is none");
    free(moves);
    return status;
}

static enum rp_status get_with_next(struct reader *in, uint64_t count)
{
    struct rp_cdc_table *table = in->table;
    struct rp_linear linear = {0};
    uint64_t least = 0;

    table->with_next = calloc((size_t)table->entry_count + 1, 1);
    if (!table->with_next)
        return RP_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t entry = rp_linear_decode(&linear, rp_view_svarint(&in->view));
        if (in->view.failed || entry < least || entry >= (uint64_t)table->entry_count - 1)
            return damaged(in, "with_next names an entry that has none next");
        table->with_next[entry] = 1;
        least = entry + 1;
    }
    return RP_OK;
}

static enum rp_status get_unmatched(struct reader *in, uint64_t count)
{
    struct rp_cdc_table *table = in->table;

    table->unmatched = take_items(in, count, sizeof *table->unmatched);
    if (!table->unmatched)
        return RP_MEMORY;
    table->unmatched_count = count;
    if (!get_increasing(in, &table->unmatched->entry, sizeof *table->unmatched, count,
                        (uint64_t)table->entry_count + 1, false))
        return damaged(in, "unmatched-test names an entry that there is not");
    for (uint64_t i = 0; i < count; i++) {
        struct rp_cdc_unmatched *polls = &table->unmatched[i];
        polls->count = rp_view_varint(&in->view);
        if (polls->count == 0 || (polls->entry > 0 && table->with_next[polls->entry - 1]))
            return damaged(in, "unmatched-test has polls that cannot be");
    }
    return RP_OK;
}

static enum rp_status get_clocks(struct reader *in, struct rp_cdc_clock **out, size_t *out_count,
                                 uint64_t count, const char *what)
{
    struct rp_linear linear = {0};
    struct rp_cdc_clock *clocks = take_items(in, count, sizeof *clocks);
    uint64_t before = 0;

    *out = clocks;
    *out_count = count;
    if (!clocks)
        return RP_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t rank = rp_linear_decode(&linear, rp_view_svarint(&in->view));
        if (rank > INT32_MAX)
            return damaged(in, what);
        clocks[i].rank = (int32_t)rank;
    }
    for (uint64_t i = 0; i < count; i++)
        before = clocks[i].clock = before + (uint64_t)rp_view_svarint(&in->view);
    return in->view.failed ? damaged(in, what) : RP_OK;
}

static enum rp_status get_epoch(struct reader *in, uint64_t count)
{
    struct rp_cdc_table *table = in->table;
    enum rp_status status =
        get_clocks(in, &table->epoch, &table->epoch_count, count, "the epoch line is none");

    for (size_t i = 1; status == RP_OK && i < count; i++)
        if (table->epoch[i].rank <= table->epoch[i - 1].rank)
            status = damaged(in, "the epoch line is not sorted by rank");
    return status;
}

static enum rp_status get_indices(struct reader *in, uint64_t count)
{
    struct rp_cdc_table *table = in->table;

    table->indices = take_items(in, count, sizeof *table->indices);
    if (!table->indices)
        return RP_MEMORY;
    table->index_count = count;
    if (!get_increasing(in, &table->indices->message, sizeof *table->indices, count,
                        table->message_count, true) ||
        !get_signed(in, &table->indices->index, sizeof *table->indices, count, RP_NO_INDEX))
        return damaged(in, "the indices of requests are none");
    return RP_OK;
}

static enum rp_status get_threads(struct reader *in, uint64_t count)
{
    struct rp_cdc_table *table = in->table;
    uint32_t *rows = take_items(in, count, sizeof *rows);
    enum rp_status status = RP_OK;

    if (!rows)
        return RP_MEMORY;
    bool good = get_increasing(in, rows, sizeof *rows, count, table->unmatched_count, true);
    for (uint64_t i = 0; good && i < count; i++) {
        uint64_t thread = rp_view_varint(&in->view);
        good = !in->view.failed && thread > 0 && thread <= INT32_MAX;
        table->unmatched[rows[i]].thread = (int32_t)thread;
    }
    if (!good)
        status = damaged(in, "the threads of polls are none");
    free(rows);
    return status;
}

static bool has_order(const struct rp_cdc_other *other)
{
    return other->event.kind == RP_THREAD || other->event.kind == RP_TURN;
}

static void get_c(struct reader *in, struct rp_cdc_state *state, struct rp_event *event)
{
    if (!rp_event_has_post(event->kind)) {
        event->any.c = rp_view_varint(&in->view);
        return;
    }
    event->any.c = state->expected + (uint64_t)rp_view_svarint(&in->view);
    state->expected = event->any.c + 1;
}

static bool get_column(struct reader *in, enum rp_cdc_column column, struct rp_cdc_other *others,
                       size_t count)
{
    struct rp_cdc_state state = {{0, 0}, 0};
    uint64_t value;

    switch (column) {
    case RP_CDC_COLUMN_ENTRY:
        return get_increasing(in, &others->entry, sizeof *others, count, in->table->entry_count,
                              true);
    case RP_CDC_COLUMN_KIND:
        for (size_t i = 0; i < count; i++)
            others[i].event.kind = rp_view_byte(&in->view);
        break;
    case RP_CDC_COLUMN_SCOPE:
        for (size_t i = 0; i < count; i++) {
            value = rp_view_varint(&in->view);
            in->view.failed |= value > UINT32_MAX;
            others[i].event.scope = (uint32_t)value;
        }
        break;
    case RP_CDC_COLUMN_A:
        return get_signed(in, &others->event.any.a, sizeof *others, count, INT32_MIN);
    case RP_CDC_COLUMN_B:
        return get_signed(in, &others->event.any.b, sizeof *others, count, INT32_MIN);
    case RP_CDC_COLUMN_C:
        for (size_t i = 0; i < count; i++)
            get_c(in, &state, &others[i].event);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            if (has_order(&others[i]))
                others[i].order = rp_linear_decode(&state.linear, rp_view_svarint(&in->view));
    }
    return !in->view.failed;
}

static enum rp_status get_others(struct reader *in, uint64_t count)
{
    struct rp_cdc_table *table = in->table;
    bool good = true;

    table->others = take_items(in, count, sizeof *table->others);
    if (!table->others)
        return RP_MEMORY;
    table->other_count = count;
    for (int column = 0; good && count > 0 && column < RP_CDC_COLUMNS; column++)
        good = get_column(in, (enum rp_cdc_column)column, table->others, count);
    for (size_t i = 0; good && i < count; i++)
        good = rp_row_may_carry(&table->others[i].event);
    return good ? RP_OK : damaged(in, "what is no message is no event either");
}

/* Tables */

static bool are_possible(const struct reader *in, const uint64_t *of)
{
    uint64_t entries = of[RP_CDC_ENTRIES], unmatched = of[RP_CDC_UNMATCHED],
             messages = entries - of[RP_CDC_OTHERS];

    return of[RP_CDC_SITE] <= UINT32_MAX && entries <= in->rows_left &&
           unmatched <= in->rows_left - entries && entries + unmatched > 0 &&
           of[RP_CDC_OTHERS] <= entries && of[RP_CDC_MOVES] <= messages &&
           of[RP_CDC_WITH_NEXT] <= entries && of[RP_CDC_EPOCH] <= messages &&
           (of[RP_CDC_EPOCH] > 0) == (messages > 0) && of[RP_CDC_LATE] <= messages &&
           of[RP_CDC_INDICES] <= messages && of[RP_CDC_THREADS] <= unmatched;
}

static enum rp_status get_parts(struct reader *in, const uint64_t *of)
{
    enum rp_status status = get_matched(in, of[RP_CDC_MOVES]);

    if (status == RP_OK)
        status = get_with_next(in, of[RP_CDC_WITH_NEXT]);
    if (status == RP_OK)
        status = get_unmatched(in, of[RP_CDC_UNMATCHED]);
    if (status == RP_OK)
        status = get_epoch(in, of[RP_CDC_EPOCH]);
    if (status == RP_OK)
        status = get_clocks(in, &in->table->late, &in->table->late_count, of[RP_CDC_LATE],
                            "the late messages are none");
    if (status == RP_OK)
        status = get_indices(in, of[RP_CDC_INDICES]);
    if (status == RP_OK)
        status = get_threads(in, of[RP_CDC_THREADS]);
    if (status == RP_OK)
        status = get_others(in, of[RP_CDC_OTHERS]);
    return status;
}

static enum rp_status get_table(struct reader *in)
{
    uint64_t of[RP_CDC_COUNTS];

    for (int i = 0; i < RP_CDC_COUNTS; i++)
        of[i] = rp_view_varint(&in->view);
    in->table->site = (uint32_t)of[RP_CDC_SITE];
    if (in->view.failed || !are_possible(in, of))
        return damaged(in, "its numbers are not those of a table");
    in->table->entry_count = (uint32_t)of[RP_CDC_ENTRIES];
    in->table->message_count = (uint32_t)(of[RP_CDC_ENTRIES] - of[RP_CDC_OTHERS]);
    in->rows_left -= of[RP_CDC_ENTRIES] + of[RP_CDC_UNMATCHED];
    enum rp_status status = get_parts(in, of);
    if (in->view.failed && status != RP_DAMAGED)
        return damaged(in, "it is cut off");
    return status == RP_MEMORY ? rp_fail(in->why, RP_MEMORY, "out of memory") : status;
}

static enum rp_status get_tables(struct reader *in, uint64_t count, struct rp_cdc_chunk *chunk)
{
    for (in->number = 0; in->number < count; in->number++) {
        in->table = &chunk->tables[chunk->table_count++];
        enum rp_status status = get_table(in);
        if (status != RP_OK)
            return status;
    }
    return bytes_left(in) == 0
               ? RP_OK
               : rp_fail(in->why, RP_DAMAGED, "%zu bytes behind the last table", bytes_left(in));
}

enum rp_status rp_cdc_decode(const uint8_t *bytes, size_t length, size_t raw, size_t most,
                             struct rp_buffer *scratch, struct rp_cdc_chunk *out,
                             struct rp_problem *why)
{
    struct rp_cdc_chunk made = {0};

    if (raw > 10 + most * (size_t)ROW_MOST)
        return rp_fail(why, RP_DAMAGED, "%zu bytes are too many for %zu rows", raw, most);
    enum rp_status status = rp_inflate(bytes, length, raw, scratch, why);
    if (status != RP_OK)
        return status;
    struct reader in = {.view = rp_view_of(scratch->bytes, raw), .rows_left = most, .why = why};
    uint64_t count = rp_view_varint(&in.view);
    if (in.view.failed || count > most || count > raw / TABLE_LEAST)
        return rp_fail(why, RP_DAMAGED, "%llu tables are too many for %zu rows in %zu bytes",
                       (unsigned long long)count, most, raw);
    made.tables = calloc(count + 1, sizeof *made.tables);
    if (!made.tables)
        return rp_fail(why, RP_MEMORY, "out of memory");
    status = get_tables(&in, count, &made);
    if (status == RP_OK)
        *out = made;
    else
        rp_cdc_chunk_free(&made);
    return status;
}

void rp_cdc_chunk_free(struct rp_cdc_chunk *chunk)
{
    for (size_t i = 0; i < chunk->table_count; i++) {
        struct rp_cdc_table *table = &chunk->tables[i];
        free(table->order);
        free(table->with_next);
        free(table->unmatched);
        free(table->others);
        free(table->indices);
        free(table->epoch);
        free(table->late);
    }
    free(chunk->tables);
    memset(chunk, 0, sizeof *chunk);
}

/* Rows */

struct restorer {
    const struct rp_cdc_table *table;
    struct rp_row_message *sorted, *spare;
    struct rp_indices guess;
    struct rp_row *rows;
    size_t unmatched, others, indices, messages, made; /* so far */
};

static struct rp_row *add_row(struct restorer *r, uint32_t kind)
{
    struct rp_row *row = &r->rows[r->made++];

    *row = (struct rp_row){.kind = kind, .site = r->table->site, .count = 1};
    return row;
}

static void add_polls(struct restorer *r, uint32_t entry)
{
    for (; r->unmatched < r->table->unmatched_count &&
           r->table->unmatched[r->unmatched].entry == entry;
         r->unmatched++) {
        struct rp_row *row = add_row(r, RP_ROW_UNMATCHED);
        row->count = r->table->unmatched[r->unmatched].count;
        row->thread = r->table->unmatched[r->unmatched].thread;
    }
}

static void add_message(struct restorer *r, uint32_t with_next)
{
    const struct rp_row_message *message = &r->sorted[r->table->order[r->messages]];
    struct rp_row *row = add_row(r, RP_ROW_MESSAGE);
    bool is_exception =
        r->indices < r->table->index_count && r->table->indices[r->indices].message == r->messages;

    row->rank = message->rank;
    row->clock = message->clock;
    row->with_next = with_next;
    row->index = is_exception ? r->table->indices[r->indices++].index
                              : rp_indices_guess(&r->guess, message->rank);
    rp_indices_tell(&r->guess, message->rank, row->index);
    r->messages++;
}

static void add_other(struct restorer *r, uint32_t with_next)
{
    const struct rp_cdc_other *other = &r->table->others[r->others++];
    struct rp_row *row = add_row(r, RP_ROW_OTHER);

    row->with_next = with_next;
    row->other = other->event;
    row->order = other->order;
}

static void add_rows(struct restorer *r)
{
    const struct rp_cdc_table *table = r->table;

    for (uint32_t entry = 0; entry < table->entry_count; entry++) {
        add_polls(r, entry);
        if (r->others < table->other_count && table->others[r->others].entry == entry)
            add_other(r, table->with_next[entry]);
        else
            add_message(r, table->with_next[entry]);
    }
    add_polls(r, table->entry_count);
}

static const struct rp_cdc_clock *find_epoch(const struct rp_cdc_table *table, int32_t rank)
{
    size_t low = 0, high = table->epoch_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->epoch[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->epoch_count && table->epoch[low].rank == rank ? &table->epoch[low] : NULL;
}

/* Checks that no message is above the epoch line, and that one of each rank is on it. */
static enum rp_status check_epoch(const struct restorer *r, struct rp_problem *why)
{
    const struct rp_cdc_table *table = r->table;
    size_t reached = 0;

    for (size_t i = 0; i < table->message_count; i++) {
        const struct rp_row_message *message = &r->sorted[i];
        const struct rp_cdc_clock *epoch = find_epoch(table, message->rank);
        if (!epoch || message->clock > epoch->clock)
            return rp_fail(
                why, RP_DIVERGED,
                "the message of rank %d with clock %llu is above the epoch line of site %u",
                message->rank, (unsigned long long)message->clock, table->site);
        /* Equal messages are neighbours. */
        reached += message->clock == epoch->clock &&
                   (i == 0 || rp_row_message_before(&r->sorted[i - 1], message));
    }
    return reached == table->epoch_count
               ? RP_OK
               : rp_fail(why, RP_DIVERGED, "the messages do not reach the epoch line of site %u",
                         table->site);
}

enum rp_status rp_cdc_restore(const struct rp_cdc_table *table,
                              const struct rp_row_message *messages, size_t count,
                              struct rp_row *rows, struct rp_problem *why)
{
    struct restorer r = {.table = table, .rows = rows};
    enum rp_status status = RP_MEMORY;

    if (count != table->message_count)
        return rp_fail(why, RP_DIVERGED, "%zu messages for the %u of site %u", count,
                       table->message_count, table->site);
    r.sorted = malloc((count + 1) * sizeof *r.sorted);
    r.spare = malloc((count + 1) * sizeof *r.spare);
    if (!r.sorted || !r.spare || !rp_indices_init(&r.guess, count)) {
        rp_fail(why, RP_MEMORY, "out of memory");
        goto end;
    }
    for (size_t i = 0; i < count; i++)
        r.sorted[i] = messages[i];
    rp_reference_sort(r.sorted, r.spare, count);
    status = check_epoch(&r, why);
    if (status == RP_OK)
        add_rows(&r);
    rp_indices_free(&r.guess);
end:
    free(r.spare);
    free(r.sorted);
    return status;
}
