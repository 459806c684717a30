/* SPDX-License-Identifier: MIT */
/* Codec `tables`: one column a field, values as varints, the whole through zstd. docs/format.md, section 3. */
#include <zstd.h>

#include "codec/codec.h"

enum { TABLES_ID = 1, LEVEL = 1 };

static void put_columns(const struct rp_event *e, size_t n, struct rp_buffer *out)
{
    uint64_t expected = 0;

    for (size_t i = 0; i < n; i++)
        rp_buffer_byte(out, (uint8_t)e[i].kind);
    for (size_t i = 0; i < n; i++)
        rp_buffer_varint(out, e[i].site);
    for (size_t i = 0; i < n; i++)
        rp_buffer_varint(out, e[i].posts);
    for (size_t i = 0; i < n; i++)
        rp_buffer_varint(out, e[i].scope);
    for (size_t i = 0; i < n; i++)
        rp_buffer_svarint(out, e[i].a);
    for (size_t i = 0; i < n; i++)
        rp_buffer_svarint(out, e[i].b);
    for (size_t i = 0; i < n; i++) {
        if (!rp_event_has_post(e[i].kind)) {
            rp_buffer_varint(out, e[i].c);
            continue;
        }
        rp_buffer_svarint(out, (int64_t)(e[i].c - expected));
        expected = e[i].c + 1;
    }
}

static enum rp_status tables_encode(const struct rp_event *events, size_t count,
                                    struct rp_buffer *scratch, struct rp_buffer *out, uint32_t *raw)
{
    rp_buffer_clear(scratch);
    put_columns(events, count, scratch);
    if (scratch->failed || !rp_buffer_reserve(out, ZSTD_compressBound(scratch->length)))
        return RP_MEMORY;
    size_t length = ZSTD_compress(out->bytes + out->length, out->room - out->length, scratch->bytes,
                                  scratch->length, LEVEL);
    if (ZSTD_isError(length))
        return RP_MEMORY; /* the only way it fails with enough room */
    out->length += length;
    *raw = (uint32_t)scratch->length;
    return RP_OK;
}

static uint32_t get_u32(struct rp_view *view)
{
    uint64_t value = rp_view_varint(view);

    view->failed |= value > UINT32_MAX;
    return (uint32_t)value;
}

static int32_t get_i32(struct rp_view *view)
{
    int64_t value = rp_view_svarint(view);

    view->failed |= value < INT32_MIN || value > INT32_MAX;
    return (int32_t)value;
}

static void get_columns(struct rp_view *in, struct rp_event *e, size_t n)
{
    uint64_t expected = 0;

    for (size_t i = 0; i < n; i++)
        e[i].kind = rp_view_byte(in);
    for (size_t i = 0; i < n; i++)
        e[i].site = get_u32(in);
    for (size_t i = 0; i < n; i++)
        e[i].posts = get_u32(in);
    for (size_t i = 0; i < n; i++)
        e[i].scope = get_u32(in);
    for (size_t i = 0; i < n; i++)
        e[i].a = get_i32(in);
    for (size_t i = 0; i < n; i++)
        e[i].b = get_i32(in);
    for (size_t i = 0; i < n; i++) {
        if (!rp_event_has_post(e[i].kind)) {
            e[i].c = rp_view_varint(in);
            continue;
        }
        e[i].c = expected + (uint64_t)rp_view_svarint(in);
        expected = e[i].c + 1;
    }
}

static enum rp_status tables_decode(const uint8_t *bytes, size_t length, uint32_t raw, size_t count,
                                    struct rp_buffer *scratch, struct rp_event *events,
                                    struct rp_problem *why)
{
    rp_buffer_clear(scratch);
    /* 7 columns, at most 1 + 4 * 5 + 5 + 10 bytes an event: a hostile length allocates no more than that. */
    if (raw > count * 41)
        return rp_fail(why, RP_DAMAGED, "%u bytes are too many for %zu events", raw, count);
    if (!rp_buffer_reserve(scratch, (size_t)raw + 1))
        return rp_fail(why, RP_MEMORY, "out of memory");
    size_t done = ZSTD_decompress(scratch->bytes, raw, bytes, length);
    if (ZSTD_isError(done))
        return rp_fail(why, RP_DAMAGED, "zstd: %s", ZSTD_getErrorName(done));
    struct rp_view in = rp_view_of(scratch->bytes, done);
    get_columns(&in, events, count);
    if (in.failed || in.at != in.end || done != raw)
        return rp_fail(why, RP_DAMAGED, "the columns are not those of %zu events", count);
    for (size_t i = 0; i < count; i++)
        if (!rp_event_is_valid(&events[i]))
            return rp_fail(why, RP_DAMAGED, "event %zu of the chunk is not an event", i);
    return RP_OK;
}

const struct rp_codec rp_codec_tables = {TABLES_ID, "tables", tables_encode, tables_decode};
