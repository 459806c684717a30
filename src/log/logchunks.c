/* SPDX-License-Identifier: MIT */
/*
 * A log that was closed has an index at its end and is opened from it. Any other is walked from
 * header to header. What the file's end cuts off was never acknowledged by the writer, and the ring
 * still has it; a bad header or CRC elsewhere is damage, and is never skipped.
 */
#include "log/logchunks.h"

#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"

enum rp_status rp_log_damaged(const struct rp_log *log, uint64_t offset, const char *what,
                              struct rp_problem *why)
{
    return rp_fail(why, RP_DAMAGED, "rank %u: %s: at byte %llu: %s", log->rank, log->path,
                   U64(offset), what);
}

enum rp_status rp_log_no_memory(const struct rp_log *log, struct rp_problem *why)
{
    return rp_fail(why, RP_MEMORY, "rank %u: %s: out of memory", log->rank, log->path);
}

static enum rp_status read_at(struct rp_log *log, void *bytes, size_t length, uint64_t offset,
                              struct rp_problem *why)
{
    int error = rp_reopen_read(&log->file, bytes, length, (off_t)offset);

    if (error == 0)
        return RP_OK;
    if (error < 0)
        return rp_log_damaged(log, log->length, "the file ends inside something", why);
    return rp_fail(why, RP_SYSTEM, "rank %u: %s: cannot read: %s", log->rank, log->path,
                   strerror(error));
}

/* Header */

enum rp_status rp_log_check_header(struct rp_log *log, struct rp_problem *why)
{
    uint8_t h[RP_LOG_HEADER];

    if (log->length < RP_LOG_HEADER)
        return rp_log_damaged(log, log->length, "the file ends inside its header", why);
    enum rp_status status = read_at(log, h, sizeof h, 0, why);
    if (status != RP_OK)
        return status;
    if (memcmp(h, rp_log_magic, sizeof rp_log_magic) != 0)
        return rp_log_damaged(log, 0, "not the log of a rank", why);
    uint32_t major = rp_load_u16(h + 8), minor = rp_load_u16(h + 10),
             features = rp_load_u32(h + 12);
    if (major > RP_LOG_MAJOR)
        return rp_fail(why, RP_DAMAGED,
                       "rank %u: %s: format %u.%u is newer than this reprise reads (%d.x): use a "
                       "newer reprise",
                       log->rank, log->path, major, minor, RP_LOG_MAJOR);
    if (rp_load_u32(h + 60) != rp_crc32c(h, 60))
        return rp_log_damaged(log, 0, "the header's checksum is wrong", why);
    if (features & ~(uint32_t)(RP_LOG_OF_ROWS | RP_LOG_CALLERS))
        return rp_fail(why, RP_DAMAGED,
                       "rank %u: %s: needs feature bits %#x, which this reprise does not know",
                       log->rank, log->path, features);
    if (rp_load_u64(h + 16) != log->run || rp_load_u32(h + 24) != log->rank ||
        rp_load_u32(h + 28) != log->ranks)
        return rp_fail(why, RP_DAMAGED,
                       "rank %u: %s: belongs to another run or rank (rank %u of %u)", log->rank,
                       log->path, rp_load_u32(h + 24), rp_load_u32(h + 28));
    log->of_rows = features & RP_LOG_OF_ROWS;
    return RP_OK;
}

/* Chunks */

static bool kind_is_known(uint8_t kind)
{
    return kind >= RP_CHUNK_EVENTS_KIND && kind <= RP_CHUNK_TIMES;
}

static const char *rows_fault(const struct rp_log *log, const struct rp_chunk *chunk)
{
    if (!log->of_rows)
        return "rows in a log of events";
    if (chunk->items > RP_CHUNK_ROWS_LIMIT)
        return "a chunk with too many rows";
    return rp_row_codec_by_id(chunk->codec) ? NULL : "a codec that this reprise does not know";
}

static const char *chunk_fault(const struct rp_log *log, const struct rp_chunk *chunk)
{
    if (!kind_is_known(chunk->kind))
        return chunk->flags & RP_CHUNK_OPTIONAL
                   ? NULL
                   : "a chunk of an unknown kind that may not be skipped";
    if (chunk->stored > RP_CHUNK_BYTES_LIMIT)
        return "a chunk that is too large";
    if (chunk->kind == RP_CHUNK_ROWS)
        return rows_fault(log, chunk);
    if (chunk->kind == RP_CHUNK_EVENTS_KIND &&
        (chunk->items == 0 || chunk->items > RP_CHUNK_EVENTS_LIMIT))
        return "a chunk with too many events, or none";
    if (chunk->kind == RP_CHUNK_EVENTS_KIND && !rp_codec_by_id(chunk->codec))
        return "a codec that this reprise does not know";
    if (chunk->kind != RP_CHUNK_EVENTS_KIND && chunk->codec != 0)
        return "a codec where there is none";
    if (chunk->kind == RP_CHUNK_TIMES && (chunk->items > RP_CHUNK_EVENTS_LIMIT || log->of_rows))
        return "times of events that there are not";
    return NULL;
}

