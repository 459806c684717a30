/* SPDX-License-Identifier: MIT */
/*
 * The data log of a rank, opened, read and verified. First byte: 0 the rest as it is; 1 the rest
 * with its checksums made right; 2 a log built from the rest: its first byte says whether it was
 * closed (bit 0) and how much of the stream is in a chunk (the rest is in the tail); what follows
 * is the stream. Entries are read by bytes of it: what a program would ask for.
 */
#include <zstd.h>

#include "base/crc32c.h"
#include "fuzz.h"
#include "log/datareader.h"

enum { RUN = 7, RANK = 1, RANKS = 2 };

static void make_right(uint8_t *bytes, size_t length)
{
    size_t at = RP_DATA_HEADER;
    uint64_t first = 0;

    if (length < RP_DATA_HEADER)
        return;
    struct rp_buffer header = {0};
    rp_data_put_header(&header, RUN, RANK, RANKS);
    memcpy(bytes, header.bytes, RP_DATA_HEADER);
    rp_buffer_free(&header);
    while (at + RP_DATA_CHUNK_HEADER <= length) {
        struct rp_data_chunk chunk = {.kind = bytes[at + 2],
                                      .length = rp_load_u32(bytes + at + 4),
                                      .stored = rp_load_u32(bytes + at + 8),
                                      .crc = rp_load_u32(bytes + at + 12),
                                      .first = first};
        size_t left = length - at - RP_DATA_CHUNK_HEADER;
        if (chunk.stored <= left)
            chunk.crc = rp_crc32c(bytes + at + RP_DATA_CHUNK_HEADER, chunk.stored);
        rp_data_put_chunk(&header, &chunk);
        memcpy(bytes + at, header.bytes, RP_DATA_CHUNK_HEADER);
        rp_buffer_free(&header);
        if (chunk.stored > left)
            return;
        if (chunk.kind == RP_DATA_BYTES)
            first += chunk.length;
        at += RP_DATA_CHUNK_HEADER + chunk.stored;
    }
}

static void add_chunk(struct rp_buffer *file, enum rp_data_chunk_kind kind, uint64_t first,
                      const uint8_t *bytes, size_t length)
{
    static uint8_t frame[1 << 17];
    size_t stored = ZSTD_compress(frame, sizeof frame, bytes, length, 1);

    if (ZSTD_isError(stored))
        return;
    rp_data_put_chunk(file, &(struct rp_data_chunk){.kind = (uint8_t)kind,
                                                    .length = (uint32_t)length,
                                                    .stored = (uint32_t)stored,
                                                    .crc = rp_crc32c(frame, stored),
                                                    .first = first});
    rp_buffer_put(file, frame, stored);
}

static void add_place(struct rp_buffer *file)
{
    static char *words[] = {"./app", NULL}, *none[] = {NULL};
    struct rp_data_place place = {"/app", "/", "host", words, none};
    struct rp_buffer text = {0};

    rp_data_put_place(&text, &place);
    add_chunk(file, RP_DATA_PLACE, 0, text.bytes, text.length);
    rp_buffer_free(&text);
}

static void write_tail(const uint8_t *bytes, size_t length)
{
    static uint8_t file[RP_DATA_TAIL_HEADER + (1 << 16)];
    char path[8192];
    struct rp_data_tail tail = {
        .run = RUN, .rank = RANK, .head = length, .repeats = length % 3, .repeats_at = length};

    memcpy(tail.magic, rp_data_tail_magic, sizeof tail.magic);
    tail.crc = rp_crc32c(&tail, 20);
    memcpy(file, &tail, sizeof tail);
    memcpy(file + RP_DATA_TAIL_HEADER, bytes, length);
    fuzz_write("rank-00001.tail", file, RP_DATA_TAIL_HEADER + length);
    snprintf(path, sizeof path, "%s/rank-00001.tail", fuzz_directory());
    FUZZ_CHECK(truncate(path, RP_DATA_TAIL_HEADER + RP_DATA_BLOCK) == 0);
}

static void build(const uint8_t *bytes, size_t length, struct rp_buffer *file)
{
    bool closed = length > 0 && bytes[0] & 1;
    const uint8_t *stream = length > 0 ? bytes + 1 : bytes;

    length -= length > 0;
    rp_data_put_header(file, RUN, RANK, RANKS);
    add_place(file);
    if (length > 1 && bytes[0] & 2)
        add_chunk(file, RP_DATA_WINDOWS, 0, stream, 0);
    if (closed && length > 0)
        add_chunk(file, RP_DATA_BYTES, 0, stream, length);
    if (!closed) {
        write_tail(stream, length);
        return;
    }
    struct rp_buffer end = {0};
    rp_buffer_u64(&end, length);
    rp_buffer_u64(&end, 1);
    add_chunk(file, RP_DATA_END, length, end.bytes, end.length);
    rp_buffer_free(&end);
}

static void prepare(const uint8_t *bytes, size_t length)
{
    struct rp_buffer file = {0};

    write_tail(bytes, length < 64 ? length : 64);
    if (bytes[0] % 3 == 2) {
        build(bytes + 1, length - 1, &file);
    } else {
        rp_buffer_put(&file, bytes + 1, length - 1);
        if (bytes[0] % 3 == 1)
            make_right(file.bytes, file.length);
    }
    fuzz_write("rank-00001.data", file.bytes, file.length);
    rp_buffer_free(&file);
}

/* What an entry holds is known to who reads it alone: the name's letters stand for that here. */
static void read_entry(struct rp_data_reader *r, const char *name)
{
    uint8_t bytes[64];
    size_t count;

    for (const char *letter = name; *letter; letter++)
        switch (*letter) {
        case 'n':
            rp_data_get_number(r);
            break;
        case 's':
            rp_data_get_signed(r);
            break;
        case 'c': {
            const uint8_t *content = rp_data_get_content(r, &count);
            struct rp_problem why = {""};
            FUZZ_CHECK(content != NULL || rp_data_failed(r, &why) != RP_OK);
            for (size_t i = 0; content && i < count; i += 4096)
                bytes[i % 64] = content[i];
            break;
        }
        default:
            rp_data_get(r, bytes, (uint8_t)*letter % 64);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { MOST = 1000 }; /* a count of repeats may be anything */
    struct rp_data_reader *r;
    struct rp_problem why = {""};
    const char *name = NULL;

    if (length == 0 || length > 60000)
        return 0;
    prepare(bytes, length);
    enum rp_status status = rp_data_open(fuzz_directory(), RUN, RANK, RANKS, &r, &why);
    fuzz_check_status(status, &why);
    if (status != RP_OK)
        return 0;
    FUZZ_CHECK(rp_data_place(r)->program && rp_data_place(r)->arguments &&
               rp_data_place(r)->environment);
    for (int i = 0; i < MOST && (status = rp_data_next(r, &name, &why)) == RP_OK && name; i++)
        read_entry(r, name);
    fuzz_check_status(status, &why);
    fuzz_check_status(rp_data_verify(r, &why), &why);
    rp_data_free(r);
    return 0;
}
