/* SPDX-License-Identifier: MIT */
/* Codec `tables`: one column a field, values as varints, the whole through zstd. docs/format.md,
 * section 3. */
#include <stdlib.h>
#include <zstd.h>

#include "codec/codec.h"

/* An event takes at most 1 byte of kind, 5 for each of site, posts, scope, a and b, and 10 of c. */
enum { TABLES_ID = 1, LEVEL = 1, EVENT_MOST = 1 + 5 * 5 + 10 };

static inline uint8_t *put_varint(uint8_t *at, uint64_t value)
{
    while (__builtin_expect(value >= 0x80, 0)) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

static inline uint8_t *put_svarint(uint8_t *at, int64_t value)
{
    return put_varint(at, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_columns(const struct rp_event *e, size_t n, struct rp_buffer *out)
{
    uint64_t expected = 0;

    if (!rp_buffer_reserve(out, n * EVENT_MOST))
        return;
    uint8_t *at = out->bytes + out->length;
    for (size_t i = 0; i < n; i++)
        *at++ = (uint8_t)e[i].kind;
    for (size_t i = 0; i < n; i++)
        at = put_varint(at, e[i].site);
    for (size_t i = 0; i < n; i++)
        at = put_varint(at, e[i].posts);
    for (size_t i = 0; i < n; i++)
        at = put_varint(at, e[i].scope);
    for (size_t i = 0; i < n; i++)
        at = put_svarint(at, e[i].any.a);
    for (size_t i = 0; i < n; i++)
        at = put_svarint(at, e[i].any.b);
    for (size_t i = 0; i < n; i++) {
        if (!rp_event_has_post(e[i].kind)) {
            at = put_varint(at, e[i].any.c);
            continue;
        }
        at = put_svarint(at, (int64_t)(e[i].any.c - expected));
        expected = e[i].any.c + 1;
    }
    out->length = (size_t)(at - out->bytes);
}

static void *tables_open(void)
{
    return calloc(1, sizeof(struct rp_buffer)); /* holds the columns before compression */
}

static void tables_close(void *state)
{
    rp_buffer_free(state);
    free(state);
}

static void tables_reset(void *state)
{
    rp_buffer_clear(state);
}

static enum rp_status tables_encode(void *state, const struct rp_event *events, size_t count,
                                    struct rp_buffer *out)
{
    struct rp_buffer *scratch = state;

    rp_buffer_clear(scratch);
    put_columns(events, count, scratch);
    if (scratch->failed || !rp_buffer_reserve(out, ZSTD_compressBound(scratch->length)))
        return RP_MEMORY;
    size_t length = ZSTD_compress(out->bytes + out->length, out->room - out->length, scratch->bytes,
                                  scratch->length, LEVEL);
    if (ZSTD_isError(length))
        return RP_MEMORY; /* with enough room, ZSTD_compress fails for no other reason */
    out->length += length;
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
        e[i].any.a = get_i32(in);
    for (size_t i = 0; i < n; i++)
        e[i].any.b = get_i32(in);
    for (size_t i = 0; i < n; i++) {
        if (!rp_event_has_post(e[i].kind)) {
            e[i].any.c = rp_view_varint(in);
            continue;
        }
        e[i].any.c = expected + (uint64_t)rp_view_svarint(in);
        expected = e[i].any.c + 1;
    }
}

static enum rp_status tables_decode(void *state, const uint8_t *bytes, size_t length, size_t count,
                                    struct rp_event *events, struct rp_problem *why)
{
    struct rp_buffer *scratch = state;

    rp_buffer_clear(scratch);
    /* Damaged bytes must not make us allocate more than the events can justify. */
    unsigned long long raw = ZSTD_getFrameContentSize(bytes, length);
    if (raw > count * EVENT_MOST)
        return rp_fail(why, RP_DAMAGED, "not a zstd frame with columns of %zu events", count);
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

const struct rp_codec rp_codec_tables = {.id = TABLES_ID,
                                         .name = "tables",
                                         .open = tables_open,
                                         .close = tables_close,
                                         .reset = tables_reset,
                                         .encode = tables_encode,
                                         .decode = tables_decode};