static enum rp_status read_chunk_header(struct rp_log *log, uint64_t offset,
                                        const struct rp_chunk_place *place, struct rp_chunk *chunk,
                                        struct rp_problem *why)
{
    uint8_t bytes[RP_CHUNK_HEADER];
    enum rp_status status = read_at(log, bytes, sizeof bytes, offset, why);

    if (status != RP_OK)
        return status;
    if (!rp_format_get_chunk(bytes, place, chunk))
        return rp_log_damaged(log, offset,
                              "not the chunk that belongs here, or its header's checksum is wrong",
                              why);
    const char *fault = chunk_fault(log, chunk);
    if (fault)
        return rp_log_damaged(log, offset, fault, why);
    chunk->offset = offset;
    return RP_OK;
}

/* The payload, in log->payload. */
enum rp_status rp_log_read_payload(struct rp_log *log, const struct rp_chunk *chunk,
                                   struct rp_problem *why)
{
    uint64_t start = chunk->offset + RP_CHUNK_HEADER;

    rp_buffer_clear(&log->payload);
    if (!rp_buffer_reserve(&log->payload, (size_t)chunk->stored + 1))
        return rp_log_no_memory(log, why);
    enum rp_status status = read_at(log, log->payload.bytes, chunk->stored, start, why);
    if (status != RP_OK)
        return status;
    log->payload.length = chunk->stored;
    if (rp_crc32c(log->payload.bytes, chunk->stored) != chunk->crc)
        return rp_log_damaged(log, chunk->offset, "a chunk's checksum is wrong", why);
    return RP_OK;
}

static enum rp_status add_chunk(struct rp_log *log, const struct rp_chunk *chunk,
                                struct rp_problem *why)
{
    if (log->chunk_count == log->chunk_room) {
        size_t room = log->chunk_room ? log->chunk_room * 2 : 64;
        struct rp_chunk *more = realloc(log->chunks, room * sizeof *more);
        if (!more)
            return rp_log_no_memory(log, why);
        log->chunks = more;
        log->chunk_room = room;
    }
    rp_format_pass(chunk, &log->held);
    log->chunks[log->chunk_count++] = *chunk;
    return RP_OK;
}

enum rp_status rp_log_scan_chunks(struct rp_log *log, struct rp_problem *why)
{
    uint64_t offset = RP_LOG_HEADER;

    while (offset + RP_CHUNK_HEADER <= log->length) {
        struct rp_chunk chunk;
        enum rp_status status = read_chunk_header(log, offset, &log->held, &chunk, why);
        if (status != RP_OK)
            return status;
        uint64_t next = offset + RP_CHUNK_HEADER + chunk.stored;
        if (next > log->length)
            break;
        status = add_chunk(log, &chunk, why);
        if (status != RP_OK)
            return status;
        offset = next;
    }
    return RP_OK;
}

static enum rp_status read_index_entries(struct rp_log *log, const struct rp_chunk *index,
                                         struct rp_problem *why)
{
    struct rp_view in = rp_view_of(log->payload.bytes, log->payload.length);
    uint64_t offset = RP_LOG_HEADER;

    for (uint32_t i = 0; i < index->items; i++) {
        struct rp_chunk chunk = {0};
        chunk.kind = rp_view_byte(&in);
        chunk.items = (uint32_t)rp_view_varint(&in);
        chunk.stored = (uint32_t)rp_view_varint(&in);
        chunk.first = rp_format_first(chunk.kind, &log->held);
        chunk.offset = offset;
        if (in.failed || offset >= index->offset || chunk.stored > index->offset)
            return rp_log_damaged(log, index->offset, "the index is not well formed", why);
        offset += RP_CHUNK_HEADER + chunk.stored;
        enum rp_status status = add_chunk(log, &chunk, why);
        if (status != RP_OK)
            return status;
    }
    if (in.at != in.end || offset != index->offset)
        return rp_log_damaged(log, index->offset, "the index does not cover the file", why);
    return RP_OK;
}

