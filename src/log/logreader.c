/* SPDX-License-Identifier: MIT */
/*
 * A log that was closed has an index at its end and is opened from it. Any other is walked from
 * header to header. What the file's end cuts off was never acknowledged by the writer, and the ring
 * still has it; a bad header or CRC elsewhere is damage, and is never skipped.
 */
#include "log/logreader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/reopen_file.h"
#include "event/ring.h"
#include "log/logwriter.h"

struct rp_log {
    struct rp_reopen file;
    char *path, *directory;
    uint64_t run;
    uint32_t rank, ranks;
    uint64_t length; /* of the file */
    struct rp_chunk *chunks;
    size_t chunk_count, chunk_room;
    struct rp_site_table sites;
    bool of_rows;
    bool ended, indexed;
    struct rp_log_end end;
    struct rp_chunk_place held; /* in chunks */
    struct rp_ring_rest rest;
    size_t next_chunk; /* of rp_log_next_block */
    size_t next_rest;
    uint64_t next_event;
    struct rp_buffer payload;
    const struct rp_codec *codec; /* of the chunk before */
    void *decoder;                /* its state */
    bool goes_on;                 /* the next chunk may continue from it */
    struct rp_buffer scratch;     /* of codecs of rows */
    bool rest_is_read;            /* of rp_log_next_rows */
    uint64_t *times;              /* of the block that was given last; NULL: there are none */
};

#define U64(x) ((unsigned long long)(x))

static enum rp_status damaged(const struct rp_log *log, uint64_t offset, const char *what,
                              struct rp_problem *why)
{
    return rp_fail(why, RP_DAMAGED, "rank %u: %s: at byte %llu: %s", log->rank, log->path,
                   U64(offset), what);
}

static enum rp_status decode_chunk(struct rp_log *log, struct rp_chunk *chunk,
                                   struct rp_event *events, struct rp_problem *why);

static enum rp_status no_memory(const struct rp_log *log, struct rp_problem *why)
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
        return damaged(log, log->length, "the file ends inside something", why);
    return rp_fail(why, RP_SYSTEM, "rank %u: %s: cannot read: %s", log->rank, log->path,
                   strerror(error));
}

/* Header */

static enum rp_status check_header(struct rp_log *log, struct rp_problem *why)
{
    uint8_t h[RP_LOG_HEADER];

    if (log->length < RP_LOG_HEADER)
        return damaged(log, log->length, "the file ends inside its header", why);
    enum rp_status status = read_at(log, h, sizeof h, 0, why);
    if (status != RP_OK)
        return status;
    if (memcmp(h, rp_log_magic, sizeof rp_log_magic) != 0)
        return damaged(log, 0, "not the log of a rank", why);
    uint32_t major = rp_load_u16(h + 8), minor = rp_load_u16(h + 10),
             features = rp_load_u32(h + 12);
    if (major > RP_LOG_MAJOR)
        return rp_fail(why, RP_DAMAGED,
                       "rank %u: %s: format %u.%u is newer than this reprise reads (%d.x): use a "
                       "newer reprise",
                       log->rank, log->path, major, minor, RP_LOG_MAJOR);
    if (rp_load_u32(h + 60) != rp_crc32c(h, 60))
        return damaged(log, 0, "the header's checksum is wrong", why);
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
        return damaged(log, offset,
                       "not the chunk that belongs here, or its header's checksum is wrong", why);
    const char *fault = chunk_fault(log, chunk);
    if (fault)
        return damaged(log, offset, fault, why);
    chunk->offset = offset;
    return RP_OK;
}

/* The payload, in log->payload. */
static enum rp_status read_payload(struct rp_log *log, const struct rp_chunk *chunk,
                                   struct rp_problem *why)
{
    uint64_t start = chunk->offset + RP_CHUNK_HEADER;

