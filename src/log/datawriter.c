/* SPDX-License-Identifier: MIT */
/*
 * The stream is cut into blocks. The block that is being filled is a mapped file (the tail), so it
 * survives the process. When it is full, the program's own thread writes it as a chunk of the log.
 * Byte n of the stream is at n mod RP_DATA_BLOCK of the tail. `head` moves when an entry or a block
 * is complete.
 *
 * An entry is collected in memory first. If it is short and the same as the entry before, only a
 * count goes up: programs poll. A content that stood in the stream before is written as a reference
 * to that place: messages and results of collective calls often repeat. A table of 128-bit hashes
 * finds it; the newest content replaces one that it collides with.
 *
 * Random bytes and most floating-point numbers do not get shorter. After a chunk that did not, a
 * sample of the next chunk is compressed first; if the sample does not get shorter either, the
 * chunk is written uncompressed.
 *
 * If a chunk cannot be written, the data log ends there, after one message; the program goes on.
 */
#define XXH_INLINE_ALL
#include "log/datawriter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/reopen_file.h"
#include "base/diagnostics.h"
#include "log/zstdmemory.h"

enum { EARLIER = 1 << 15, TAIL_SIZE = RP_DATA_TAIL_HEADER + RP_DATA_BLOCK };
enum {
    LEVEL = -1
}; /* of zstd: with 1, what messages and windows hold takes 4 % more to 20 % less room, and
      recording up to a tenth more time */
enum { PIECE = 1 << 17, PIECES = RP_DATA_BLOCK / PIECE }; /* the longest block of a zstd frame */
enum {
    AS_IS = PIECES - 1,
    SAMPLE = 1 << 15
}; /* how many chunks at most are not compressed after one that did not get shorter; how much of
      each is looked at */

struct earlier {
    XXH128_hash_t hash;
    uint64_t at, length;
};

struct rp_data_writer {
    struct rp_reopen file;
    char *path, *tail_path;
    struct rp_data_tail *tail;
    uint8_t *block;
    uint64_t head; /* bytes of the stream */
    uint64_t in_chunks;
    uint64_t length; /* of the file */
    uint64_t entries;
    bool stopped, has_windows;
    struct rp_buffer entry;
    bool is_long; /* part of the entry is in the stream */
    uint8_t last[RP_DATA_SHORT];
    size_t last_length; /* 0: the entry before cannot be repeated */
    uint64_t repeats;
    uint32_t *number; /* of functions; 0: not named yet */
    uint32_t functions, named;
    struct earlier *earlier;
    ZSTD_CCtx *compressor;
    int as_is; /* so many chunks more may be not compressed */
    struct rp_buffer output;
};

static void stop(struct rp_data_writer *w, const char *what, int error)
{
    rp_error("%s: %s: %s; what follows cannot be replayed alone", w->path, what, strerror(error));
    w->stopped = true;
}

/* Of w->output, for a chunk with a payload of that length. */
static bool has_room(struct rp_data_writer *w, size_t payload)
{
    rp_buffer_clear(&w->output);
    if (!rp_buffer_reserve(&w->output, RP_DATA_CHUNK_HEADER + payload))
        stop(w, "cannot compress", ENOMEM);
    return !w->stopped;
}

/* One write for each chunk: its header, for which there is room in front of w->output, and its
 * payload, which `parts` list, the first behind that room. */
static void write_chunk(struct rp_data_writer *w, struct rp_data_chunk *chunk, struct iovec *parts,
                        int count)
{
    for (int i = 0; i < count; i++) {
        chunk->stored += (uint32_t)parts[i].iov_len;
        chunk->crc = rp_crc32c_more(chunk->crc, parts[i].iov_base, parts[i].iov_len);
    }
    rp_data_put_chunk(&w->output, chunk);
    parts[0] = (struct iovec){w->output.bytes, RP_DATA_CHUNK_HEADER + parts[0].iov_len};
    int error = rp_reopen_write_parts(&w->file, parts, count, (off_t)w->length);
    if (error) {
        int cut = rp_reopen_truncate(&w->file, (off_t)w->length);
        stop(w, "cannot write", cut ? cut : error);
        return;
    }
    w->length += RP_DATA_CHUNK_HEADER + chunk->stored;
}

static bool is_no_shorter(size_t stored, size_t length)
{
    return stored > length - length / 64;
}

