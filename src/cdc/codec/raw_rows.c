/* SPDX-License-Identifier: MIT */
/*
 * The baseline of Clock Delta Compression (section 6.1). Rows are packed bit by bit, low bits
 * first: count 64, flag 1, rank 32, with_next 1, clock 64. A table is
 *
 *   frame           site, rows, others, flags
 *   rows            162 bits each: the rows of figure 4
 *   indices         of the requests of MESSAGE rows
 *   threads         of UNMATCHED rows
 *   OTHER rows      each with its row number in the whole table
 */
#include "cdc/codec/raw_rows.h"

#include <stdlib.h>

#include "cdc/codec/deflate.h"

enum {
    COUNT_BITS = 64,
    RANK_BITS = 32,
    CLOCK_BITS = 64,
    ROW_BITS = COUNT_BITS + 1 + RANK_BITS + 1 + CLOCK_BITS
};
enum {
    HAS_INDEX = 1,
    HAS_THREAD = 2,
    FLAGS = 3,
    OTHER_BYTES = 36,
    KIND_BITS = 8,
    TABLE_LEAST = 4,
    TABLE_MOST = 5 + 5 + 5 + 1
};
/* A row of figure 4 with its index or thread is smaller. */
enum { ROW_MOST = OTHER_BYTES };

static size_t bytes_of_rows(size_t rows)
{
    return (rows * ROW_BITS + 7) / 8;
}

/* Bits */

struct bits {
    uint8_t *bytes; /* for writing, they must be zero at first */
    size_t at;
};

static void put_bits(struct bits *bits, uint64_t value, unsigned count)
{
    for (unsigned done = 0; done < count;) {
        unsigned shift = bits->at % 8, piece = 8 - shift < count - done ? 8 - shift : count - done;
        bits->bytes[bits->at / 8] |= (uint8_t)((value >> done & ((1u << piece) - 1)) << shift);
        bits->at += piece;
        done += piece;
    }
}

static uint64_t get_bits(struct bits *bits, unsigned count)
{
    uint64_t value = 0;

    for (unsigned done = 0; done < count;) {
        unsigned shift = bits->at % 8, piece = 8 - shift < count - done ? 8 - shift : count - done;
        value |= (uint64_t)(bits->bytes[bits->at / 8] >> shift & ((1u << piece) - 1)) << done;
        bits->at += piece;
        done += piece;
    }
    return value;
}

/* Encoding */

struct shape {
    size_t rows, messages, others;
    uint8_t flags;
};

static struct shape shape_of(const struct rp_row_table *table)
{
    struct shape shape = {0};

    for (size_t i = 0; i < table->count; i++) {
        const struct rp_row *row = &table->rows[i];
        shape.messages += row->kind == RP_ROW_MESSAGE;
        shape.others += row->kind == RP_ROW_OTHER;
        shape.flags |= row->kind == RP_ROW_MESSAGE && row->index != RP_NO_INDEX ? HAS_INDEX : 0;
        shape.flags |= row->kind == RP_ROW_UNMATCHED && row->thread != 0 ? HAS_THREAD : 0;
    }
    shape.rows = table->count - shape.others;
    return shape;
}

static void put_rows(const struct rp_row_table *table, size_t rows, struct rp_buffer *out)
{
    if (!rp_buffer_reserve(out, bytes_of_rows(rows)))
        return;
    struct bits bits = {out->bytes + out->length, 0};
    for (size_t i = 0; i < bytes_of_rows(rows); i++)
        bits.bytes[i] = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct rp_row *row = &table->rows[i];
        if (row->kind == RP_ROW_OTHER)
            continue;
        put_bits(&bits, row->count, COUNT_BITS);
        put_bits(&bits, row->kind == RP_ROW_MESSAGE, 1);
        put_bits(&bits, (uint32_t)row->rank, RANK_BITS);
        put_bits(&bits, row->with_next, 1);
        put_bits(&bits, row->clock, CLOCK_BITS);
    }
    out->length += bytes_of_rows(rows);
}

static void put_indices(const struct rp_row_table *table, struct rp_buffer *out)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].kind == RP_ROW_MESSAGE)
            rp_buffer_u32(out, (uint32_t)table->rows[i].index);
}

static void put_threads(const struct rp_row_table *table, struct rp_buffer *out)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].kind == RP_ROW_UNMATCHED)
            rp_buffer_u32(out, (uint32_t)table->rows[i].thread);
}

static void put_others(const struct rp_row_table *table, struct rp_buffer *out)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct rp_row *row = &table->rows[i];
        if (row->kind != RP_ROW_OTHER)
            continue;
        rp_buffer_u32(out, (uint32_t)i);
        rp_buffer_u32(out, row->other.kind | row->with_next << KIND_BITS);
        rp_buffer_u32(out, row->other.scope);
        rp_buffer_u32(out, (uint32_t)row->other.any.a);
        rp_buffer_u32(out, (uint32_t)row->other.any.b);
        rp_buffer_u64(out, row->other.any.c);
        rp_buffer_u64(out, row->order);
    }
}

