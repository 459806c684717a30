/* SPDX-License-Identifier: MIT */
/*
 * Chunks are found one after another when the log is opened; blocks are decompressed when they are
 * needed, and a few are kept: the stream is read in order, but a content may be a reference to an
 * earlier place. What no chunk holds is in the tail file.
 */
#include "log/datareader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/reopen_file.h"
#include "job/settings.h"
#include "log/manifest.h"
#include "log/zstdmemory.h"

enum { KEPT = 8, NAME_LIMIT = 128, NAMES_LIMIT = 4096 };
static const uint64_t content_limit = UINT64_C(1) << 40;

struct kept {
    uint64_t block; /* + 1; 0: none */
    uint64_t used;
    uint8_t *bytes;
};

struct rp_data_reader {
    struct rp_reopen file;
    ZSTD_DCtx *decompressor;
    char *path;
    uint32_t rank;
    const struct rp_data_kind *kind;
    enum rp_data_chunk_kind mark; /* the chunk that says which kind it is */
    bool is_tracked;
    uint64_t loads;
    uint64_t size;
    struct rp_data_chunk *chunk; /* DATA chunks */
    size_t chunks;
    uint64_t in_chunks;
    uint64_t length; /* of the stream */
    uint8_t *tail;   /* RP_DATA_BLOCK, or NULL */
    bool is_ended, has_windows, tells_handlers;
    uint64_t end_entries;
    struct rp_data_place place;
    struct kept kept[KEPT];
    uint64_t clock;
    /* reading */
    uint64_t at;
    uint64_t entries;
    char **name;
    size_t names;
    uint64_t repeats;      /* of the last entry, still to come */
    uint64_t tail_repeats; /* at the end of the stream */
    uint64_t entry_at, after_entry;
    const char *peeked; /* the entry was begun, but nobody knows */
    bool is_repeating;
    enum rp_status failed;
    struct rp_problem why;
    uint8_t *content;
    size_t content_room;
};

#define U64(n) ((unsigned long long)(n))

static void fail(struct rp_data_reader *r, enum rp_status status, const char *what, uint64_t at)
{
    if (r->failed == RP_OK)
        r->failed = rp_fail(&r->why, status, "rank %u: %s: %s, at byte %llu of its stream", r->rank,
                            r->path, what, U64(at));
}

/* Blocks */

static enum rp_status read_payload(struct rp_data_reader *r, const struct rp_data_chunk *chunk,
                                   uint8_t *bytes, struct rp_problem *why)
{
    uint8_t *stored = malloc(chunk->stored ? chunk->stored : 1);
    enum rp_status status = RP_OK;

    if (!stored)
        return rp_fail(why, RP_MEMORY, "out of memory");
    if (rp_reopen_read(&r->file, stored, chunk->stored, (off_t)chunk->offset) != 0 ||
        rp_crc32c(stored, chunk->stored) != chunk->crc)
        status = rp_fail(why, RP_DAMAGED,
                         "rank %u: %s: the chunk at byte %llu is damaged (its checksum is wrong)",
                         r->rank, r->path, U64(chunk->offset));
    else if (ZSTD_decompressDCtx(r->decompressor, bytes, chunk->length, stored, chunk->stored) !=
             chunk->length)
        status =
            rp_fail(why, RP_DAMAGED, "rank %u: %s: the chunk at byte %llu cannot be decompressed",
                    r->rank, r->path, U64(chunk->offset));
    free(stored);
    return status;
}

static const uint8_t *block_of(struct rp_data_reader *r, uint64_t block)
{
    struct kept *oldest = &r->kept[0];

    if (block >= r->chunks)
        return r->tail;
    for (struct kept *k = r->kept; k < r->kept + KEPT; k++) {
        if (k->block == block + 1) {
            k->used = ++r->clock;
            return k->bytes;
        }
        if (k->used < oldest->used)
            oldest = k;
    }
    if (!oldest->bytes && !(oldest->bytes = malloc(RP_DATA_BLOCK))) {
        fail(r, RP_MEMORY, "out of memory", r->at);
        return NULL;
    }
    oldest->block = 0;
    enum rp_status status = read_payload(r, &r->chunk[block], oldest->bytes, &r->why);
    if (status != RP_OK) {
        r->failed = status;
        return NULL;
    }
    oldest->block = block + 1;
    oldest->used = ++r->clock;
    return oldest->bytes;
}