    rp_buffer_clear(&log->payload);
    if (!rp_buffer_reserve(&log->payload, (size_t)chunk->stored + 1))
        return no_memory(log, why);
    enum rp_status status = read_at(log, log->payload.bytes, chunk->stored, start, why);
    if (status != RP_OK)
        return status;
    log->payload.length = chunk->stored;
    if (rp_crc32c(log->payload.bytes, chunk->stored) != chunk->crc)
        return damaged(log, chunk->offset, "a chunk's checksum is wrong", why);
    return RP_OK;
}

static enum rp_status add_chunk(struct rp_log *log, const struct rp_chunk *chunk,
                                struct rp_problem *why)
{
    if (log->chunk_count == log->chunk_room) {
        size_t room = log->chunk_room ? log->chunk_room * 2 : 64;
        struct rp_chunk *more = realloc(log->chunks, room * sizeof *more);
        if (!more)
            return no_memory(log, why);
        log->chunks = more;
        log->chunk_room = room;
    }
    rp_format_pass(chunk, &log->held);
    log->chunks[log->chunk_count++] = *chunk;
    return RP_OK;
}

static enum rp_status scan_chunks(struct rp_log *log, struct rp_problem *why)
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
            return damaged(log, index->offset, "the index is not well formed", why);
        offset += RP_CHUNK_HEADER + chunk.stored;
        enum rp_status status = add_chunk(log, &chunk, why);
        if (status != RP_OK)
            return status;
    }
    if (in.at != in.end || offset != index->offset)
        return damaged(log, index->offset, "the index does not cover the file", why);
    return RP_OK;
}

/* *found says whether there is a trailer. */
static enum rp_status read_index(struct rp_log *log, bool *found, struct rp_problem *why)
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
        return damaged(log, log->length - RP_LOG_TRAILER, "the trailer points outside the file",
                       why);
    status = read_chunk_header(log, offset, &log->held, &index, why);
    if (status == RP_OK &&
        (index.kind != RP_CHUNK_INDEX ||
         offset + RP_CHUNK_HEADER + index.stored + RP_LOG_TRAILER != log->length))
        return damaged(log, offset, "the trailer does not point at the index", why);
    if (status == RP_OK)
        status = read_payload(log, &index, why);
    if (status == RP_OK)
        status = read_index_entries(log, &index, why);
    return status;
}

/* The full header of a chunk that the index told of. */
static enum rp_status confirm_chunk(struct rp_log *log, struct rp_chunk *chunk,
                                    struct rp_problem *why)
{
    struct rp_chunk_place place = {chunk->first, chunk->first, chunk->first};
    struct rp_chunk real;
    enum rp_status status = read_chunk_header(log, chunk->offset, &place, &real, why);

    if (status != RP_OK)
        return status;
    if (real.kind != chunk->kind || real.items != chunk->items || real.stored != chunk->stored)
        return damaged(log, chunk->offset, "a chunk that is not what the index says", why);
    *chunk = real;
    return RP_OK;
}

/* What is read at once: sites, end, ring */

static enum rp_status read_end(struct rp_log *log, const struct rp_chunk *chunk,
                               struct rp_problem *why)
{
    struct rp_view in = rp_view_of(log->payload.bytes, log->payload.length);

    log->end.reason = rp_view_byte(&in);
    log->end.code = rp_view_svarint(&in);
    log->end.events = rp_view_u64(&in);
    log->end.receives = rp_view_u64(&in);
    log->end.digest = rp_view_u64(&in);
    if (in.failed || in.at != in.end || log->end.reason > RP_END_STOPPED ||
        (!log->of_rows && log->end.events != log->held.events))
        return damaged(log, chunk->offset, "the END chunk does not fit this log", why);
    log->ended = true;
    return RP_OK;
}

static enum rp_status read_small_chunk(struct rp_log *log, struct rp_chunk *chunk,
                                       struct rp_problem *why)
{
    enum rp_status status = confirm_chunk(log, chunk, why);

    if (status == RP_OK)
        status = read_payload(log, chunk, why);
    if (status != RP_OK)
        return status;
    if (chunk->kind == RP_CHUNK_END)
        return read_end(log, chunk, why);
    if (chunk->first != log->sites.site_count ||
        !rp_site_read(&log->sites, log->payload.bytes, log->payload.length, chunk->items))
        return log->sites.starved
                   ? no_memory(log, why)
                   : damaged(log, chunk->offset, "the call sites are not well formed", why);
    return RP_OK;
}

