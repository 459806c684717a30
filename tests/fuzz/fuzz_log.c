/* SPDX-License-Identifier: MIT */
/*
 * The log of a rank, opened, read and verified. First byte: 0 the rest as it is; 1 the rest with
 * the checksums of its header and chunks made right; 2 a log built from the rest: chunks of (kind,
 * items, length, payload), EVENTS payloads as they are for codec mix or put into zstd frames, with
 * index and trailer if the second byte is odd. If its bit 1 is set, it is a log of rows; payloads
 * of ROWS begin with a byte, how many events they reach to, and are then those of raw, gzip or cdc
 * before zlib.
 */
#include <zstd.h>

#include "base/crc32c.h"
#include "cdc/codec/deflate.h"
#include "fuzz.h"
#include "log/logreader.h"

enum { RUN = 7, RANK = 1, RANKS = 2 };

static void set_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void make_right(uint8_t *bytes, size_t length)
{
    size_t at = RP_LOG_HEADER;

    if (length < RP_LOG_HEADER)
        return;
    set_u32(bytes + 60, rp_crc32c(bytes, 60));
    struct rp_chunk_place place = {0, 0, 0};
    while (at + RP_CHUNK_HEADER <= length && memcmp(bytes + at, "RK", 2) == 0) {
        struct rp_buffer header = {0};
        struct rp_chunk chunk = {.kind = bytes[at + 2],
                                 .codec = bytes[at + 3],
                                 .flags = rp_load_u16(bytes + at + 4),
                                 .items = rp_load_u32(bytes + at + 8),
                                 .stored = rp_load_u32(bytes + at + 12),
                                 .crc = rp_load_u32(bytes + at + 16)};
        size_t left = length - at - RP_CHUNK_HEADER;
        if (chunk.stored <= left)
            chunk.crc = rp_crc32c(bytes + at + RP_CHUNK_HEADER, chunk.stored);
        chunk.first = rp_format_first(chunk.kind, &place);
        rp_format_put_chunk(&header, &chunk);
        memcpy(bytes + at, header.bytes, RP_CHUNK_HEADER);
        rp_buffer_free(&header);
        rp_format_pass(&chunk, &place);
        if (chunk.stored > left)
            return;
        at += RP_CHUNK_HEADER + chunk.stored;
    }
}

struct built {
    struct rp_buffer file, index;
    uint32_t chunks;
    struct rp_chunk_place place;
};

static void add_chunk(struct built *b, struct rp_chunk *chunk, const uint8_t *payload,
                      size_t length)
{
    chunk->stored = (uint32_t)length;
    chunk->crc = rp_crc32c(payload, length);
    chunk->first = rp_format_first(chunk->kind, &b->place);
    rp_format_pass(chunk, &b->place);
    rp_format_put_chunk(&b->file, chunk);
    rp_buffer_put(&b->file, payload, length);
    rp_buffer_byte(&b->index, chunk->kind);
    rp_buffer_varint(&b->index, chunk->items);
    rp_buffer_varint(&b->index, chunk->stored);
    b->chunks++;
}

static void add_events(struct built *b, struct rp_chunk *chunk, const uint8_t *columns,
                       size_t length)
{
    uint8_t frame[4096];
    size_t stored = ZSTD_compress(frame, sizeof frame, columns, length, 1);

    chunk->codec = 1 + chunk->items % 2;
    chunk->flags = chunk->codec == 2 && chunk->items % 4 == 1 ? RP_CHUNK_CONTINUES : 0;
    if (chunk->codec == 2)
        add_chunk(b, chunk, columns, length);
    else if (!ZSTD_isError(stored))
        add_chunk(b, chunk, frame, stored);
}

static void add_rows(struct built *b, struct rp_chunk *chunk, const uint8_t *bytes, size_t length)
{
    struct rp_buffer payload = {0};

    chunk->codec = (uint8_t)(3 + (length ? bytes[0] >> 6 : 0) % 3);
    chunk->flags = 0;
    rp_format_put_rows(&payload,
                       &(struct rp_rows_head){length ? bytes[0] & 63 : 0, length ? length - 1 : 0});
    if (length > 0 && chunk->codec == 3)
        rp_buffer_put(&payload, bytes + 1, length - 1);
    else if (length > 0)
        FUZZ_CHECK(rp_deflate(bytes + 1, length - 1, &payload) == RP_OK);
    add_chunk(b, chunk, payload.bytes, payload.length);
    rp_buffer_free(&payload);
}