/* *found says whether there is a trailer. */
enum rp_status rp_log_read_index(struct rp_log *log, bool *found, struct rp_problem *why)
{
    uint8_t trailer[RP_LOG_TRAILER];
    struct rp_chunk index;

    *found = false;
    if (log->length < RP_LOG_HEADER + RP_CHUNK_HEADER + RP_LOG_TRAILER)
        return RP_OK;
    enum rp_status status =
        read_at(log, trailer, sizeof trailer, log->length - sizeof trailer, why);
    if (status != RP_OK || memcmp(trailer + 8, rp_index_magic, sizeof rp_index_magic) != 0)
        return status;
    *found = true;
    uint64_t offset = rp_load_u64(trailer);
    if (offset < RP_LOG_HEADER || offset > log->length - RP_CHUNK_HEADER - RP_LOG_TRAILER)
        return rp_log_damaged(log, log->length - RP_LOG_TRAILER,
                              "the trailer points outside the file", why);
    status = read_chunk_header(log, offset, &log->held, &index, why);
    if (status == RP_OK &&
        (index.kind != RP_CHUNK_INDEX ||
         offset + RP_CHUNK_HEADER + index.stored + RP_LOG_TRAILER != log->length))
        return rp_log_damaged(log, offset, "the trailer does not point at the index", why);
    if (status == RP_OK)
        status = rp_log_read_payload(log, &index, why);
    if (status == RP_OK)
        status = read_index_entries(log, &index, why);
    return status;
}

/* The full header of a chunk that the index names. */
enum rp_status rp_log_confirm_chunk(struct rp_log *log, struct rp_chunk *chunk,
                                    struct rp_problem *why)
{
    struct rp_chunk_place place = {chunk->first, chunk->first, chunk->first};
    struct rp_chunk real;
    enum rp_status status = read_chunk_header(log, chunk->offset, &place, &real, why);

    if (status != RP_OK)
        return status;
    if (real.kind != chunk->kind || real.items != chunk->items || real.stored != chunk->stored)
        return rp_log_damaged(log, chunk->offset, "a chunk that is not what the index says", why);
    *chunk = real;
    return RP_OK;
}

enum rp_status rp_log_read_rows_head(struct rp_log *log, struct rp_chunk *chunk,
                                     struct rp_rows_head *head, struct rp_view *rest,
                                     struct rp_problem *why)
{
    enum rp_status status = rp_log_confirm_chunk(log, chunk, why);

    if (status == RP_OK)
        status = rp_log_read_payload(log, chunk, why);
    if (status != RP_OK)
        return status;
    *rest = rp_view_of(log->payload.bytes, log->payload.length);
    *head = rp_format_get_rows(rest);
    return rest->failed ? rp_log_damaged(log, chunk->offset, "rows without a beginning", why)
                        : RP_OK;
}

/* The state that the chunk is to be decoded with. */
static enum rp_status prepare_decoder(struct rp_log *log, const struct rp_chunk *chunk,
                                      struct rp_problem *why)
{
    const struct rp_codec *codec = rp_codec_by_id(chunk->codec);

    if (chunk->flags & RP_CHUNK_CONTINUES)
        return log->goes_on && log->codec == codec
                   ? RP_OK
                   : rp_log_damaged(log, chunk->offset,
                                    "a chunk that continues another, which is not there", why);
    if (log->codec != codec) {
        if (log->decoder)
            log->codec->close(log->decoder);
        log->codec = codec;
        log->decoder = codec->open();
    }
    if (!log->decoder)
        return rp_log_no_memory(log, why);
    codec->reset(log->decoder);
    return RP_OK;
}

enum rp_status rp_log_decode_chunk(struct rp_log *log, struct rp_chunk *chunk,
                                   struct rp_event *events, struct rp_problem *why)
{
    struct rp_problem inner;
    enum rp_status status = rp_log_confirm_chunk(log, chunk, why);

    if (status == RP_OK)
        status = rp_log_read_payload(log, chunk, why);
    if (status == RP_OK)
        status = prepare_decoder(log, chunk, why);
    log->goes_on = false;
    if (status != RP_OK)
        return status;
    status = log->codec->decode(log->decoder, log->payload.bytes, log->payload.length, chunk->items,
                                events, &inner);
    log->goes_on = status == RP_OK;
    if (status == RP_DAMAGED)
        return rp_log_damaged(log, chunk->offset, inner.text, why);
    return status == RP_OK ? RP_OK : rp_log_no_memory(log, why);
}