static enum rp_status read_small_chunks(struct rp_log *log, struct rp_problem *why)
{
    for (size_t i = 0; i < log->chunk_count; i++) {
        uint16_t kind = log->chunks[i].kind;
        if (kind != RP_CHUNK_SITES && kind != RP_CHUNK_END)
            continue;
        enum rp_status status = read_small_chunk(log, &log->chunks[i], why);
        if (status != RP_OK)
            return status;
    }
    return RP_OK;
}

/* The head of a ROWS chunk; the payload behind it is in *rest. */
static enum rp_status read_rows_head(struct rp_log *log, struct rp_chunk *chunk,
                                     struct rp_rows_head *head, struct rp_view *rest,
                                     struct rp_problem *why)
{
    enum rp_status status = confirm_chunk(log, chunk, why);

    if (status == RP_OK)
        status = read_payload(log, chunk, why);
    if (status != RP_OK)
        return status;
    *rest = rp_view_of(log->payload.bytes, log->payload.length);
    *head = rp_format_get_rows(rest);
    return rest->failed ? damaged(log, chunk->offset, "rows without a beginning", why) : RP_OK;
}

/* Events that are in no rows: those of the EVENTS chunks behind the last rows. */
static enum rp_status read_parts(struct rp_log *log, size_t from, struct rp_ring_rest *parts,
                                 struct rp_problem *why)
{
    uint64_t total = 0;

    for (size_t i = from; i < log->chunk_count; i++)
        total += log->chunks[i].kind == RP_CHUNK_EVENTS_KIND ? log->chunks[i].items : 0;
    *parts = (struct rp_ring_rest){0};
    if (total == 0)
        return RP_OK;
    parts->events = malloc(total * sizeof *parts->events);
    enum rp_status status = parts->events ? RP_OK : no_memory(log, why);
    for (size_t i = from; i < log->chunk_count && status == RP_OK; i++) {
        if (log->chunks[i].kind != RP_CHUNK_EVENTS_KIND)
            continue;
        status = decode_chunk(log, &log->chunks[i], parts->events + parts->count, why);
        parts->count += log->chunks[i].items;
    }
    if (status != RP_OK)
        free(parts->events);
    return status;
}

/* How many events the rows cover, and those behind them that are in chunks. */
static enum rp_status read_covered(struct rp_log *log, uint64_t *covered,
                                   struct rp_ring_rest *parts, struct rp_problem *why)
{
    size_t last = log->chunk_count;
    struct rp_rows_head head = {0, 0};
    struct rp_view rest;
    enum rp_status status = RP_OK;

    while (last > 0 && log->chunks[last - 1].kind != RP_CHUNK_ROWS)
        last--;
    if (last > 0)
        status = read_rows_head(log, &log->chunks[last - 1], &head, &rest, why);
    *covered = head.events;
    return status == RP_OK ? read_parts(log, last, parts, why) : status;
}

/* Puts them in front of what the ring held. */
static enum rp_status join_parts(struct rp_log *log, struct rp_ring_rest *parts,
                                 struct rp_problem *why)
{
    size_t count = parts->count + log->rest.count;

    if (parts->count == 0)
        return RP_OK;
    struct rp_event *all = realloc(parts->events, count * sizeof *all);
    if (!all)
        return no_memory(log, why);
    if (log->rest.count > 0)
        memcpy(all + parts->count, log->rest.events, log->rest.count * sizeof *all);
    free(log->rest.events);
    log->rest.events = all;
    log->rest.count = count;
    parts->events = NULL;
    return RP_OK;
}

static enum rp_status read_ring(struct rp_log *log, struct rp_problem *why)
{
    struct rp_ring_rest parts = {0};
    uint64_t covered = log->held.events;