static void add_index(struct built *b)
{
    struct rp_buffer index = b->index;
    struct rp_chunk chunk = {.kind = RP_CHUNK_INDEX, .items = b->chunks};
    uint64_t offset = b->file.length;

    memset(&b->index, 0, sizeof b->index);
    add_chunk(b, &chunk, index.bytes, index.length);
    rp_buffer_u64(&b->file, offset);
    rp_buffer_put(&b->file, rp_index_magic, sizeof rp_index_magic);
    rp_buffer_free(&index);
}

static void build(struct rp_view in, struct built *b)
{
    uint8_t flags = rp_view_byte(&in);

    rp_format_put_header(&b->file, flags & 2 ? RP_LOG_OF_ROWS : 0, RUN, RANK, RANKS);
    while (in.at < in.end && !in.failed) {
        struct rp_chunk chunk = {.kind = rp_view_byte(&in) % 8, .items = rp_view_byte(&in)};
        size_t length = rp_view_byte(&in);
        length = length < (size_t)(in.end - in.at) ? length : (size_t)(in.end - in.at);
        chunk.flags = chunk.kind > 5;
        if (chunk.kind == RP_CHUNK_EVENTS_KIND)
            add_events(b, &chunk, in.at, length);
        else if (chunk.kind == RP_CHUNK_ROWS && flags & 2)
            add_rows(b, &chunk, in.at, length);
        else
            add_chunk(b, &chunk, in.at, length);
        in.at += length;
    }
    if (flags & 1)
        add_index(b);
}

static void prepare(const uint8_t *bytes, size_t length)
{
    struct built b = {0};

    if (bytes[0] % 3 == 2) {
        build(rp_view_of(bytes + 1, length - 1), &b);
    } else {
        rp_buffer_put(&b.file, bytes + 1, length - 1);
        if (bytes[0] % 3 == 1)
            make_right(b.file.bytes, b.file.length);
    }
    fuzz_write("rank-00001.log", b.file.bytes, b.file.length);
    rp_buffer_free(&b.file);
    rp_buffer_free(&b.index);
}

/* A ring with one event, for logs without an end. */
static void make_ring(void)
{
    static uint8_t ring[4096 + 8 * 32] = "\x89RPRRNG\n\x01";

    if (ring[12])
        return;
    ring[12] = 8;
    ring[16] = RUN;
    ring[24] = RANK;
    ring[64] = 1;
    ring[4096] = 1;
    set_u32(ring + 60, rp_crc32c(ring, 60));
    fuzz_write("rank-00001.0.ring", ring, sizeof ring);
}

static void check_rows(const struct rp_row_chunk *chunk)
{
    for (size_t i = 0; i < chunk->cdc.table_count; i++)
        for (size_t k = 0; k < chunk->cdc.tables[i].epoch_count; k++)
            FUZZ_CHECK(chunk->cdc.tables[i].epoch[k].rank >= 0 &&
                       chunk->cdc.tables[i].epoch[k].rank < RANKS);
}

static void read_rows(struct rp_log *log)
{
    struct rp_problem why = {""};
    struct rp_log_sum sum;
    struct rp_row_chunk chunk;
    bool found = false;
    enum rp_status status;

    while ((status = rp_log_next_rows(log, &chunk, &found, &why)) == RP_OK && found) {
        check_rows(&chunk);
        rp_row_chunk_free(&chunk);
    }
    fuzz_check_status(status, &why);
    enum rp_status verified = rp_log_verify(log, &sum, &why);
    fuzz_check_status(verified, &why);
    FUZZ_CHECK(verified != RP_OK || status == RP_OK);
}

static void read_all(struct rp_log *log)
{
    static struct rp_event events[RP_CHUNK_EVENTS_LIMIT];
    struct rp_problem why = {""};
    struct rp_log_sum sum;
    uint64_t total = 0;
    size_t count = 0;
    enum rp_status status;

    while ((status = rp_log_next_block(log, events, &count, &why)) == RP_OK && count > 0) {
        for (size_t i = 0; i < count; i++)
            FUZZ_CHECK(rp_event_is_valid(&events[i]) &&
                       events[i].site < rp_log_site_table(log)->site_count);
        total += count;
    }
    fuzz_check_status(status, &why);
    enum rp_status verified = rp_log_verify(log, &sum, &why);
    fuzz_check_status(verified, &why);
    if (verified == RP_OK)
        FUZZ_CHECK(status == RP_OK && total == sum.events && total == rp_log_event_count(log));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct rp_log *log;
    struct rp_problem why = {""};

    if (length == 0)
        return 0;
    make_ring();
    prepare(bytes, length);
    enum rp_status status = rp_log_open(fuzz_directory(), RUN, RANK, RANKS, &log, &why);
    fuzz_check_status(status, &why);
    if (status != RP_OK)
        return 0;
    if (rp_log_has_rows(log))
        read_rows(log);
    else
        read_all(log);
    rp_log_free(log);
    return 0;
}
