/* SPDX-License-Identifier: MIT */
/*
 * Codec cdc. First byte: 0 decodes the rest as it is; 1 puts it through zlib first, so that its
 * tables are reached. Second byte: the most rows that it may have. To tables that can be decoded,
 * messages that end at their epoch lines are made up; the rows that come of them are encoded, and
 * must come back.
 */
#include "cdc/codec/cdc.h"
#include "cdc/codec/deflate.h"
#include "fuzz.h"

enum { HEAD = 6, MOST = 256 };

/* What is sent along with a table is up to its sender; one message of each rank is on the line. */
static size_t make_up(const struct rp_cdc_table *table, struct rp_row_message *messages)
{
    for (size_t i = 0; i < table->message_count; i++) {
        const struct rp_cdc_clock *line = &table->epoch[i % table->epoch_count];
        uint64_t less = i < table->epoch_count ? 0 : i * 5 % 23;
        messages[i] = (struct rp_row_message){less < line->clock ? line->clock - less : line->clock,
                                              line->rank, 0};
    }
    return table->message_count;
}

static void check_table(const struct rp_cdc_table *table)
{
    uint8_t seen[MOST] = {0};

    for (uint32_t i = 0; i < table->message_count; i++) {
        FUZZ_CHECK(table->order[i] < table->message_count && !seen[table->order[i]]);
        seen[table->order[i]] = 1;
    }
    for (size_t i = 0; i < table->other_count; i++)
        FUZZ_CHECK(table->others[i].entry < table->entry_count &&
                   rp_event_is_valid(&table->others[i].event));
    for (size_t i = 0; i < table->unmatched_count; i++)
        FUZZ_CHECK(table->unmatched[i].entry <= table->entry_count &&
                   table->unmatched[i].count > 0);
    FUZZ_CHECK(table->entry_count == table->message_count + table->other_count);
    FUZZ_CHECK(table->entry_count == 0 || !table->with_next[table->entry_count - 1]);
}

static size_t restore(const struct rp_cdc_table *table, struct rp_row *rows)
{
    struct rp_row_message messages[MOST];
    struct rp_problem why;

    FUZZ_CHECK(rp_cdc_restore(table, messages, make_up(table, messages), rows, &why) == RP_OK);
    return rp_cdc_row_count(table);
}

static void round_trip(const struct rp_row_tables *tables)
{
    struct rp_row_coder coder = {0};
    struct rp_buffer payload = {0}, scratch = {0};
    struct rp_row_sizes sizes;
    struct rp_cdc_chunk chunk;
    struct rp_problem why;

    FUZZ_CHECK(rp_cdc_encode(&coder, tables, &payload, &sizes) == RP_OK);
    FUZZ_CHECK(rp_cdc_decode(payload.bytes, payload.length, sizes.before, tables->row_count,
                             &scratch, &chunk, &why) == RP_OK);
    FUZZ_CHECK(chunk.table_count == tables->table_count);
    for (size_t i = 0; i < chunk.table_count; i++) {
        struct rp_row rows[MOST];
        const struct rp_row_table *table = &tables->tables[i];
        struct rp_row_message messages[MOST];
        size_t count = 0;
        for (size_t k = table->count; k-- > 0;)
            if (table->rows[k].kind == RP_ROW_MESSAGE)
                messages[count++] =
                    (struct rp_row_message){table->rows[k].clock, table->rows[k].rank, 0};
        FUZZ_CHECK(rp_cdc_row_count(&chunk.tables[i]) == table->count);
        FUZZ_CHECK(rp_cdc_restore(&chunk.tables[i], messages, count, rows, &why) == RP_OK);
        FUZZ_CHECK(memcmp(rows, table->rows, table->count * sizeof *rows) == 0);
    }
    rp_cdc_chunk_free(&chunk);
    rp_row_coder_free(&coder);
    rp_buffer_free(&payload);
    rp_buffer_free(&scratch);
}

static void follow(const struct rp_cdc_chunk *chunk)
{
    struct rp_row rows[MOST];
    struct rp_row_table tables[MOST];
    struct rp_row_tables all = {tables, 0, rows, 0};

    for (size_t i = 0; i < chunk->table_count; i++) {
        check_table(&chunk->tables[i]);
        size_t count = restore(&chunk->tables[i], rows + all.row_count);
        tables[all.table_count++] =
            (struct rp_row_table){chunk->tables[i].site, count, rows + all.row_count};
        all.row_count += count;
    }
    round_trip(&all);
}

static void decode(const uint8_t *bytes, size_t length, size_t raw, size_t most)
{
    struct rp_buffer scratch = {0};
    struct rp_cdc_chunk chunk;
    struct rp_problem why = {""};
    enum rp_status status = rp_cdc_decode(bytes, length, raw, most, &scratch, &chunk, &why);

    fuzz_check_status(status, &why);
    FUZZ_CHECK(scratch.room <= 2 * (raw + 64) && scratch.room <= 2 * (most * 160 + 128));
    rp_buffer_free(&scratch);
    if (status != RP_OK)
        return;
    follow(&chunk);
    rp_cdc_chunk_free(&chunk);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_buffer packed = {0};

    if (length < HEAD)
        return 0;
    if (bytes[0] % 2 == 0) {
        decode(bytes + HEAD, length - HEAD, rp_load_u32(bytes + 2), bytes[1]);
    } else {
        FUZZ_CHECK(rp_deflate(bytes + HEAD, length - HEAD, &packed) == RP_OK);
        decode(packed.bytes, packed.length, length - HEAD, bytes[1]);
        rp_buffer_free(&packed);
    }
    return 0;
}