    if (log->of_rows) {
        enum rp_status status = read_covered(log, &covered, &parts, why);
        if (status != RP_OK)
            return status;
    }
    char *path = rp_ring_path(log->directory, log->rank, 0);
    enum rp_status status = path ? RP_OK : no_memory(log, why);

    if (status == RP_OK && access(path, F_OK) != 0)
        status = rp_fail(
            why, RP_DAMAGED,
            "rank %u: %s is missing: the log has no end, and its last events are in that file",
            log->rank, path);
    if (status == RP_OK)
        status = rp_ring_read(path, log->run, log->rank, 0, covered + parts.count, &log->rest, why);
    if (status == RP_OK)
        status = join_parts(log, &parts, why);
    free(parts.events);
    free(path);
    log->end.reason = log->rest.stopped ? RP_END_STOPPED : RP_END_KILLED;
    log->end.code = log->rest.stopped;
    log->end.events = covered + log->rest.count;
    return status;
}

/* Opening */

static enum rp_status open_file(struct rp_log *log, struct rp_problem *why)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    struct rp_problem because;
    struct stat st;

    int error = rp_reopen_open(&log->file, log->path, O_RDONLY);
    if (error == ENOENT)
        return rp_fail(
            why, RP_DAMAGED,
            "rank %u: %s is missing: it was lost, or the rank never came out of MPI_Init",
            log->rank, log->path);
    if (error || fstat(log->file.fd, &st) != 0) {
        enum rp_status status = rp_fail_open(&because, log->path, error ? error : errno);
        return rp_fail(why, status, "rank %u: %s", log->rank, because.text);
    }
    if (fcntl(log->file.fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
        return rp_fail(why, RP_BUSY, "rank %u: %s: still being written by process %d", log->rank,
                       log->path, (int)lock.l_pid);
    log->length = (uint64_t)st.st_size;
    return RP_OK;
}

static enum rp_status load(struct rp_log *log, struct rp_problem *why)
{
    enum rp_status status = open_file(log, why);

    if (status == RP_OK)
        status = check_header(log, why);
    if (status == RP_OK)
        status = read_index(log, &log->indexed, why);
    if (status == RP_OK && !log->indexed)
        status = scan_chunks(log, why);
    if (status == RP_OK)
        status = read_small_chunks(log, why);
    if (status == RP_OK && log->indexed && !log->ended)
        status = damaged(log, log->length, "an index without an END chunk", why);
    if (status == RP_OK && !log->ended)
        status = read_ring(log, why);
    return status;
}

enum rp_status rp_log_open(const char *directory, uint64_t run, uint32_t rank, uint32_t ranks,
                           struct rp_log **out, struct rp_problem *why)
{
    struct rp_log *log = calloc(1, sizeof *log);

    if (!log)
        return rp_fail(why, RP_MEMORY, "rank %u: out of memory", rank);
    log->file.fd = -1;
    log->run = run;
    log->rank = rank;
    log->ranks = ranks;
    log->path = rp_log_path(directory, rank);
    log->directory = strdup(directory);
    enum rp_status status = RP_OK;
    if (!log->path || !log->directory || !rp_site_table_init(&log->sites))
        status = rp_fail(why, RP_MEMORY, "rank %u: out of memory", rank);
    else
        status = load(log, why);
    if (status == RP_OK)
        *out = log;
    else
        rp_log_free(log);
    return status;
}

void rp_log_free(struct rp_log *log)
{
    if (!log)
        return;
    rp_reopen_close(&log->file);
    rp_site_table_free(&log->sites);
    rp_buffer_free(&log->payload);
    rp_buffer_free(&log->scratch);
    if (log->decoder)
        log->codec->close(log->decoder);
    free(log->rest.events);
    free(log->rest.times);
    free(log->times);
    free(log->chunks);
    free(log->path);
    free(log->directory);
    free(log);
}

uint64_t rp_log_event_count(const struct rp_log *log)
{
    return log->end.events;
}

uint64_t rp_log_size(const struct rp_log *log)
{
    return log->length;
}

struct rp_log_end rp_log_end(const struct rp_log *log)
{
    return log->end;
}

const struct rp_site_table *rp_log_site_table(const struct rp_log *log)
{
    return &log->sites;
}

const char *rp_log_name(const struct rp_log *log)
{
    return log->path;
}

size_t rp_log_chunk_count(const struct rp_log *log)
{
    return log->chunk_count;
}

const struct rp_chunk *rp_log_chunk(const struct rp_log *log, size_t index)
{
    return &log->chunks[index];
}

struct rp_log_id rp_log_id(const struct rp_log *log)
{
    return (struct rp_log_id){log->run, log->rank, log->ranks};
}

enum rp_status rp_log_payload(struct rp_log *log, size_t index, const struct rp_buffer **payload,
                              struct rp_problem *why)
{
    enum rp_status status = confirm_chunk(log, &log->chunks[index], why);

    if (status == RP_OK)
        status = read_payload(log, &log->chunks[index], why);
    if (status == RP_OK)
        *payload = &log->payload;
    return status;
}

/* Events */

static enum rp_status check_sites(struct rp_log *log, const struct rp_event *events, size_t count,
                                  struct rp_problem *why)
{
    for (size_t i = 0; i < count; i++)
        if (events[i].site >= log->sites.site_count)
            return rp_fail(why, RP_DAMAGED, "rank %u: %s: event %llu names call site %u of %zu",
                           log->rank, log->path, U64(log->next_event + i), events[i].site,
                           log->sites.site_count);
    return RP_OK;
}

/* The state that the chunk is to be decoded with. */
static enum rp_status prepare_decoder(struct rp_log *log, const struct rp_chunk *chunk,
                                      struct rp_problem *why)
{
    const struct rp_codec *codec = rp_codec_by_id(chunk->codec);

    if (chunk->flags & RP_CHUNK_CONTINUES)
        return log->goes_on && log->codec == codec
                   ? RP_OK
                   : damaged(log, chunk->offset,
                             "a chunk that continues another, which is not there", why);
    if (log->codec != codec) {
        if (log->decoder)
            log->codec->close(log->decoder);
        log->codec = codec;
        log->decoder = codec->open();
    }
    if (!log->decoder)
        return no_memory(log, why);
    codec->reset(log->decoder);
    return RP_OK;
}

static enum rp_status decode_chunk(struct rp_log *log, struct rp_chunk *chunk,
                                   struct rp_event *events, struct rp_problem *why)
{
    struct rp_problem inner;
    enum rp_status status = confirm_chunk(log, chunk, why);

    if (status == RP_OK)
        status = read_payload(log, chunk, why);
    if (status == RP_OK)
        status = prepare_decoder(log, chunk, why);
    log->goes_on = false;
    if (status != RP_OK)
        return status;
    status = log->codec->decode(log->decoder, log->payload.bytes, log->payload.length, chunk->items,
                                events, &inner);
    log->goes_on = status == RP_OK;
    if (status == RP_DAMAGED)
        return damaged(log, chunk->offset, inner.text, why);
    return status == RP_OK ? RP_OK : no_memory(log, why);
}

/* Times */

/* The first chunk that has events. */
static size_t next_events(const struct rp_log *log, size_t at)
{
    while (at < log->chunk_count && log->chunks[at].kind != RP_CHUNK_EVENTS_KIND)
        at++;
    return at;
}

bool rp_log_is_timed(const struct rp_log *log)
{
    size_t first = next_events(log, 0);

    return first < log->chunk_count ? first > 0 && log->chunks[first - 1].kind == RP_CHUNK_TIMES
                                    : log->rest.times != NULL;
}

const uint64_t *rp_log_block_times(const struct rp_log *log)
{
    return log->times;
}

/* The TIMES chunk in front of the EVENTS chunk of that number. */
static enum rp_status read_times(struct rp_log *log, size_t events, struct rp_problem *why)
{
    struct rp_chunk *chunk = events > 0 ? &log->chunks[events - 1] : NULL;

    if (!chunk || chunk->kind != RP_CHUNK_TIMES || chunk->items != log->chunks[events].items)
        return damaged(log, log->chunks[events].offset,
                       "events without times, in a log whose events have some", why);
    enum rp_status status = confirm_chunk(log, chunk, why);
    if (status == RP_OK)
        status = read_payload(log, chunk, why);
    if (status != RP_OK)
        return status;
    struct rp_view in = rp_view_of(log->payload.bytes, log->payload.length);
    return rp_format_get_times(&in, log->times, chunk->items)
               ? RP_OK
               : damaged(log, chunk->offset, "times are not well formed", why);
}

static enum rp_status next_of_rest(struct rp_log *log, struct rp_event *events, size_t *count)
{
    size_t left = log->rest.count - log->next_rest;

    *count = left < RP_CHUNK_EVENTS_LIMIT ? left : RP_CHUNK_EVENTS_LIMIT;
    if (*count > 0)
        memcpy(events, log->rest.events + log->next_rest, *count * sizeof *events);
    if (*count > 0 && log->times && log->rest.times)
        memcpy(log->times, log->rest.times + log->next_rest, *count * sizeof *log->times);
    log->next_rest += *count;
    return RP_OK;
}

enum rp_status rp_log_next_block(struct rp_log *log, struct rp_event *events, size_t *count,
                                 struct rp_problem *why)
{
    enum rp_status status;

    if (log->of_rows)
        return rp_fail(why, RP_USAGE, "rank %u: %s: holds rows, not events", log->rank, log->path);
    if (rp_log_is_timed(log) && !log->times &&
        !(log->times = calloc(RP_CHUNK_EVENTS_LIMIT, sizeof *log->times)))
        return no_memory(log, why);
    log->next_chunk = next_events(log, log->next_chunk);
    if (log->next_chunk < log->chunk_count) {
        struct rp_chunk *chunk = &log->chunks[log->next_chunk];
        *count = chunk->items;
        status = log->times ? read_times(log, log->next_chunk, why) : RP_OK;
        log->next_chunk++;
        if (status == RP_OK)
            status = decode_chunk(log, chunk, events, why);
    } else {
        status = next_of_rest(log, events, count);
    }
    if (status == RP_OK)
        status = check_sites(log, events, *count, why);
    if (status == RP_OK)
        log->next_event += *count;
    else
        *count = 0;
    return status;
}

void rp_log_rewind(struct rp_log *log)
{
    log->next_chunk = 0;
    log->next_rest = 0;
    log->next_event = 0;
    log->goes_on = false;
    log->rest_is_read = false;
}

/* Rows */

bool rp_log_has_rows(const struct rp_log *log)
{
    return log->of_rows;
}

static enum rp_status decode_rows(struct rp_log *log, struct rp_chunk *chunk,
                                  struct rp_row_chunk *out, struct rp_problem *why)
{
    struct rp_rows_head head;
    struct rp_view rest;
    struct rp_row_sum sum;
    struct rp_problem inner;
    enum rp_status status = read_rows_head(log, chunk, &head, &rest, why);

    if (status != RP_OK)
        return status;
    status = rp_row_codec_by_id(chunk->codec)
                 ->decode(rest.at, (size_t)(rest.end - rest.at), head.raw, chunk->items,
                          &log->scratch, out, &inner);
    if (status != RP_OK)
        return status == RP_DAMAGED ? damaged(log, chunk->offset, inner.text, why)
                                    : no_memory(log, why);
    rp_row_chunk_sum(out, &sum);
    const char *fault = sum.rows != chunk->items ? "not as many rows as it says"
                        : !rp_row_chunk_fits(out, log->sites.site_count, log->ranks)
                            ? "rows of a call site or rank that there is not"
                        : head.events < log->next_event ? "rows of fewer events than those before"
                        : log->ended && head.events > log->end.events
                            ? "rows of more events than there are"
                            : NULL;
    if (fault) {
        rp_row_chunk_free(out);
        return damaged(log, chunk->offset, fault, why);
    }
    log->next_event = head.events;
    return RP_OK;
}

/* A call that was cut off did not return to the program, and has no rows. */
static enum rp_status rows_of_rest(struct rp_log *log, struct rp_row_chunk *out,
                                   struct rp_problem *why)
{
    struct rp_rows rows = {0};
    enum rp_status status = rp_rows_add(&rows, log->rest.events, log->rest.count);

    *out = (struct rp_row_chunk){0};
    if (status == RP_OK)
        status = rp_rows_finish(&rows);
    if (status == RP_OK)
        status = rp_row_tables_split(rp_rows_of(&rows), rp_rows_count(&rows), &out->tables);
    rp_rows_free(&rows);
    log->next_event += log->rest.count;
    return status == RP_OK ? RP_OK : no_memory(log, why);
}

enum rp_status rp_log_next_rows(struct rp_log *log, struct rp_row_chunk *out, bool *found,
                                struct rp_problem *why)
{
    while (log->next_chunk < log->chunk_count && log->chunks[log->next_chunk].kind != RP_CHUNK_ROWS)
        log->next_chunk++;
    *found = log->next_chunk < log->chunk_count;
    if (*found)
        return decode_rows(log, &log->chunks[log->next_chunk++], out, why);
    *found = log->rest.count > 0 && !log->rest_is_read;
    if (!*found)
        return RP_OK;
    log->rest_is_read = true;
    enum rp_status status = check_sites(log, log->rest.events, log->rest.count, why);
    return status == RP_OK ? rows_of_rest(log, out, why) : status;
}

/* Late matches */

static int by_post(const void *one, const void *other)
{
    uint64_t a = ((const struct rp_late *)one)->post, b = ((const struct rp_late *)other)->post;

    return a < b ? -1 : a > b;
}

static enum rp_status append_late_chunk(struct rp_log *log, struct rp_chunk *chunk,
                                        struct rp_late *late, struct rp_problem *why)
{
    enum rp_status status = confirm_chunk(log, chunk, why);

    if (status == RP_OK)
        status = read_payload(log, chunk, why);
    if (status != RP_OK)
        return status;
    struct rp_view in = rp_view_of(log->payload.bytes, log->payload.length);
    for (uint32_t i = 0; i < chunk->items; i++)
        late[i] = rp_format_get_late(&in);
    return in.failed || in.at != in.end
               ? damaged(log, chunk->offset, "late matches are not well formed", why)
               : RP_OK;
}

static size_t append_late_rest(const struct rp_log *log, struct rp_late *late)
{
    size_t count = 0;

    for (size_t i = 0; i < log->rest.count; i++) {
        const struct rp_event *event = &log->rest.events[i];
        if (rp_event_has_post(event->kind))
            late[count++] = (struct rp_late){event->match.post, event->kind, event->match.source,
                                             event->match.tag};
    }
    return count;
}

static size_t sort_and_unify(struct rp_late *late, size_t count)
{
    size_t kept = 0;

    qsort(late, count, sizeof *late, by_post);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || late[kept - 1].post != late[i].post)
            late[kept++] = late[i];
    return kept;
}

