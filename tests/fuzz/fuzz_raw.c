/* SPDX-License-Identifier: MIT */
/*
 * Codecs raw and gzip. First byte: 0 takes the rest for a payload of raw, 1 for one of gzip, 2 puts
 * it through zlib first, so that its tables are reached. Second byte: the most rows that it may
 * have. What can be decoded is encoded, and must come back.
 */
#include "cdc/codec/deflate.h"
#include "cdc/codec/raw_rows.h"
#include "fuzz.h"

enum { HEAD = 6 };

static bool same(const struct rp_row_tables *one, const struct rp_row_tables *other)
{
    bool good = one->table_count == other->table_count && one->row_count == other->row_count;

    for (size_t i = 0; good && i < one->table_count; i++)
        good = one->tables[i].site == other->tables[i].site &&
               one->tables[i].count == other->tables[i].count &&
               memcmp(one->tables[i].rows, other->tables[i].rows,
                      one->tables[i].count * sizeof(struct rp_row)) == 0;
    return good;
}

static void round_trip(const struct rp_row_tables *tables)
{
    struct rp_row_coder coder = {0};
    struct rp_buffer payload = {0}, scratch = {0};
    struct rp_row_tables again;
    struct rp_row_sizes sizes;
    struct rp_problem why;

    FUZZ_CHECK(rp_raw_encode(&coder, tables, &payload, &sizes) == RP_OK &&
               sizes.after == payload.length);
    FUZZ_CHECK(rp_raw_decode(payload.bytes, payload.length, tables->row_count, &again, &why) ==
               RP_OK);
    FUZZ_CHECK(same(tables, &again));
    rp_row_tables_free(&again);
    rp_buffer_clear(&payload);
    FUZZ_CHECK(rp_gzip_encode(&coder, tables, &payload, &sizes) == RP_OK);
    FUZZ_CHECK(rp_gzip_decode(payload.bytes, payload.length, sizes.before, tables->row_count,
                              &scratch, &again, &why) == RP_OK);
    FUZZ_CHECK(same(tables, &again));
    rp_row_tables_free(&again);
    rp_row_coder_free(&coder);
    rp_buffer_free(&payload);
    rp_buffer_free(&scratch);
}

static enum rp_status decode_gzip(const uint8_t *bytes, size_t length, size_t raw, size_t most,
                                  struct rp_row_tables *out, struct rp_problem *why)
{
    struct rp_buffer scratch = {0};
    enum rp_status status = rp_gzip_decode(bytes, length, raw, most, &scratch, out, why);

    FUZZ_CHECK(scratch.room <= 2 * (raw + 64) && scratch.room <= 2 * (most * 64 + 128));
    rp_buffer_free(&scratch);
    return status;
}

static enum rp_status decode_packed(const uint8_t *bytes, size_t length, size_t most,
                                    struct rp_row_tables *out, struct rp_problem *why)
{
    struct rp_buffer packed = {0};

    FUZZ_CHECK(rp_deflate(bytes, length, &packed) == RP_OK);
    enum rp_status status = decode_gzip(packed.bytes, packed.length, length, most, out, why);
    rp_buffer_free(&packed);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_row_tables tables;
    struct rp_problem why = {""};
    enum rp_status status;

    if (length < HEAD)
        return 0;
    size_t most = bytes[1];
    if (bytes[0] % 3 == 0)
        status = rp_raw_decode(bytes + HEAD, length - HEAD, most, &tables, &why);
    else if (bytes[0] % 3 == 1)
        status =
            decode_gzip(bytes + HEAD, length - HEAD, rp_load_u32(bytes + 2), most, &tables, &why);
    else
        status = decode_packed(bytes + HEAD, length - HEAD, most, &tables, &why);
    fuzz_check_status(status, &why);
    if (status == RP_OK) {
        FUZZ_CHECK(tables.row_count <= most);
        round_trip(&tables);
        rp_row_tables_free(&tables);
    }
    return 0;
}