static bool read_stream(struct rp_data_reader *r, uint64_t at, uint8_t *bytes, uint64_t count)
{
    if (r->failed == RP_OK && (at > r->length || count > r->length - at))
        fail(r, r->is_ended ? RP_DAMAGED : RP_BUSY, "the stream ends inside an entry", at);
    while (count > 0 && r->failed == RP_OK) {
        uint64_t in = at % RP_DATA_BLOCK,
                 part = RP_DATA_BLOCK - in < count ? RP_DATA_BLOCK - in : count;
        const uint8_t *block = block_of(r, at / RP_DATA_BLOCK);
        if (!block)
            break;
        memcpy(bytes, block + in, part);
        bytes += part;
        at += part;
        count -= part;
    }
    if (r->failed != RP_OK)
        memset(bytes, 0, count);
    return r->failed == RP_OK;
}

/* Entries */

void rp_data_get(struct rp_data_reader *r, void *bytes, size_t count)
{
    if (read_stream(r, r->at, bytes, count))
        r->at += count;
}

uint64_t rp_data_get_number(struct rp_data_reader *r)
{
    uint64_t number = 0;
    uint8_t byte = 0x80;

    for (int shift = 0; byte & 0x80; shift += 7) {
        if (shift > 63) {
            fail(r, RP_DAMAGED, "a number is too long", r->at);
            return 0;
        }
        rp_data_get(r, &byte, 1);
        if (r->failed != RP_OK)
            return 0;
        number |= (uint64_t)(byte & 0x7f) << shift;
    }
    return number;
}

