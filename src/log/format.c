/* SPDX-License-Identifier: MIT */
#include "log/format.h"

#include <string.h>

#include "base/crc32c.h"
#include "event/event.h"

const uint8_t rp_log_magic[8] = {0x89, 'R', 'P', 'R', 'L', 'O', 'G', '\n'};
const uint8_t rp_index_magic[8] = {'R', 'P', 'R', 'I', 'N', 'D', 'E', 'X'};

static const uint8_t chunk_magic[4] = {'R', 'P', 'C', 'K'};

/* Appends the CRC of what was put since `start`. */
static void put_crc(struct rp_buffer *out, size_t start)
{
    if (!out->failed)
        rp_buffer_u32(out, rp_crc32c(out->bytes + start, out->length - start));
}

void rp_format_put_header(struct rp_buffer *out, uint64_t run, uint32_t rank, uint32_t ranks)
{
    static const uint8_t zero[28];
    size_t start = out->length;

    rp_buffer_put(out, rp_log_magic, sizeof rp_log_magic);
    rp_buffer_u16(out, RP_LOG_MAJOR);
    rp_buffer_u16(out, RP_LOG_MINOR);
    rp_buffer_u32(out, 0);
    rp_buffer_u64(out, run);
    rp_buffer_u32(out, rank);
    rp_buffer_u32(out, ranks);
    rp_buffer_put(out, zero, sizeof zero);
    put_crc(out, start);
}

void rp_format_put_chunk(struct rp_buffer *out, const struct rp_chunk *chunk)
{
    size_t start = out->length;

    rp_buffer_put(out, chunk_magic, sizeof chunk_magic);
    rp_buffer_u16(out, chunk->kind);
    rp_buffer_u16(out, chunk->flags);
    rp_buffer_u32(out, chunk->stream);
    rp_buffer_u16(out, chunk->codec);
    rp_buffer_u16(out, 0);
    rp_buffer_u32(out, chunk->items);
    rp_buffer_u32(out, chunk->raw);
    rp_buffer_u32(out, chunk->stored);
    rp_buffer_u32(out, 0);
    rp_buffer_u64(out, chunk->first);
    rp_buffer_u32(out, chunk->crc);
    put_crc(out, start);
}

bool rp_format_get_chunk(const uint8_t bytes[RP_CHUNK_HEADER], struct rp_chunk *chunk)
{
    if (memcmp(bytes, chunk_magic, sizeof chunk_magic) != 0 ||
        rp_load_u32(bytes + 44) != rp_crc32c(bytes, 44))
        return false;
    chunk->kind = rp_load_u16(bytes + 4);
    chunk->flags = rp_load_u16(bytes + 6);
    chunk->stream = rp_load_u32(bytes + 8);
    chunk->codec = rp_load_u16(bytes + 12);
    chunk->items = rp_load_u32(bytes + 16);
    chunk->raw = rp_load_u32(bytes + 20);
    chunk->stored = rp_load_u32(bytes + 24);
    chunk->first = rp_load_u64(bytes + 32);
    chunk->crc = rp_load_u32(bytes + 40);
    return true;
}

void rp_format_put_late(struct rp_buffer *out, const struct rp_late *late)
{
    rp_buffer_varint(out, late->post);
    rp_buffer_byte(out, (uint8_t)late->kind);
    rp_buffer_svarint(out, late->source);
    rp_buffer_svarint(out, late->tag);
}

struct rp_late rp_format_get_late(struct rp_view *in)
{
    struct rp_late late = {0};

    late.post = rp_view_varint(in);
    late.kind = rp_view_byte(in);
    int64_t source = rp_view_svarint(in), tag = rp_view_svarint(in);
    late.source = (int32_t)source;
    late.tag = (int32_t)tag;
    in->failed |= !rp_event_has_post(late.kind) || late.source != source || late.tag != tag;
    return late;
}