static void put_chunk(struct rp_data_writer *w, enum rp_data_chunk_kind kind, const void *bytes,
                      size_t length)
{
    struct rp_data_chunk chunk = {.kind = (uint8_t)kind,
                                  .length = (uint32_t)length,
                                  .first = w->in_chunks};
    size_t room = ZSTD_compressBound(length);

    if (w->stopped || !has_room(w, room))
        return;
    uint8_t *payload = w->output.bytes + RP_DATA_CHUNK_HEADER;
    size_t stored = ZSTD_compressCCtx(w->compressor, payload, room, bytes, length, LEVEL);
    if (ZSTD_isError(stored)) {
        stop(w, "cannot compress", ENOMEM);
        return;
    }
    if (kind == RP_DATA_BYTES)
        w->as_is = is_no_shorter(stored, length) ? AS_IS : 0;
    write_chunk(w, &chunk, &(struct iovec){payload, stored}, 1);
}

/* Whether a part of the block gets shorter, each time another. */
static bool gets_shorter(struct rp_data_writer *w)
{
    size_t stored = has_room(w, ZSTD_compressBound(SAMPLE))
                        ? ZSTD_compressCCtx(w->compressor, w->output.bytes, w->output.room,
                                            w->block + (size_t)w->as_is * PIECE, SAMPLE, LEVEL)
                        : 0;

    return ZSTD_isError(stored) || !is_no_shorter(stored, SAMPLE);
}

/* A zstd frame (RFC 8878) whose blocks are not compressed: written from where the bytes are. */
static void put_as_is(struct rp_data_writer *w)
{
    struct rp_data_chunk chunk = {.kind = RP_DATA_BYTES,
                                  .length = RP_DATA_BLOCK,
                                  .first = w->in_chunks};
    const uint8_t frame[] = {0x28,
                             0xb5,
                             0x2f,
                             0xfd,
                             0xa0,
                             RP_DATA_BLOCK & 0xff,
                             RP_DATA_BLOCK >> 8 & 0xff,
                             RP_DATA_BLOCK >> 16 & 0xff,
                             RP_DATA_BLOCK >> 24};
    struct iovec parts[2 * PIECES];

    if (w->stopped || !has_room(w, sizeof frame + 3 * PIECES))
        return;
    uint8_t *at = w->output.bytes + RP_DATA_CHUNK_HEADER;
    memcpy(at, frame, sizeof frame);
    size_t before = sizeof frame;
    for (int i = 0; i < PIECES; i++) {
        uint32_t block = PIECE << 3 | (i == PIECES - 1);
        const uint8_t header[] = {block & 0xff, block >> 8 & 0xff, block >> 16 & 0xff};
        memcpy(at + before, header, sizeof header);
        parts[2 * i] = (struct iovec){at, before + sizeof header};
        parts[2 * i + 1] = (struct iovec){w->block + (size_t)i * PIECE, PIECE};
        at += before + sizeof header;
        before = 0;
    }
    w->as_is--;
    write_chunk(w, &chunk, parts, 2 * PIECES);
}

static void put_block(struct rp_data_writer *w)
{
    size_t length = (size_t)(w->head - w->in_chunks);

    if (w->as_is > 0 && length == RP_DATA_BLOCK && !gets_shorter(w))
        put_as_is(w);
    else
        put_chunk(w, RP_DATA_BYTES, w->block, length);
    if (!w->stopped) {
        w->in_chunks = w->head;
        atomic_store_explicit(&w->tail->head, w->head, memory_order_release);
    }
}

static void put_stream(struct rp_data_writer *w, const uint8_t *bytes, size_t count)
{
    while (count > 0 && !w->stopped) {
        size_t at = (size_t)(w->head % RP_DATA_BLOCK),
               part = RP_DATA_BLOCK - at < count ? RP_DATA_BLOCK - at : count;
        memcpy(w->block + at, bytes, part);
        w->head += part;
        bytes += part;
        count -= part;
        if (w->head % RP_DATA_BLOCK == 0)
            put_block(w);
    }
}

static void flush_repeats(struct rp_data_writer *w)
{
    struct rp_buffer text = {0};

    if (w->repeats == 0)
        return;
    rp_buffer_byte(&text, 0);
    rp_buffer_varint(&text, w->repeats);
    if (!text.failed)
        put_stream(w, text.bytes, text.length);
    rp_buffer_free(&text);
    w->repeats = 0;
}

static void flush_entry(struct rp_data_writer *w)
{
    flush_repeats(w);
    put_stream(w, w->entry.bytes, w->entry.length);
    rp_buffer_clear(&w->entry);
}