static void put_table(const struct rp_row_table *table, struct rp_buffer *out,
                      struct rp_row_sizes *sizes, size_t *at)
{
    struct shape shape = shape_of(table);

    rp_buffer_varint(out, table->site);
    rp_buffer_varint(out, shape.rows);
    rp_buffer_varint(out, shape.others);
    rp_buffer_byte(out, shape.flags);
    rp_row_sizes_add(sizes, RP_PART_FRAME, 1, out, at);
    put_rows(table, shape.rows, out);
    rp_row_sizes_add(sizes, RP_PART_MATCHED, shape.rows, out, at);
    if (shape.flags & HAS_INDEX)
        put_indices(table, out);
    rp_row_sizes_add(sizes, RP_PART_INDEX, shape.flags & HAS_INDEX ? shape.messages : 0, out, at);
    if (shape.flags & HAS_THREAD)
        put_threads(table, out);
    put_others(table, out);
    rp_row_sizes_add(sizes, RP_PART_OTHERS, shape.others, out, at);
    sizes->rows += table->count;
    sizes->messages += shape.messages;
}

static enum rp_status put_tables(const struct rp_row_tables *tables, struct rp_buffer *out,
                                 struct rp_row_sizes *sizes)
{
    size_t at = out->length;

    *sizes = (struct rp_row_sizes){0};
    rp_buffer_varint(out, tables->table_count);
    for (size_t i = 0; i < tables->table_count; i++)
        put_table(&tables->tables[i], out, sizes, &at);
    rp_row_sizes_add(sizes, RP_PART_FRAME, 0, out, &at);
    for (int part = 0; part < RP_PARTS; part++)
        sizes->before += sizes->bytes[part];
    sizes->after = sizes->before;
    return out->failed ? RP_MEMORY : RP_OK;
}

enum rp_status rp_raw_encode(struct rp_row_coder *coder, const struct rp_row_tables *tables,
                             struct rp_buffer *out, struct rp_row_sizes *sizes)
{
    struct rp_row_sizes own;

    (void)coder;
    return put_tables(tables, out, sizes ? sizes : &own);
}

enum rp_status rp_gzip_encode(struct rp_row_coder *coder, const struct rp_row_tables *tables,
                              struct rp_buffer *out, struct rp_row_sizes *sizes)
{
    struct rp_row_sizes own;
    size_t before = out->length;

    sizes = sizes ? sizes : &own;
    rp_buffer_clear(&coder->scratch);
    enum rp_status status = put_tables(tables, &coder->scratch, sizes);
    if (status == RP_OK)
        status = rp_deflate(coder->scratch.bytes, coder->scratch.length, out);
    sizes->after = out->length - before;
    return status;
}

/* Decoding */

static const uint8_t *take(struct rp_view *view, size_t length)
{
    const uint8_t *at = view->at;

    if (view->failed || (size_t)(view->end - at) < length) {
        view->failed = true;
        return NULL;
    }
    view->at += length;
    return at;
}

static bool get_row(struct bits *bits, struct rp_row *row)
{
    row->count = get_bits(bits, COUNT_BITS);
    bool flag = get_bits(bits, 1);
    row->kind = flag ? RP_ROW_MESSAGE : RP_ROW_UNMATCHED;
    row->rank = (int32_t)(uint32_t)get_bits(bits, RANK_BITS);
    row->with_next = (uint32_t)get_bits(bits, 1);
    row->clock = get_bits(bits, CLOCK_BITS);
    if (flag)
        return row->count == 1 && row->rank >= 0;
    return row->count > 0 && row->rank == 0 && !row->with_next && row->clock == 0;
}

static bool get_other(const uint8_t *at, struct rp_row *row)
{
    uint32_t kind = rp_load_u32(at + 4);

    row->kind = RP_ROW_OTHER;
    row->count = 1;
    row->with_next = kind >> KIND_BITS;
    row->other = (struct rp_event)RP_EVENT(kind & ((1 << KIND_BITS) - 1), 0, 0, rp_load_u32(at + 8),
                                           (int32_t)rp_load_u32(at + 12),
                                           (int32_t)rp_load_u32(at + 16), rp_load_u64(at + 20));
    row->order = rp_load_u64(at + 28);
    return row->with_next <= 1 && (row->order == 0 || rp_row_has_order(row)) &&
           rp_row_may_carry(&row->other);
}

static bool get_side(const uint8_t *indices, const uint8_t *threads, struct rp_row_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        struct rp_row *row = &table->rows[i];
        if (row->kind == RP_ROW_MESSAGE) {
            row->index = indices ? (int32_t)rp_load_u32(indices) : RP_NO_INDEX;
            indices = indices ? indices + 4 : NULL;
            if (row->index < RP_NO_INDEX)
                return false;
        } else if (row->kind == RP_ROW_UNMATCHED && threads) {
            row->thread = (int32_t)rp_load_u32(threads);
            threads += 4;
            if (row->thread < 0)
                return false;
        }
    }
    return true;
}