/* An entry takes at least 4 bytes of its chunk, so that a hostile count allocates no more than the
 * file can justify. */
static enum rp_status count_late(const struct rp_log *log, size_t *total, struct rp_problem *why)
{
    *total = log->rest.count;
    for (size_t i = 0; i < log->chunk_count; i++) {
        const struct rp_chunk *chunk = &log->chunks[i];
        if (chunk->kind != RP_CHUNK_LATE)
            continue;
        if (chunk->items > chunk->stored / 4)
            return damaged(log, chunk->offset, "more late matches than bytes", why);
        *total += chunk->items;
    }
    return RP_OK;
}

enum rp_status rp_log_late(struct rp_log *log, struct rp_late **out, size_t *count,
                           struct rp_problem *why)
{
    size_t total, used = 0;
    enum rp_status status = count_late(log, &total, why);

    if (status != RP_OK)
        return status;
    struct rp_late *late = malloc((total + 1) * sizeof *late);
    if (!late)
        return no_memory(log, why);
    for (size_t i = 0; i < log->chunk_count && status == RP_OK; i++) {
        if (log->chunks[i].kind != RP_CHUNK_LATE)
            continue;
        status = append_late_chunk(log, &log->chunks[i], late + used, why);
        used += log->chunks[i].items;
    }
    if (status != RP_OK) {
        free(late);
        return status;
    }
    used += append_late_rest(log, late + used);
    *count = sort_and_unify(late, used);
    *out = late;
    return RP_OK;
}