static bool number_functions(struct rp_data_writer *w, uint32_t function)
{
    uint32_t room = function + 64;
    uint32_t *number = realloc(w->number, room * sizeof *number);

    if (!number)
        return false;
    memset(number + w->functions, 0, (room - w->functions) * sizeof *number);
    w->number = number;
    w->functions = room;
    return true;
}

void rp_data_begin(struct rp_data_writer *w, uint32_t function, const char *name)
{
    rp_buffer_clear(&w->entry);
    w->is_long = false;
    if (function >= w->functions && !number_functions(w, function))
        rp_bug(__FILE__, __LINE__, "out of memory");
    if (w->number[function] != 0) {
        rp_buffer_varint(&w->entry, w->number[function]);
        return;
    }
    w->number[function] = ++w->named;
    rp_buffer_varint(&w->entry, w->named);
    rp_buffer_string(&w->entry, name, strlen(name));
}

void rp_data_put(struct rp_data_writer *w, const void *bytes, size_t count)
{
    rp_buffer_put(&w->entry, bytes, count);
}

void rp_data_put_number(struct rp_data_writer *w, uint64_t number)
{
    rp_buffer_varint(&w->entry, number);
}

void rp_data_put_signed(struct rp_data_writer *w, int64_t number)
{
    rp_buffer_svarint(&w->entry, number);
}

void rp_data_put_content(struct rp_data_writer *w, const void *bytes, size_t count)
{
    if (count < RP_DATA_TWICE) {
        rp_buffer_varint(&w->entry, (uint64_t)count << 1);
        rp_buffer_put(&w->entry, bytes, count);
        return;
    }
    XXH128_hash_t hash = XXH3_128bits(bytes, count);
    struct earlier *e = &w->earlier[hash.low64 % EARLIER];
    bool known = e->length == count && XXH128_isEqual(e->hash, hash);
    rp_buffer_varint(&w->entry, (uint64_t)count << 1 | known);
    if (known) {
        rp_buffer_varint(&w->entry, e->at);
        return;
    }
    flush_entry(w);
    w->is_long = true;
    *e = (struct earlier){hash, w->head, count};
    put_stream(w, bytes, count);
}

void rp_data_end(struct rp_data_writer *w)
{
    if (w->entry.failed)
        rp_bug(__FILE__, __LINE__, "out of memory");
    if (w->stopped)
        return;
    w->entries++;
    if (!w->is_long && w->entry.length == w->last_length &&
        memcmp(w->entry.bytes, w->last, w->last_length) == 0) {
        atomic_store_explicit(&w->tail->repeats, ++w->repeats, memory_order_relaxed);
        if (w->repeats == 1)
            atomic_store_explicit(&w->tail->repeats_at, w->head, memory_order_release);
        return;
    }
    size_t length = w->entry.length;
    w->last_length = !w->is_long && length <= sizeof w->last ? length : 0;
    memcpy(w->last, w->entry.bytes, w->last_length);
    flush_entry(w);
    atomic_store_explicit(&w->tail->head, w->head, memory_order_release);
}

void rp_data_note_windows(struct rp_data_writer *w)
{
    if (!w->has_windows)
        put_chunk(w, RP_DATA_WINDOWS, "", 0);
    w->has_windows = true;
}

void rp_data_note_tracked(struct rp_data_writer *w)
{
    put_chunk(w, RP_DATA_TRACKED, "", 0);
}

uint64_t *rp_data_loads(struct rp_data_writer *w)
{
    return &w->tail->loads;
}

uint64_t rp_data_entries(const struct rp_data_writer *w)
{
    return w->entries;
}

static enum rp_status make_tail(struct rp_data_writer *w, uint64_t run, uint32_t rank,
                                struct rp_problem *why)
{
    int fd = open(w->tail_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, RP_PRIVATE_FILE);