/* Merges the rows of figure 4 and the OTHER rows. */
static bool get_rows(const uint8_t *packed, size_t rows, const uint8_t *others, size_t other_count,
                     struct rp_row_table *table)
{
    struct bits bits = {(uint8_t *)(uintptr_t)packed, 0};
    size_t done = 0;
    bool is_open = false; /* the call of the last entry continues */

    for (size_t i = 0; i < table->count; i++) {
        struct rp_row *row = &table->rows[i];
        bool is_other = done < other_count && rp_load_u32(others + done * OTHER_BYTES) == i;
        if (!is_other && i - done >= rows)
            return false;
        if (is_other ? !get_other(others + done * OTHER_BYTES, row) : !get_row(&bits, row))
            return false;
        if (is_open && row->kind == RP_ROW_UNMATCHED)
            return false;
        is_open = row->with_next;
        row->site = table->site;
        done += is_other;
    }
    return !is_open && done == other_count && get_bits(&bits, (unsigned)(-bits.at % 8)) == 0;
}

static size_t count_messages(const uint8_t *packed, size_t rows)
{
    size_t messages = 0;

    for (size_t i = 0; i < rows; i++)
        messages += packed[(i * ROW_BITS + COUNT_BITS) / 8] >> (i * ROW_BITS + COUNT_BITS) % 8 & 1;
    return messages;
}

/* Reads one table into `table->rows`, which the caller has set. */
static bool get_table(struct rp_view *in, size_t left, struct rp_row_table *table)
{
    uint64_t site = rp_view_varint(in), rows = rp_view_varint(in), others = rp_view_varint(in);
    uint8_t flags = rp_view_byte(in);

    if (in->failed || site > UINT32_MAX || rows > left || others > left - rows ||
        rows + others == 0 || flags > FLAGS)
        return false;
    table->site = (uint32_t)site;
    table->count = rows + others;
    const uint8_t *packed = take(in, bytes_of_rows(rows));
    if (!packed)
        return false;
    size_t messages = count_messages(packed, rows);
    const uint8_t *indices = flags & HAS_INDEX ? take(in, messages * 4) : NULL;
    const uint8_t *threads = flags & HAS_THREAD ? take(in, (rows - messages) * 4) : NULL;
    const uint8_t *side = take(in, others * OTHER_BYTES);
    return side && get_rows(packed, rows, side, others, table) && get_side(indices, threads, table);
}

static bool get_tables(struct rp_view *in, size_t count, size_t most, struct rp_row_tables *out)
{
    for (size_t i = 0; i < count; i++) {
        struct rp_row_table *table = &out->tables[i];
        table->rows = out->rows + out->row_count;
        if (!get_table(in, most - out->row_count, table))
            return false;
        out->table_count++;
        out->row_count += table->count;
    }
    return in->at == in->end;
}

enum rp_status rp_raw_decode(const uint8_t *bytes, size_t length, size_t most,
                             struct rp_row_tables *out, struct rp_problem *why)
{
    struct rp_view in = rp_view_of(bytes, length);
    uint64_t count = rp_view_varint(&in);
    struct rp_row_tables made = {0};

    if (in.failed || count > most || count > length / TABLE_LEAST)
        return rp_fail(why, RP_DAMAGED, "%llu tables are too many for %zu rows in %zu bytes",
                       (unsigned long long)count, most, length);
    size_t room = length * 8 / ROW_BITS + 1; /* no row is smaller */
    room = room < most ? room : most;
    made.tables = calloc(count + 1, sizeof *made.tables);
    made.rows = calloc(room + 1, sizeof *made.rows);
    if (!made.tables || !made.rows) {
        rp_row_tables_free(&made);
        return rp_fail(why, RP_MEMORY, "out of memory");
    }
    if (!get_tables(&in, count, room, &made)) {
        size_t table = made.table_count;
        rp_row_tables_free(&made);
        return rp_fail(why, RP_DAMAGED, "table %zu of %llu is not one of at most %zu rows", table,
                       (unsigned long long)count, most);
    }
    *out = made;
    return RP_OK;
}

enum rp_status rp_gzip_decode(const uint8_t *bytes, size_t length, size_t raw, size_t most,
                              struct rp_buffer *scratch, struct rp_row_tables *out,
                              struct rp_problem *why)
{
    if (raw > 10 + most * (size_t)(ROW_MOST + TABLE_MOST))
        return rp_fail(why, RP_DAMAGED, "%zu bytes are too many for %zu rows", raw, most);
    enum rp_status status = rp_inflate(bytes, length, raw, scratch, why);

    return status == RP_OK ? rp_raw_decode(scratch->bytes, scratch->length, most, out, why)
                           : status;
}