int64_t rp_data_get_signed(struct rp_data_reader *r)
{
    uint64_t number = rp_data_get_number(r);

    return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

const uint8_t *rp_data_get_content(struct rp_data_reader *r, size_t *count)
{
    uint64_t head = rp_data_get_number(r), length = head >> 1, at = r->at;

    *count = 0;
    if (head & 1 && (at = rp_data_get_number(r)) >= r->at)
        fail(r, RP_DAMAGED, "a content is said to stand where none can", r->at);
    if (r->failed == RP_OK && length > content_limit)
        fail(r, RP_DAMAGED, "a content is too long", r->at);
    if (r->failed == RP_OK && (at > r->length || length > r->length - at))
        fail(r, r->is_ended ? RP_DAMAGED : RP_BUSY, "the stream ends inside a content", r->at);
    if (r->failed == RP_OK && length > r->content_room) {
        free(r->content);
        r->content = malloc(length);
        r->content_room = r->content ? length : 0;
        if (!r->content)
            fail(r, RP_MEMORY, "out of memory", r->at);
    }
    if (r->failed != RP_OK || !read_stream(r, at, r->content, length))
        return NULL;
    if (!(head & 1))
        r->at += length;
    *count = (size_t)length;
    static const uint8_t nothing[1];
    return r->content ? r->content : nothing;
}

static void get_name(struct rp_data_reader *r)
{
    char name[NAME_LIMIT] = "";
    uint64_t length = rp_data_get_number(r);

    if (r->failed == RP_OK && (length >= sizeof name || length == 0 || r->names >= NAMES_LIMIT))
        fail(r, RP_DAMAGED, "a function has no name", r->at);
    if (r->failed != RP_OK)
        return;
    rp_data_get(r, name, length);
    char **names = realloc(r->name, (r->names + 1) * sizeof *names);
    if (!names) {
        fail(r, RP_MEMORY, "out of memory", r->at);
        return;
    }
    r->name = names;
    if (r->failed == RP_OK && !(names[r->names++] = strdup(name)))
        rp_fail(&r->why, r->failed = RP_MEMORY, "out of memory");
}

/* Whether the entry before comes once more. */
static bool repeats(struct rp_data_reader *r)
{
    if (r->repeats == 0 && r->at == r->length && r->tail_repeats > 0) {
        r->repeats = r->tail_repeats;
        r->tail_repeats = 0;
        r->after_entry = r->at;
    }
    if (r->repeats == 0)
        return false;
    r->repeats--;
    r->at = r->entry_at;
    r->is_repeating = true;
    return true;
}

const char *rp_data_peek(struct rp_data_reader *r)
{
    struct rp_problem ignored; /* the next entry reports it again */

    if (!r->peeked && rp_data_next(r, &r->peeked, &ignored) == RP_OK && r->peeked)
        r->entries--;
    return r->peeked;
}

enum rp_status rp_data_next(struct rp_data_reader *r, const char **name, struct rp_problem *why)
{
    *name = r->peeked;
    if (r->peeked) {
        r->peeked = NULL;
        r->entries++;
        return RP_OK;
    }
    if (r->is_repeating) {
        r->at = r->after_entry;
        r->is_repeating = false;
    }
    if (r->failed == RP_OK && !repeats(r)) {
        if (r->at >= r->length)
            return RP_OK;
        uint8_t first;
        read_stream(r, r->at, &first, 1);
        if (r->failed == RP_OK && first == 0) {
            r->at++;
            r->repeats = rp_data_get_number(r);
            r->after_entry = r->at;
            if (r->failed == RP_OK && (r->repeats == 0 || r->entries == 0))
                fail(r, RP_DAMAGED, "an entry is repeated where none can be", r->at);
            else if (r->failed == RP_OK)
                repeats(r);
        } else {
            r->entry_at = r->at;
        }
    }
    uint64_t number = rp_data_get_number(r);
    if (r->failed == RP_OK && number == r->names + 1)
        get_name(r);
    if (r->failed == RP_OK && (number == 0 || number > r->names))
        fail(r, RP_DAMAGED, "an entry has no function", r->at);
    if (r->failed != RP_OK)
        return rp_data_failed(r, why);
    r->entries++;
    *name = r->name[number - 1];
    return RP_OK;
}

enum rp_status rp_data_failed(const struct rp_data_reader *r, struct rp_problem *why)
{
    if (r->failed != RP_OK)
        *why = r->why;
    return r->failed;
}

uint64_t rp_data_read_entries(const struct rp_data_reader *r)
{
    return r->entries;
}

const struct rp_data_place *rp_data_place(const struct rp_data_reader *r)
{
    return &r->place;
}

uint64_t rp_data_size(const struct rp_data_reader *r)
{
    return r->size;
}

uint64_t rp_data_length(const struct rp_data_reader *r)
{
    return r->length;
}

bool rp_data_has_windows(const struct rp_data_reader *r)
{
    return r->has_windows;
}

uint64_t rp_data_all_entries(const struct rp_data_reader *r)
{
    return r->end_entries;
}

bool rp_data_is_tracked(const struct rp_data_reader *r)
{
    return r->is_tracked;
}

uint64_t rp_data_loads_made(const struct rp_data_reader *r)
{
    return r->loads;
}

bool rp_data_tells_handlers(const struct rp_data_reader *r)
{
    return r->tells_handlers;
}

bool rp_data_is_ended(const struct rp_data_reader *r)
{
    return r->is_ended;
}

/* Opening */

static enum rp_status check_header(struct rp_data_reader *r, uint64_t run, uint32_t ranks,
                                   struct rp_problem *why)
{
    uint8_t bytes[RP_DATA_HEADER];

    if (rp_reopen_read(&r->file, bytes, sizeof bytes, 0) != 0 ||
        memcmp(bytes, rp_data_magic, sizeof rp_data_magic) != 0)
        return rp_fail(why, RP_DAMAGED, "rank %u: %s: not a data log", r->rank, r->path);
    if (rp_load_u32(bytes + 60) != rp_crc32c(bytes, 60))
        return rp_fail(why, RP_DAMAGED, "rank %u: %s: its header is damaged", r->rank, r->path);
    uint16_t major = rp_load_u16(bytes + 8);
    if (major < RP_DATA_OLDEST || major > RP_DATA_MAJOR || rp_load_u32(bytes + 12) != 0)
        return rp_fail(why, RP_UNSUPPORTED,
                       "rank %u: %s: of version %u.%u, which this reprise cannot read", r->rank,
                       r->path, major, rp_load_u16(bytes + 10));
    r->tells_handlers = major > 3 || (major == 3 && rp_load_u16(bytes + 10) >= 1);
    if (rp_load_u64(bytes + 16) != run || rp_load_u32(bytes + 24) != r->rank ||
        rp_load_u32(bytes + 28) != ranks)
        return rp_fail(why, RP_DAMAGED, "rank %u: %s: belongs to another record or rank", r->rank,
                       r->path);
    return RP_OK;
}

static enum rp_status take_payload(struct rp_data_reader *r, const struct rp_data_chunk *chunk,
                                   struct rp_problem *why)
{
    uint8_t *bytes = malloc(chunk->length ? chunk->length : 1);
    enum rp_status status =
        bytes ? read_payload(r, chunk, bytes, why) : rp_fail(why, RP_MEMORY, "out of memory");

    if (status == RP_OK) {
        struct rp_view in = rp_view_of(bytes, chunk->length);
        bool good = true;
        if (chunk->kind == RP_DATA_PLACE) {
            rp_data_place_free(&r->place);
            good = rp_data_get_place(&in, &r->place);
        } else {
            good = rp_view_u64(&in) == r->in_chunks;
            r->end_entries = rp_view_u64(&in);
            good = good && !in.failed;
            r->is_ended = true;
        }
        if (!good)
            status =
                rp_fail(why, RP_DAMAGED, "rank %u: %s: the chunk at byte %llu is not what it says",
                        r->rank, r->path, U64(chunk->offset));
    }
    free(bytes);
    return status;
}

static enum rp_status take_chunk(struct rp_data_reader *r, const struct rp_data_chunk *chunk,
                                 struct rp_problem *why)
{
    if (chunk->kind == RP_DATA_PLACE || chunk->kind == RP_DATA_END)
        return take_payload(r, chunk, why);
    if (chunk->kind == RP_DATA_WINDOWS || chunk->kind == RP_DATA_LOADS ||
        chunk->kind == RP_DATA_TRACKED || chunk->kind == RP_DATA_TURNS) {
        r->has_windows |= chunk->kind == RP_DATA_WINDOWS;
        if (chunk->kind == RP_DATA_LOADS || chunk->kind == RP_DATA_TURNS)
            r->mark = chunk->kind;
        r->is_tracked |= chunk->kind == RP_DATA_TRACKED;
        return RP_OK;
    }
    if (chunk->kind != RP_DATA_BYTES || chunk->length == 0 || chunk->length > RP_DATA_BLOCK ||
        r->in_chunks % RP_DATA_BLOCK != 0)
        return rp_fail(why, RP_DAMAGED, "rank %u: %s: no such chunk can be at byte %llu", r->rank,
                       r->path, U64(chunk->offset));
    if ((r->chunks & (r->chunks + 1)) == 0) {
        struct rp_data_chunk *more = realloc(r->chunk, 2 * (r->chunks + 1) * sizeof *more);
        if (!more)
            return rp_fail(why, RP_MEMORY, "out of memory");
        r->chunk = more;
    }
    r->chunk[r->chunks++] = *chunk;
    r->in_chunks += chunk->length;
    return RP_OK;
}

static enum rp_status is_other_kind(const struct rp_data_reader *r, struct rp_problem *why)
{
    const struct rp_data_kind *it =
        r->mark == RP_DATA_TURNS ? &rp_data_of_turns : &rp_data_of_loads;

    if (r->kind == &rp_data_of_calls)
        return rp_fail(why, RP_DAMAGED, "rank %u: %s: it is %s", r->rank, r->path, it->what);
    return rp_fail(why, RP_DAMAGED, "rank %u: %s: not %s", r->rank, r->path, r->kind->what);
}

/* A chunk that the file's end cuts off was never acknowledged, and is still in the tail. */
static enum rp_status find_chunks(struct rp_data_reader *r, struct rp_problem *why)
{
    uint64_t at = RP_DATA_HEADER;
    enum rp_status status = RP_OK;

    while (status == RP_OK && !r->is_ended && at + RP_DATA_CHUNK_HEADER <= r->size) {
        uint8_t bytes[RP_DATA_CHUNK_HEADER];
        struct rp_data_chunk chunk;
        if (rp_reopen_read(&r->file, bytes, sizeof bytes, (off_t)at) != 0 ||
            !rp_data_get_chunk(bytes, r->in_chunks, &chunk) || chunk.length > 1u << 26 ||
            chunk.stored > 1u << 27)
            return rp_fail(why, RP_DAMAGED,
                           "rank %u: %s: damaged at byte %llu: no chunk begins there", r->rank,
                           r->path, U64(at));
        chunk.offset = at + RP_DATA_CHUNK_HEADER;
        if (chunk.offset + chunk.stored > r->size)
            break;
        status = take_chunk(r, &chunk, why);
        at = chunk.offset + chunk.stored;
    }
    if (status == RP_OK && r->is_ended && at != r->size)
        return rp_fail(why, RP_DAMAGED, "rank %u: %s: %llu bytes behind its end", r->rank, r->path,
                       U64(r->size - at));
    if (status == RP_OK && r->kind->mark != r->mark)
        return is_other_kind(r, why);
    if (status == RP_OK && r->kind == &rp_data_of_calls && !r->place.program)
        return rp_fail(why, RP_DAMAGED, "rank %u: %s: it does not say how the rank was started",
                       r->rank, r->path);
    return status;
}

static enum rp_status take_tail(struct rp_data_reader *r, const char *directory, uint64_t run,
                                struct rp_problem *why)
{
    char *path = rp_data_kind_tail_path(r->kind, directory, r->rank);
    struct rp_data_tail tail;
    int fd = path ? rp_open_regular(path, O_RDONLY) : -1;
    enum rp_status status = RP_OK;

    r->length = r->in_chunks;
    if (fd < 0 && path && errno != ENOENT)
        status = rp_fail_open(why, path, errno);
    else if (fd < 0)
        status =
            rp_fail(why, RP_DAMAGED,
                    "rank %u: %s was not closed, and %s is not there: the record is incomplete",
                    r->rank, r->path, path ? path : "its tail");
    else if (rp_read_all(fd, &tail, sizeof tail, 0) != 0 ||
             memcmp(tail.magic, rp_data_tail_magic, sizeof tail.magic) != 0 ||
             tail.crc != rp_crc32c(&tail, 20) || tail.run != run || tail.rank != r->rank ||
             (tail.head > r->in_chunks && tail.head - r->in_chunks > RP_DATA_BLOCK))
        status =
            rp_fail(why, RP_DAMAGED, "rank %u: %s: damaged, or not of this record", r->rank, path);
    if (status == RP_OK && tail.head > r->in_chunks) {
        r->tail = malloc(RP_DATA_BLOCK);
        if (!r->tail)
            status = rp_fail(why, RP_MEMORY, "out of memory");
        else if (rp_read_all(fd, r->tail, RP_DATA_BLOCK, RP_DATA_TAIL_HEADER) != 0)
            status = rp_fail(why, RP_DAMAGED, "rank %u: %s: it ends early", r->rank, path);
        r->length = tail.head;
    }
    if (status == RP_OK && tail.repeats_at == tail.head)
        r->tail_repeats = tail.repeats;
    if (status == RP_OK)
        r->loads = tail.loads;
    if (fd >= 0)
        close(fd);
    free(path);
    return status;
}

/* Whether the description says that there was data of this rank. */
static bool was_recorded(const char *directory, uint32_t rank)
{
    struct rp_manifest manifest;
    struct rp_problem ignored;

    if (rp_manifest_read(directory, &manifest, &ignored) != RP_OK)
        return false;
    bool found = rp_ranks_have(manifest.data, rank);
    rp_manifest_free(&manifest);
    return found;
}

static enum rp_status open_log(const char *directory, uint64_t run, uint32_t rank, uint32_t ranks,
                               const struct rp_data_kind *kind, struct rp_data_reader **out,
                               struct rp_problem *why)
{
    struct rp_data_reader *r = calloc(1, sizeof *r);
    struct stat info;

    if (!r || !(r->decompressor = rp_zstd_decompressor()) ||
        !(r->path = rp_data_kind_path(kind, directory, rank))) {
        ZSTD_freeDCtx(r ? r->decompressor : NULL);
        free(r);
        return rp_fail(why, RP_MEMORY, "out of memory");
    }
    r->rank = rank;
    r->kind = kind;
    r->mark = RP_DATA_PLACE;
    int error = rp_reopen_open(&r->file, r->path, O_RDONLY);
    enum rp_status status = RP_OK;
    if (error == ENOENT)
        status = kind != &rp_data_of_calls || was_recorded(directory, rank)
                     ? rp_fail(why, RP_DAMAGED,
                               "rank %u: %s is not there: the record is incomplete", rank, r->path)
                     : rp_fail(why, RP_USAGE,
                               "%s has no data of rank %u: it was not among the ranks of 'reprise "
                               "record --ranks'",
                               directory, rank);
    else if (error || fstat(r->file.fd, &info) != 0)
        status = rp_fail_open(why, r->path, error ? error : errno);
    if (status == RP_OK)
        r->size = (uint64_t)info.st_size;
    if (status == RP_OK)
        status = check_header(r, run, ranks, why);
    if (status == RP_OK)
        status = find_chunks(r, why);
    if (status == RP_OK && !r->is_ended)
        status = take_tail(r, directory, run, why);
    if (r->is_ended)
        r->length = r->in_chunks;
    if (status != RP_OK) {
        rp_data_free(r);
        return status;
    }
    *out = r;
    return RP_OK;
}

enum rp_status rp_data_open(const char *directory, uint64_t run, uint32_t rank, uint32_t ranks,
                            struct rp_data_reader **out, struct rp_problem *why)
{
    return open_log(directory, run, rank, ranks, &rp_data_of_calls, out, why);
}

enum rp_status rp_data_open_loads(const char *directory, uint64_t run, uint32_t rank,
                                  uint32_t ranks, struct rp_data_reader **out,
                                  struct rp_problem *why)
{
    return open_log(directory, run, rank, ranks, &rp_data_of_loads, out, why);
}

enum rp_status rp_data_open_turns(const char *directory, uint64_t run, uint32_t rank,
                                  uint32_t ranks, struct rp_data_reader **out,
                                  struct rp_problem *why)
{
    return open_log(directory, run, rank, ranks, &rp_data_of_turns, out, why);
}

void rp_data_free(struct rp_data_reader *r)
{
    for (size_t i = 0; i < KEPT; i++)
        free(r->kept[i].bytes);
    for (size_t i = 0; i < r->names; i++)
        free(r->name[i]);
    rp_data_place_free(&r->place);
    rp_reopen_close(&r->file);
    ZSTD_freeDCtx(r->decompressor);
    free(r->name);
    free(r->chunk);
    free(r->tail);
    free(r->content);
    free(r->path);
    free(r);
}

enum rp_status rp_data_verify(struct rp_data_reader *r, struct rp_problem *why)
{
    uint8_t *bytes = malloc(RP_DATA_BLOCK);
    enum rp_status status = bytes ? RP_OK : rp_fail(why, RP_MEMORY, "out of memory");

    for (size_t i = 0; i < r->chunks && status == RP_OK; i++)
        status = read_payload(r, &r->chunk[i], bytes, why);
    free(bytes);
    return status;
}
