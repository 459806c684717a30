/* SPDX-License-Identifier: MIT */
#include "cdc/codec/row_codec.h"

#include <string.h>

#include "cdc/codec/raw_rows.h"

void rp_row_chunk_free(struct rp_row_chunk *chunk)
{
    rp_row_tables_free(&chunk->tables);
    rp_cdc_chunk_free(&chunk->cdc);
    chunk->is_cdc = false;
}

typedef enum rp_status encoder(struct rp_row_coder *, const struct rp_row_tables *,
                               struct rp_buffer *, struct rp_row_sizes *);
typedef enum rp_status divider(const struct rp_row *, size_t, struct rp_row_tables *);

static enum rp_status encode(divider *divide, encoder *put, struct rp_row_coder *coder,
                             const struct rp_row *rows, size_t count, struct rp_buffer *out,
                             size_t *row_count, uint64_t *raw)
{
    struct rp_row_tables tables;
    struct rp_row_sizes sizes = {0};
    enum rp_status status = divide(rows, count, &tables);

    if (status != RP_OK)
        return status;
    status = put(coder, &tables, out, &sizes);
    *row_count = tables.row_count;
    *raw = sizes.before;
    rp_row_tables_free(&tables);
    return status;
}

static enum rp_status encode_raw(struct rp_row_coder *coder, const struct rp_row *rows,
                                 size_t count, struct rp_buffer *out, size_t *row_count,
                                 uint64_t *raw)
{
    return encode(rp_row_tables_by_site, rp_raw_encode, coder, rows, count, out, row_count, raw);
}

static enum rp_status encode_gzip(struct rp_row_coder *coder, const struct rp_row *rows,
                                  size_t count, struct rp_buffer *out, size_t *row_count,
                                  uint64_t *raw)
{
    return encode(rp_row_tables_by_site, rp_gzip_encode, coder, rows, count, out, row_count, raw);
}

static enum rp_status encode_cdc(struct rp_row_coder *coder, const struct rp_row *rows,
                                 size_t count, struct rp_buffer *out, size_t *row_count,
                                 uint64_t *raw)
{
    return encode(rp_row_tables_by_time, rp_cdc_encode, coder, rows, count, out, row_count, raw);
}

static enum rp_status decode_raw(const uint8_t *bytes, size_t length, size_t raw, size_t most,
                                 struct rp_buffer *scratch, struct rp_row_chunk *out,
                                 struct rp_problem *why)
{
    (void)scratch;
    *out = (struct rp_row_chunk){0};
    if (raw != length)
        return rp_fail(why, RP_DAMAGED, "%zu bytes that were %zu", length, raw);
    return rp_raw_decode(bytes, length, most, &out->tables, why);
}

static enum rp_status decode_gzip(const uint8_t *bytes, size_t length, size_t raw, size_t most,
                                  struct rp_buffer *scratch, struct rp_row_chunk *out,
                                  struct rp_problem *why)
{
    *out = (struct rp_row_chunk){0};
    return rp_gzip_decode(bytes, length, raw, most, scratch, &out->tables, why);
}

static enum rp_status decode_cdc(const uint8_t *bytes, size_t length, size_t raw, size_t most,
                                 struct rp_buffer *scratch, struct rp_row_chunk *out,
                                 struct rp_problem *why)
{
    *out = (struct rp_row_chunk){.is_cdc = true};
    return rp_cdc_decode(bytes, length, raw, most, scratch, &out->cdc, why);
}

static const struct rp_row_codec codecs[] = {{3, "raw", encode_raw, decode_raw},
                                             {4, "gzip", encode_gzip, decode_gzip},
                                             {5, "cdc", encode_cdc, decode_cdc}};

const struct rp_row_codec *rp_row_codec_by_id(uint8_t id)
{
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (codecs[i].id == id)
            return &codecs[i];
    return NULL;
}

const struct rp_row_codec *rp_row_codec_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (strcmp(codecs[i].name, name) == 0)
            return &codecs[i];
    return NULL;
}

static void sum_cdc(const struct rp_cdc_table *table, struct rp_row_sum *sum)
{
    sum->rows += rp_cdc_row_count(table);
    sum->messages += table->message_count;
    for (size_t i = 0; i < table->unmatched_count; i++)
        sum->polls += table->unmatched[i].count;
}

void rp_row_chunk_sum(const struct rp_row_chunk *chunk, struct rp_row_sum *sum)
{
    *sum = (struct rp_row_sum){0};
    for (size_t i = 0; i < chunk->cdc.table_count; i++)
        sum_cdc(&chunk->cdc.tables[i], sum);
    for (size_t i = 0; i < chunk->tables.table_count; i++)
        for (size_t k = 0; k < chunk->tables.tables[i].count; k++) {
            const struct rp_row *row = &chunk->tables.tables[i].rows[k];
            sum->rows++;
            sum->messages += row->kind == RP_ROW_MESSAGE;
            sum->polls += row->kind == RP_ROW_UNMATCHED ? row->count : 0;
        }
}

static bool clocks_fit(const struct rp_cdc_clock *clocks, size_t count, uint32_t ranks)
{
    for (size_t i = 0; i < count; i++)
        if ((uint32_t)clocks[i].rank >= ranks)
            return false;
    return true;
}

static bool rows_fit(const struct rp_row_table *table, uint32_t ranks)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].kind == RP_ROW_MESSAGE && (uint32_t)table->rows[i].rank >= ranks)
            return false;
    return true;
}

bool rp_row_chunk_fits(const struct rp_row_chunk *chunk, size_t sites, uint32_t ranks)
{
    for (size_t i = 0; i < chunk->cdc.table_count; i++) {
        const struct rp_cdc_table *table = &chunk->cdc.tables[i];
        if (table->site >= sites || !clocks_fit(table->epoch, table->epoch_count, ranks) ||
            !clocks_fit(table->late, table->late_count, ranks))
            return false;
    }
    for (size_t i = 0; i < chunk->tables.table_count; i++)
        if (chunk->tables.tables[i].site >= sites || !rows_fit(&chunk->tables.tables[i], ranks))
            return false;
    return true;
}
