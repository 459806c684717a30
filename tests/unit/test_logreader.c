/* SPDX-License-Identifier: MIT */
/* What a reader says of files that are not there, cannot be read, shrink under it, or contradict
 * themselves although every checksum is right. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "sample.h"

enum { EVENTS = 90 };

static struct rp_event *events;

/* A closed log of three EVENTS chunks. Returns its path. */
static const char *make_log(const char *directory)
{
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;

    if (!sample_create(directory, &writer, &ring))
        exit(2);
    for (int i = 0; i < 3; i++) {
        sample_push(ring, events + EVENTS / 3 * i, EVENTS / 3);
        rp_log_drain(writer);
    }
    CHECK_OK(rp_log_close(writer, RP_END_FINALIZE, 0, &why), why);
    char *path = rp_log_path(directory, SAMPLE_RANK);
    const char *kept = unit_path(directory, strrchr(path, '/') + 1);
    free(path);
    return kept;
}

static struct rp_buffer read_bytes(const char *path)
{
    struct rp_buffer bytes = {0};
    struct rp_problem why;

    CHECK_OK(rp_read_file(path, 1 << 28, &bytes, &why), why);
    return bytes;
}

static void write_bytes(const char *path, const struct rp_buffer *bytes)
{
    int fd = open(path, O_WRONLY | O_TRUNC);

    CHECK_EQ(rp_write_all(fd, bytes->bytes, bytes->length, 0), 0);
    close(fd);
}

/* The header of the n-th chunk of a kind. */
static uint8_t *chunk_at(const struct rp_buffer *bytes, uint32_t kind, int n)
{
    struct rp_chunk_place place = {0, 0, 0};
    struct rp_chunk chunk;

    for (size_t at = RP_LOG_HEADER; at + RP_CHUNK_HEADER <= bytes->length;
         at += RP_CHUNK_HEADER + chunk.stored) {
        if (!rp_format_get_chunk(bytes->bytes + at, &place, &chunk))
            break;
        rp_format_pass(&chunk, &place);
        if (chunk.kind == kind && n-- == 0)
            return bytes->bytes + at;
    }
    unit_fail(__FILE__, __LINE__, "no chunk of kind %u", kind);
    exit(2);
}

static void set_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* Makes the checksums of a chunk right again, of which this is the number of the first item. */
static void seal(uint8_t *header, uint64_t first)
{
    struct rp_chunk chunk = {.kind = header[2],
                             .codec = header[3],
                             .flags = rp_load_u16(header + 4),
                             .items = rp_load_u32(header + 8),
                             .stored = rp_load_u32(header + 12),
                             .first = first};
    struct rp_buffer bytes = {0};

    chunk.crc = rp_crc32c(header + RP_CHUNK_HEADER, chunk.stored);
    rp_format_put_chunk(&bytes, &chunk);
    memcpy(header, bytes.bytes, RP_CHUNK_HEADER);
    rp_buffer_free(&bytes);
}

/* The same for a header that lies about its payload. */
static void reseal_header(uint8_t *header)
{
    uint8_t covered[28] = {0};

    memcpy(covered, header, 20);
    set_u32(header + 20, rp_crc32c(covered, 28));
}

/* Opens and verifies: must fail, and say so with these words. */
static void check_says(const char *directory, enum rp_status expected, const char *words)
{
    struct rp_log *log = NULL;
    struct rp_log_sum sum;
    struct rp_problem why = {""};
    enum rp_status status = sample_open(directory, &log, &why);

    if (status == RP_OK) {
        status = rp_log_verify(log, &sum, &why);
        rp_log_free(log);
    }
    CHECK_EQ(status, expected);
    if (!strstr(why.text, words))
        unit_fail(__FILE__, __LINE__, "'%s', not '%s'", why.text, words);
}

TEST(what_is_not_there_or_no_file)
{
    const char *directory = unit_temporary(), *file = unit_path(directory, "file");
    char *path = rp_log_path(directory, SAMPLE_RANK);
    FILE *made = fopen(file, "w");

    fclose(made);
    check_says(directory, RP_DAMAGED, "is missing");
    check_says(file, RP_SYSTEM, "cannot open: Not a directory");
    mkdir(path, 0777);
    check_says(directory, RP_DAMAGED, "it is a directory, not a regular file");
    rmdir(path);
    CHECK_EQ(mkfifo(path, 0600), 0);
    check_says(directory, RP_DAMAGED, "it is a FIFO, not a regular file");
    free(path);
    rp_log_free(NULL);
}

TEST(a_log_that_shrinks_while_it_is_read)
{
    struct rp_event block[EVENTS];
    struct rp_problem why = {""};
    struct rp_log *log;
    size_t count;

    events = sample_stream(5, EVENTS);
    const char *directory = unit_temporary(), *path = make_log(directory);
    struct rp_buffer bytes = read_bytes(path);
    size_t second = (size_t)(chunk_at(&bytes, RP_CHUNK_EVENTS_KIND, 1) - bytes.bytes);
    for (size_t cut = second + 10; cut < second + 60;
         cut += 40) { /* in its header, in its payload */
        write_bytes(path, &bytes);
        CHECK_OK(sample_open(directory, &log, &why), why);
        CHECK_EQ(rp_log_size(log), bytes.length);
        CHECK_STR(rp_log_name(log), path);
        CHECK_EQ(truncate(path, (off_t)cut), 0);
        CHECK_OK(rp_log_next_block(log, block, &count, &why), why);
        CHECK_EQ(count, EVENTS / 3);
        CHECK_EQ(rp_log_next_block(log, block, &count, &why), RP_DAMAGED);
        CHECK(strstr(why.text, "the file ends inside something"));
        rp_log_free(log);
    }
    rp_buffer_free(&bytes);
    free(events);
}

TEST(contradictions_under_right_checksums)
{
    enum { ITEMS = 8, STORED = 12 };

    events = sample_stream(6, EVENTS);
    const char *directory = unit_temporary(), *path = make_log(directory);
    struct rp_buffer good = read_bytes(path), bad = {0};
    const struct {
        uint32_t kind;
        int n;
        size_t at; /* of the byte that is changed */
        const char *words;
    } cases[] = {
        {RP_CHUNK_EVENTS_KIND, 1, ITEMS, "a chunk that is not what the index says"},
        {RP_CHUNK_END, 0, RP_CHUNK_HEADER + 2, "the END chunk does not fit this log"}, /* events */
        {RP_CHUNK_END, 0, RP_CHUNK_HEADER + 10, "receives, its end says"},
        {RP_CHUNK_END, 0, RP_CHUNK_HEADER + 18, "the digest of its events is"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rp_buffer_clear(&bad);
        rp_buffer_put(&bad, good.bytes, good.length);
        uint8_t *header = chunk_at(&bad, cases[i].kind, cases[i].n);
        header[cases[i].at] ^= 1;
        seal(header, cases[i].kind == RP_CHUNK_EVENTS_KIND ? EVENTS / 3 : 0);
        write_bytes(path, &bad);
        check_says(directory, RP_DAMAGED, cases[i].words);
    }
    /* An index that is longer than the file. */
    rp_buffer_clear(&bad);
    rp_buffer_put(&bad, good.bytes, good.length);
    uint8_t *index = chunk_at(&bad, RP_CHUNK_INDEX, 0);
    set_u32(index + STORED, 1 << 20);
    reseal_header(index);
    write_bytes(path, &bad);
    check_says(directory, RP_DAMAGED, "the trailer does not point at the index");
    rp_buffer_free(&good);
    rp_buffer_free(&bad);
    free(events);
}