    if (fd < 0)
        return rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", w->tail_path, strerror(errno));
    int error =
        posix_fallocate(fd, 0, TAIL_SIZE); /* a hole would be a SIGBUS when the disk is full */
    void *memory =
        error ? MAP_FAILED : mmap(NULL, TAIL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        rp_fail(why, RP_SYSTEM, "%s: cannot map %d bytes: %s", w->tail_path, (int)TAIL_SIZE,
                strerror(error ? error : errno));
    close(fd);
    if (memory == MAP_FAILED) {
        unlink(w->tail_path);
        return RP_SYSTEM;
    }
    w->tail = memory;
    w->block = (uint8_t *)memory + RP_DATA_TAIL_HEADER;
    memcpy(w->tail->magic, rp_data_tail_magic, sizeof rp_data_tail_magic);
    w->tail->run = run;
    w->tail->rank = rank;
    w->tail->crc = rp_crc32c(w->tail, 20);
    return RP_OK;
}

static enum rp_status make_file(struct rp_data_writer *w, uint64_t run, uint32_t rank,
                                uint32_t ranks, struct rp_problem *why)
{
    struct rp_buffer header = {0};

    int error = rp_reopen_open(&w->file, w->path, O_RDWR | O_CREAT | O_EXCL);
    if (error)
        return rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", w->path, strerror(error));
    rp_data_put_header(&header, run, rank, ranks);
    error = header.failed ? ENOMEM : rp_reopen_write(&w->file, header.bytes, header.length, 0);
    rp_buffer_free(&header);
    w->length = RP_DATA_HEADER;
    return error ? rp_fail(why, RP_SYSTEM, "%s: cannot write: %s", w->path, strerror(error))
                 : RP_OK;
}

static void free_writer(struct rp_data_writer *w)
{
    if (w->tail)
        munmap(w->tail, TAIL_SIZE);
    rp_reopen_close(&w->file);
    rp_buffer_free(&w->entry);
    rp_buffer_free(&w->output);
    ZSTD_freeCCtx(w->compressor);
    free(w->earlier);
    free(w->number);
    free(w->path);
    free(w->tail_path);
    free(w);
}

static void put_place(struct rp_data_writer *w, const struct rp_data_place *place)
{
    struct rp_buffer text = {0};

    rp_data_put_place(&text, place);
    if (!text.failed)
        put_chunk(w, RP_DATA_PLACE, text.bytes, text.length);
    rp_buffer_free(&text);
}

static enum rp_status create(const struct rp_data_kind *kind, const char *directory, uint64_t run,
                             uint32_t rank, uint32_t ranks, const struct rp_data_place *place,
                             struct rp_data_writer **out, struct rp_problem *why)
{
    struct rp_data_writer *w = calloc(1, sizeof *w);

    if (!w)
        return rp_fail(why, RP_MEMORY, "out of memory");
    w->file.fd = -1;
    w->path = rp_data_kind_path(kind, directory, rank);
    w->tail_path = rp_data_kind_tail_path(kind, directory, rank);
    w->earlier = calloc(EARLIER, sizeof *w->earlier);
    w->compressor = rp_zstd_compressor();
    enum rp_status status = RP_OK;
    if (!w->path || !w->tail_path || !w->earlier || !w->compressor ||
        !rp_buffer_reserve(&w->entry, 256))
        status = rp_fail(why, RP_MEMORY, "out of memory");
    if (status == RP_OK)
        status = make_file(w, run, rank, ranks, why);
    if (status == RP_OK)
        status = make_tail(w, run, rank, why);
    if (status == RP_OK && place)
        put_place(w, place);
    else if (status == RP_OK)
        put_chunk(w, kind->mark, "", 0);
    if (status == RP_OK && w->stopped)
        status = rp_fail(why, RP_SYSTEM, "%s: cannot write", w->path);
    if (status != RP_OK) {
        free_writer(w);
        return status;
    }
    *out = w;
    return RP_OK;
}

enum rp_status rp_data_create(const char *directory, uint64_t run, uint32_t rank, uint32_t ranks,
                              const struct rp_data_place *place, struct rp_data_writer **out,
                              struct rp_problem *why)
{
    return create(place ? &rp_data_of_calls : &rp_data_of_loads, directory, run, rank, ranks, place,
                  out, why);
}

enum rp_status rp_data_create_turns(const char *directory, uint64_t run, uint32_t rank,
                                    uint32_t ranks, struct rp_data_writer **out,
                                    struct rp_problem *why)
{
    return create(&rp_data_of_turns, directory, run, rank, ranks, NULL, out, why);
}

enum rp_status rp_data_close(struct rp_data_writer *w, uint64_t *bytes, struct rp_problem *why)
{
    struct rp_buffer end = {0};

    flush_repeats(w);
    if (w->head > w->in_chunks)
        put_block(w);
    rp_buffer_u64(&end, w->head);
    rp_buffer_u64(&end, w->entries);
    if (!end.failed)
        put_chunk(w, RP_DATA_END, end.bytes, end.length);
    rp_buffer_free(&end);
    if (bytes)
        *bytes = w->length;
    enum rp_status status =
        w->stopped ? rp_fail(why, RP_SYSTEM, "%s could not be written to its end", w->path) : RP_OK;
    if (status == RP_OK)
        unlink(w->tail_path);
    free_writer(w);
    return status;
}
