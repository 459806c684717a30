/* SPDX-License-Identifier: MIT */
#include "log/format.h"

#include <string.h>

#include "base/crc32c.h"
#include "event/event.h"

const uint8_t rp_log_magic[8] = {0x89, 'R', 'P', 'R', 'L', 'O', 'G', '\n'};
const uint8_t rp_index_magic[8] = {'R', 'P', 'R', 'I', 'N', 'D', 'E', 'X'};

static const uint8_t chunk_magic[2] = {'R', 'K'};

/* Appends the CRC of what was put since `start`. */
static void put_crc(struct rp_buffer *out, size_t start)
{
    if (!out->failed)
        rp_buffer_u32(out, rp_crc32c(out->bytes + start, out->length - start));
}

void rp_format_put_header(struct rp_buffer *out, uint32_t features, uint64_t run, uint32_t rank,
                          uint32_t ranks)
{
    static const uint8_t zero[28];
    size_t start = out->length;

    rp_buffer_put(out, rp_log_magic, sizeof rp_log_magic);
    rp_buffer_u16(out, RP_LOG_MAJOR);
    rp_buffer_u16(out, RP_LOG_MINOR);
    rp_buffer_u32(out, features);
    rp_buffer_u64(out, run);
    rp_buffer_u32(out, rank);
    rp_buffer_u32(out, ranks);
    rp_buffer_put(out, zero, sizeof zero);
    put_crc(out, start);
}

/* Of a chunk's header: what is stored, and the number of the first item. */
static uint32_t chunk_crc(const uint8_t *bytes, uint64_t first)
{
    uint8_t covered[RP_CHUNK_HEADER - 4 + 8];

    memcpy(covered, bytes, RP_CHUNK_HEADER - 4);
    for (int i = 0; i < 8; i++)
        covered[RP_CHUNK_HEADER - 4 + i] = (uint8_t)(first >> 8 * i);
    return rp_crc32c(covered, sizeof covered);
}

void rp_format_put_chunk(struct rp_buffer *out, const struct rp_chunk *chunk)
{
    size_t start = out->length;

    rp_buffer_put(out, chunk_magic, sizeof chunk_magic);
    rp_buffer_byte(out, chunk->kind);
    rp_buffer_byte(out, chunk->codec);
    rp_buffer_u16(out, chunk->flags);
    rp_buffer_u16(out, 0);
    rp_buffer_u32(out, chunk->items);
    rp_buffer_u32(out, chunk->stored);
    rp_buffer_u32(out, chunk->crc);
    if (!out->failed)
        rp_buffer_u32(out, chunk_crc(out->bytes + start, chunk->first));
}

bool rp_format_get_chunk(const uint8_t bytes[RP_CHUNK_HEADER], const struct rp_chunk_place *place,
                         struct rp_chunk *chunk)
{
    uint64_t first = rp_format_first(bytes[2], place);

    if (memcmp(bytes, chunk_magic, sizeof chunk_magic) != 0 ||
        rp_load_u32(bytes + 20) != chunk_crc(bytes, first))
        return false;
    chunk->kind = bytes[2];
    chunk->codec = bytes[3];
    chunk->flags = rp_load_u16(bytes + 4);
    chunk->items = rp_load_u32(bytes + 8);
    chunk->stored = rp_load_u32(bytes + 12);
    chunk->crc = rp_load_u32(bytes + 16);
    chunk->first = first;
    return true;
}

uint64_t rp_format_first(uint8_t kind, const struct rp_chunk_place *place)
{
    switch (kind) {
    case RP_CHUNK_EVENTS_KIND:
    case RP_CHUNK_LATE:
        return place->events;
    case RP_CHUNK_SITES:
        return place->sites;
    case RP_CHUNK_ROWS:
        return place->rows;
    default:
        return 0;
    }
}

void rp_format_pass(const struct rp_chunk *chunk, struct rp_chunk_place *place)
{
    if (chunk->kind == RP_CHUNK_EVENTS_KIND)
        place->events += chunk->items;
    if (chunk->kind == RP_CHUNK_SITES)
        place->sites += chunk->items;
    if (chunk->kind == RP_CHUNK_ROWS)
        place->rows += chunk->items;
}

void rp_format_put_rows(struct rp_buffer *out, const struct rp_rows_head *head)
{
    rp_buffer_varint(out, head->events);
    rp_buffer_varint(out, head->raw);
}

struct rp_rows_head rp_format_get_rows(struct rp_view *in)
{
    struct rp_rows_head head;

    head.events = rp_view_varint(in);
    head.raw = rp_view_varint(in);
    return head;
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

void rp_format_put_time(struct rp_buffer *out, uint64_t time, uint64_t *last)
{
    rp_buffer_varint(out, time - *last);
    *last = time;
}

bool rp_format_get_times(struct rp_view *in, uint64_t *times, size_t count)
{
    uint64_t last = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t more = rp_view_varint(in);
        if (more > UINT64_MAX - last)
            return false;
        times[i] = last += more;
    }
    return !in->failed && in->at == in->end;
}