/* Checking */

void rp_log_sum_add(struct rp_log_sum *sum, const struct rp_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sum->receives += rp_event_receives(&events[i]);
        sum->polls += events[i].kind == RP_NO ? events[i].no.times : 0;
        sum->digest = rp_digest(sum->digest, &events[i]);
    }
    sum->events += count;
}

static enum rp_status verify_events(struct rp_log *log, struct rp_event *events,
                                    struct rp_log_sum *sum, struct rp_problem *why)
{
    size_t n;

    *sum = (struct rp_log_sum){.digest = RP_DIGEST_START};
    rp_log_rewind(log);
    do {
        enum rp_status status = rp_log_next_block(log, events, &n, why);
        if (status != RP_OK)
            return status;
        rp_log_sum_add(sum, events, n);
    } while (n > 0);
    rp_log_rewind(log);
    return RP_OK;
}

static enum rp_status verify_rows(struct rp_log *log, struct rp_log_sum *sum,
                                  struct rp_problem *why)
{
    struct rp_row_chunk chunk;
    struct rp_row_sum some;
    bool found;
    enum rp_status status;

    *sum = (struct rp_log_sum){.digest = log->ended ? log->end.digest : 0};
    rp_log_rewind(log);
    while ((status = rp_log_next_rows(log, &chunk, &found, why)) == RP_OK && found) {
        rp_row_chunk_sum(&chunk, &some);
        rp_row_chunk_free(&chunk);
        sum->receives += some.messages;
        sum->polls += some.polls;
    }
    sum->events = log->next_event;
    rp_log_rewind(log);
    if (status == RP_OK && log->ended && sum->events != log->end.events)
        return rp_fail(why, RP_DAMAGED, "rank %u: %s: rows of %llu events, its end says %llu",
                       log->rank, log->path, U64(sum->events), U64(log->end.events));
    return status;
}

