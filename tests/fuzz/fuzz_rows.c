/* SPDX-License-Identifier: MIT */
/*
 * Events to rows. The input is events of 8 bytes: kind, site and posts, scope, a, b, c, and two
 * that say where the pieces end. The rows must not depend on the pieces; and the tables must come
 * back from cdc, chunk by chunk.
 */
#include "cdc/codec/cdc.h"
#include "fuzz.h"

enum { EVENT = 8, MOST = 512 };

static struct rp_event events[MOST];
static size_t pieces[MOST];

static size_t take_events(const uint8_t *bytes, size_t length)
{
    size_t count = 0;

    for (; length >= EVENT && count < MOST; bytes += EVENT, length -= EVENT) {
        struct rp_event e = RP_EVENT(bytes[0] % RP_EVENT_KINDS, bytes[1] & 3, bytes[1] >> 6,
                                     bytes[2], (int8_t)bytes[3], (int8_t)bytes[4], bytes[5]);
        pieces[count] = 1 + bytes[6] % 8;
        events[count] = e;
        count += (size_t)rp_event_is_valid(&e);
    }
    return count;
}

static size_t take_messages(const struct rp_row_table *table, struct rp_row_message *messages)
{
    size_t count = 0;

    for (size_t i = table->count; i-- > 0;)
        if (table->rows[i].kind == RP_ROW_MESSAGE)
            messages[count++] =
                (struct rp_row_message){table->rows[i].clock, table->rows[i].rank, 0};
    return count;
}

static void check_chunk(struct rp_row_coder *coder, const struct rp_rows *rows)
{
    static struct rp_row again[MOST * 2];
    static struct rp_row_message messages[MOST * 2];
    struct rp_buffer payload = {0}, scratch = {0};
    struct rp_row_tables tables;
    struct rp_row_sizes sizes;
    struct rp_cdc_chunk chunk;
    struct rp_problem why;

    FUZZ_CHECK(rp_row_tables_by_site(rp_rows_of(rows), rp_rows_count(rows), &tables) == RP_OK);
    FUZZ_CHECK(rp_cdc_encode(coder, &tables, &payload, &sizes) == RP_OK);
    FUZZ_CHECK(rp_cdc_decode(payload.bytes, payload.length, sizes.before, tables.row_count,
                             &scratch, &chunk, &why) == RP_OK);
    for (size_t i = 0; i < tables.table_count; i++) {
        size_t count = take_messages(&tables.tables[i], messages);
        FUZZ_CHECK(rp_cdc_row_count(&chunk.tables[i]) == tables.tables[i].count);
        FUZZ_CHECK(rp_cdc_restore(&chunk.tables[i], messages, count, again, &why) == RP_OK);
        FUZZ_CHECK(memcmp(again, tables.tables[i].rows, tables.tables[i].count * sizeof *again) ==
                   0);
    }
    rp_cdc_chunk_free(&chunk);
    rp_row_tables_free(&tables);
    rp_buffer_free(&payload);
    rp_buffer_free(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_rows whole = {0}, part = {0}, all = {0};
    struct rp_row_coder coder = {0};
    size_t count = take_events(bytes, length), clocks = 0;

    for (size_t i = 0; i < count; i++)
        clocks += events[i].kind == RP_CLOCK;
    FUZZ_CHECK(rp_rows_add(&whole, events, count) == RP_OK && rp_rows_finish(&whole) == RP_OK);
    FUZZ_CHECK(rp_rows_count(&whole) <= count);
    for (size_t at = 0, piece; at < count; at += piece) {
        piece = pieces[at] < count - at ? pieces[at] : count - at;
        FUZZ_CHECK(rp_rows_add(&part, events + at, piece) == RP_OK);
        if (at + piece == count)
            FUZZ_CHECK(rp_rows_finish(&part) == RP_OK);
        rp_buffer_put(&all.rows, part.rows.bytes, part.rows.length);
        check_chunk(&coder, &part);
        rp_rows_clear(&part);
    }
    FUZZ_CHECK(all.rows.length == whole.rows.length &&
               (count == 0 || all.rows.length == 0 ||
                memcmp(all.rows.bytes, whole.rows.bytes, all.rows.length) == 0));
    for (size_t i = 0; i < rp_rows_count(&whole); i++)
        clocks -= rp_rows_of(&whole)[i].kind == RP_ROW_MESSAGE;
    FUZZ_CHECK(clocks < count + 1); /* those of a call that was cut off are left */
    rp_rows_free(&whole);
    rp_rows_free(&part);
    rp_rows_free(&all);
    rp_row_coder_free(&coder);
    return 0;
}