enum rp_status rp_log_sum_check(const struct rp_log *log, const struct rp_log_sum *sum,
                                struct rp_problem *why)
{
    if (log->ended && sum->receives != log->end.receives)
        return rp_fail(why, RP_DAMAGED, "rank %u: %s: %llu receives, its end says %llu", log->rank,
                       log->path, U64(sum->receives), U64(log->end.receives));
    if (log->ended && sum->digest != log->end.digest)
        return rp_fail(why, RP_DAMAGED,
                       "rank %u: %s: the digest of its events is %016llx, its end says %016llx",
                       log->rank, log->path, U64(sum->digest), U64(log->end.digest));
    return RP_OK;
}

enum rp_status rp_log_verify_index(const struct rp_log *log, struct rp_problem *why)
{
    return log->ended && !log->indexed
               ? damaged(log, log->length,
                         "the index behind the END chunk is cut off, or damaged; no event is lost",
                         why)
               : RP_OK;
}

enum rp_status rp_log_verify(struct rp_log *log, struct rp_log_sum *sum, struct rp_problem *why)
{
    if (log->of_rows)
        return verify_rows(log, sum, why);
    struct rp_event *events = malloc(RP_CHUNK_EVENTS_LIMIT * sizeof *events);
    struct rp_late *late = NULL;
    size_t late_count;

    if (!events)
        return no_memory(log, why);
    enum rp_status status = verify_events(log, events, sum, why);
    free(events);
    if (status == RP_OK)
        status = rp_log_late(log, &late, &late_count, why);
    free(late);
    return status == RP_OK ? rp_log_sum_check(log, sum, why) : status;
}
