/* SPDX-License-Identifier: MIT */
/*
 * usage: make FOLDER: makes the golden records `closed`, `closed-tables`, `killed` and `timed` in
 * FOLDER, those of rows (`rows-raw`, `rows-gzip`, `rows-cdc`, `rows-killed`), and some large ones,
 * which are compared but not kept. The values below are written out once more, as text, in
 * closed.txt, killed.txt and timed.txt by hand, in rows-*.txt by `reprise dump` and compared by
 * hand; records in this folder are made again only when the format changes, which breaks the
 * reading of older ones: then a change of these files says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "log/logwriter.h"
#include "log/manifest.h"

#define RUN UINT64_C(0x60cde2ec02d00001)
enum { LARGE_RANKS = 4 };
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void need(bool good, const char *what, const char *why)
{
    if (good)
        return;
    fprintf(stderr, "make: %s: %s\n", what, why);
    exit(1);
}

static const struct rp_event first_chunk[] = {
    RP_EVENT(RP_RECV, 0, 2, 0, 3, 7, 0),
    RP_EVENT(RP_NO, 2, 0, 0, 0, 0, 5),
    RP_EVENT(RP_PROBE, 2, 0, 1, 0, INT32_MAX, 0),
};
static const struct rp_event second_chunk[] = {
    RP_EVENT(RP_YES, 1, 1, 4, 2, 3, 0), RP_EVENT(RP_NEXT, 1, 0, 0, 0, 0, 0),
    RP_EVENT(RP_NEXT, 1, 0, 0, 3, 0, 0),
    RP_EVENT(RP_MATCH, 1, 0, 0, 2, 9, 1), /* late: posted before event 0 */
};
static const struct rp_event third_chunk[] = {
    RP_EVENT(RP_MATCH, 3, 300, 0, 1, 8, 0),   /* late */
    RP_EVENT(RP_CANCELLED, 3, 0, 0, 0, 0, 2), /* late: posted before event 3 */
    RP_EVENT(RP_UNSENT, 3, 0, 0, 0, 0, 0),
    RP_EVENT(RP_ERROR, 3, 0, 0, 13, 0, 0),
    RP_EVENT(RP_FREED, 3, 0, 0, 5, 6, 302),
    RP_EVENT(RP_YES, 1, 0, 1, -1, 0, 0),
    RP_EVENT(RP_YES, 1, 0, 2, -1, -1, 0),
    RP_EVENT(RP_NO, 2, 0, 7, 0, 0, UINT64_MAX),
    RP_EVENT(RP_RECV, 0, UINT32_MAX, UINT32_MAX, INT32_MIN, INT32_MAX, 0),
};

/* Of logs of rows: the calls of two chunks. */
static const struct rp_event first_calls[] = {
    RP_EVENT(RP_RECV, 0, 1, 0, 1, 7, 0),   RP_EVENT(RP_CLOCK, 0, 0, 0, 1, -1, 5),
    RP_EVENT(RP_NO, 2, 0, 0, 0, 0, 3),     RP_EVENT(RP_PROBE, 2, 0, 1, 2, 9, 0),
    RP_EVENT(RP_YES, 1, 2, 4, 2, 3, 0), /* two messages and a send */
    RP_EVENT(RP_NEXT, 1, 0, 0, 0, 0, 0),   RP_EVENT(RP_NEXT, 1, 0, 0, 3, 0, 0),
    RP_EVENT(RP_MATCH, 1, 0, 0, 2, 9, 1),  RP_EVENT(RP_CLOCK, 1, 0, 1, 2, 2, 3),
    RP_EVENT(RP_CLOCK, 1, 0, 0, 0, 3, 8),  RP_EVENT(RP_CANCELLED, 3, 1, 0, 0, 0, 2),
    RP_EVENT(RP_ERROR, 3, 0, 0, 13, 0, 0),
};
static const struct rp_event second_calls[] = {
    RP_EVENT(RP_NO, 2, 0, 0, 1, 1, 6),
    RP_EVENT(RP_NO, 1, 0, 4, 0, 0, 2),
    RP_EVENT(RP_MATCH, 3, 4, 0, 1, 9, 3),
    RP_EVENT(RP_CLOCK, 3, 0, UINT32_C(1) << 31, 1, -1,
             4), /* behind a nonblocking collective call; late: below the line of the first chunk */
    RP_EVENT(RP_THREAD, 2, 0, 0, 1, 0, UINT64_C(0xfedcba9876543210)),
    RP_EVENT(RP_TURN, 2, 0, 0, 1, 0, 2),
    RP_EVENT(RP_RECV, 0, 0, 0, 2, 8, 0),
    RP_EVENT(RP_CLOCK, 0, 0, 0, 2, -1, 11),
    RP_EVENT(RP_RECV, 0, 0, 0, 0, 8, 0),
    RP_EVENT(RP_CLOCK, 0, 0, 0, 0, -1, 9),
    RP_EVENT(RP_FREED, 3, 0, 0, 1, 6, 2),
    RP_EVENT(RP_YES, 3, 0, 1, -1, 0, 0),
    RP_EVENT(RP_CLOCK, 3, 0, 0, 1, 0, 12),
    RP_EVENT(RP_NO, 2, 0, 0, 0, 0, UINT64_C(1) << 40),
};

static void put_site(struct rp_log_writer *writer, uint32_t number, const char *function,
                     bool with_module)
{
    struct rp_buffer records = {0};

    if (with_module) {
        rp_buffer_byte(&records, 'M');
        rp_buffer_string(&records, "\xca\xfe", 2);
        rp_buffer_string(&records, "/golden/app", 11);
    }
    rp_buffer_byte(&records, 'S');
    rp_buffer_string(&records, function, strlen(function));
    rp_buffer_varint(&records, 2);
    rp_buffer_varint(&records, 1);
    rp_buffer_varint(&records, 0x1000 + number);
    rp_buffer_varint(&records, 0);
    rp_buffer_varint(&records, 0xffffffff1234);
    rp_log_sites(writer, &records, number, 1);
    rp_buffer_free(&records);
}

static const struct rp_codec *codec = &rp_codec_mix;
static const struct rp_row_codec *rows;
static bool timed;

static struct rp_log_writer *create(const char *directory, uint32_t rank, uint32_t ranks,
                                    struct rp_ring **ring)
{
    struct rp_log_writer *writer;
    struct rp_problem why;

    need(rp_log_create(directory, RUN, rank, ranks,
                       &(struct rp_log_manner){.codec = codec, .rows = rows, .timed = timed},
                       &writer, &why) == RP_OK,
         "log", why.text);
    need(rp_log_stream(writer, 0, ring, &why) == RP_OK, "stream", why.text);
    put_site(writer, 0, "MPI_Recv", true);
    put_site(writer, 1, "MPI_Waitsome", false);
    put_site(writer, 2, "MPI_Iprobe", false);
    put_site(writer, 3, "MPI_Wait", false);
    return writer;
}

static void push(struct rp_log_writer *writer, struct rp_ring *ring, const struct rp_event *events,
                 size_t count)
{
    for (size_t i = 0; i < count; i++)
        *rp_ring_slot(ring) = events[i];
    rp_ring_publish(ring);
    rp_log_drain(writer);
}

static void close_log(struct rp_log_writer *writer, enum rp_end_reason reason, int64_t code)
{
    struct rp_problem why;

    need(rp_log_close(writer, reason, code, &why) == RP_OK, "close", why.text);
}

static char *start_record(const char *folder, const char *name, uint32_t ranks)
{
    static char *command[] = {"mpirun", "-n", "2", "./app", "caf\xc3\xa9 \"x\"", NULL},
                *allowed[] = {"MPI_Win_create", NULL};
    struct rp_manifest manifest = {.run = RUN,
                                   .ranks = ranks,
                                   .mpi = "openmpi",
                                   .mpi_version = "Open MPI v4.1.4",
                                   .program = "/golden/app",
                                   .build_id = "cafe",
                                   .directory = "/golden",
                                   .host = "golden",
                                   .started = "2024-02-29T12:00:00Z",
                                   .reprise = "0.1.0",
                                   .command = command,
                                   .allowed = allowed,
                                   .clocks = timed ? "lamport" : ""};
    struct rp_problem why;
    char *directory = rp_path_join(folder, name);

    need(rp_make_directory(directory, false, &why) == RP_OK, "directory", why.text);
    need(rp_manifest_write(directory, &manifest, &why) == RP_OK, "manifest", why.text);
    return directory;
}

static void finish_record(char *directory)
{
    struct rp_problem why;

    need(rp_manifest_complete(directory, &why) == RP_OK, "complete", why.text);
    free(directory);
}

static void make_closed(const char *folder, const char *name)
{
    char *directory = start_record(folder, name, 2);
    struct rp_ring *ring;
    struct rp_log_writer *writer = create(directory, 0, 2, &ring);

    push(writer, ring, first_chunk, COUNT(first_chunk));
    push(writer, ring, second_chunk, COUNT(second_chunk));
    push(writer, ring, third_chunk, COUNT(third_chunk));
    close_log(writer, RP_END_FINALIZE, 0);
    writer = create(directory, 1, 2, &ring);
    close_log(writer, RP_END_ABORT, -7);
    finish_record(directory);
}

/*
 * With clocks and times. Rank 1 sends A (clock 0, tag 7) and B (1, tag 6) to rank 0, rank 2 sends C
 * (0, tag 7). Rank 0 takes C (its clock is 1 then), A by its second request (2), sends D (2, tag 9)
 * to rank 1, takes B by its first request (4). Rank 1 takes D (3), sends E (3) to rank 2 and G (4,
 * tag 7) to rank 0. Rank 2 takes E by name (4), and sends F (4, tag 7) to rank 0, which takes F (5)
 * and then G (6).
 */
#define NOW UINT64_C(1700000000000000)

static void push_timed(struct rp_log_writer *writer, struct rp_ring *ring,
                       const struct rp_event *events, const uint64_t *times, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ring->times[(ring->head + i) % RP_RING_CAPACITY] = times[i] ? NOW + times[i] : 0;
    push(writer, ring, events, count);
}

static void make_timed(const char *folder)
{
    static const struct rp_event zero[] = {
        RP_EVENT(RP_RECV, 0, 2, 0, 2, 7, 0),   RP_EVENT(RP_CLOCK, 0, 0, 0, 2, -1, 0),
        RP_EVENT(RP_NO, 2, 0, 0, 0, 0, 3),     RP_EVENT(RP_MATCH, 3, 0, 0, 1, 7, 1),
        RP_EVENT(RP_CLOCK, 3, 0, 0, 1, -1, 0), RP_EVENT(RP_YES, 1, 0, 2, 1, 1, 0),
        RP_EVENT(RP_MATCH, 1, 0, 0, 1, 6, 0),  RP_EVENT(RP_CLOCK, 1, 0, 0, 1, 1, 1),
        RP_EVENT(RP_RECV, 0, 0, 0, 2, 7, 0),   RP_EVENT(RP_CLOCK, 0, 0, 0, 2, -1, 4),
        RP_EVENT(RP_RECV, 0, 0, 0, 1, 7, 0),   RP_EVENT(RP_CLOCK, 0, 0, 0, 1, -1, 4)};
    static const uint64_t zero_times[] = {100, 0, 150, 200, 0,    300,
                                          0,   0, 900, 0,   1000, 0}; /* 0: as the one before */
    static const struct rp_event one[] = {RP_EVENT(RP_RECV, 0, 0, 0, 0, 9, 0),
                                          RP_EVENT(RP_CLOCK, 0, 0, 0, 0, -1, 2)};
    static const uint64_t one_times[] = {400, 0};
    static const struct rp_event two[] = {RP_EVENT(RP_CLOCK, 3, 0, 0, 1, -1, 3)};
    static const uint64_t two_times[] = {600};
    struct rp_ring *ring;

    timed = true;
    char *directory = start_record(folder, "timed", 3);
    struct rp_log_writer *writer = create(directory, 0, 3, &ring);
    push_timed(writer, ring, zero, zero_times, 5);
    push_timed(writer, ring, zero + 5, zero_times + 5, COUNT(zero) - 5);
    close_log(writer, RP_END_FINALIZE, 0);
    writer = create(directory, 1, 3, &ring);
    push_timed(writer, ring, one, one_times, COUNT(one));
    close_log(writer, RP_END_FINALIZE, 0);
    writer = create(directory, 2, 3, &ring);
    push_timed(writer, ring, two, two_times, COUNT(two));
    close_log(writer, RP_END_FINALIZE, 0);
    timed = false;
    finish_record(directory);
}

/* A ring of 16 events, from docs/format.md, section 8: the real ones are too large to keep. */
static void put_ring(const char *directory, uint32_t rank, uint64_t tail, uint64_t head,
                     struct rp_event open_run, uint64_t open_at, const struct rp_event *newest,
                     size_t count)
{
    static uint8_t image[4096 + 16 * 32];
    struct rp_buffer header = {0};
    struct rp_problem why;
    char *path = rp_ring_path(directory, rank, 0);

    memset(image, 0, sizeof image);
    rp_buffer_put(&header, "\x89RPRRNG\n", 8);
    rp_buffer_u16(&header, 1);
    rp_buffer_u16(&header, 0);
    rp_buffer_u32(&header, 16);
    rp_buffer_u64(&header, RUN);
    rp_buffer_u32(&header, rank);
    rp_buffer_u32(&header, 0);
    memcpy(image, header.bytes, header.length);
    rp_buffer_clear(&header);
    rp_buffer_u32(&header, rp_crc32c(image, 60));
    memcpy(image + 60, header.bytes, 4);
    memcpy(image + 64, &head, 8);
    memcpy(image + 128, &tail, 8);
    memcpy(image + 192, &open_at, 8);
    memcpy(image + 256, &open_run, 32);
    for (size_t i = 0; i < count; i++)
        memcpy(image + 4096 + 32 * ((head - count + i) % 16), &newest[i], 32);
    unlink(path);
    need(rp_write_new_file(path, image, sizeof image, &why) == RP_OK, "ring", why.text);
    rp_buffer_free(&header);
    free(path);
}

/* A process that dies with 18 events in chunks. */
static void die_recording(const char *directory)
{
    static struct rp_event events[18];
    struct rp_ring *ring;
    struct rp_log_writer *writer = create(directory, 0, 2, &ring);

    for (int i = 0; i < 18; i++)
        events[i] = (struct rp_event)RP_EVENT(RP_RECV, 0, i == 0, 0, i, 100 + i, 0);
    push(writer, ring, events, 10);
    push(writer, ring, events + 10, 8);
    create(directory, 1, 2, &ring);
    _exit(0);
}

static void make_killed(const char *folder)
{
    static const struct rp_event zero[] = {RP_EVENT(RP_MATCH, 3, 2, 0, 4, 5, 0),
                                           RP_EVENT(RP_YES, 1, 0, 2, 1, 2, 0),
                                           RP_EVENT(RP_NEXT, 1, 0, 0, 0, 0, 0),
                                           RP_EVENT(RP_YES, 1, 0, 6, 2, 4,
                                                    0), /* cut off: two are missing */
                                           RP_EVENT(RP_NEXT, 1, 0, 0, 3, 0, 0)};
    static const struct rp_event one[] = {RP_EVENT(RP_RECV, 0, 0, 0, 0, 1, 0)};
    struct rp_event no_run = RP_EVENT(0, 0, 0, 0, 0, 0, 0),
                    run = RP_EVENT(RP_NO, 2, 0, 0, 0, 0, 42);
    char *directory = start_record(folder, "killed", 2);
    pid_t child = fork();

    if (child == 0)
        die_recording(directory);
    waitpid(child, NULL, 0);
    put_ring(directory, 0, 18, 23, no_run, 0, zero, COUNT(zero));
    put_ring(directory, 1, 0, 1, run, 1, one, COUNT(one));
    free(directory);
}

static void make_rows(const char *folder, const char *name)
{
    char *directory = start_record(folder, name, 3);
    struct rp_ring *ring;

    for (uint32_t rank = 0; rank < 3; rank++) {
        struct rp_log_writer *writer = create(directory, rank, 3, &ring);
        if (rank == 0) {
            push(writer, ring, first_calls, COUNT(first_calls));
            push(writer, ring, second_calls, COUNT(second_calls));
        }
        close_log(writer, RP_END_FINALIZE, 0);
    }
    finish_record(directory);
}

/* The first chunk of rank 0 is in its log, the second in the ring alone; a call behind it was cut
 * off. */
static void make_rows_killed(const char *folder)
{
    static const struct rp_event cut = RP_EVENT(RP_YES, 1, 0, 4, 2, 2, 0);
    struct rp_event newest[COUNT(second_calls) + 1], no_run = RP_EVENT(0, 0, 0, 0, 0, 0, 0);
    char *directory = start_record(folder, "rows-killed", 3);
    pid_t child = fork();

    if (child == 0) {
        struct rp_ring *ring;
        struct rp_log_writer *writer = create(directory, 0, 3, &ring);
        push(writer, ring, first_calls, COUNT(first_calls));
        close_log(create(directory, 1, 3, &ring), RP_END_FINALIZE, 0);
        close_log(create(directory, 2, 3, &ring), RP_END_ABORT, 3);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    memcpy(newest, second_calls, sizeof second_calls);
    newest[COUNT(second_calls)] = cut;
    put_ring(directory, 0, COUNT(first_calls), COUNT(first_calls) + COUNT(newest), no_run, 0,
             newest, COUNT(newest));
    free(directory);
}

/* Twenty thousand calls that gave messages, in orders that are not those of their clocks. */
static void make_large_rows(const char *folder, const char *name)
{
    char *directory = start_record(folder, name, LARGE_RANKS);
    struct rp_ring *ring;
    struct rp_log_writer *writer = create(directory, 0, LARGE_RANKS, &ring);
    uint64_t x = 1;

    for (int i = 0; i < 20000; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t site = (uint32_t)(x >> 20) % 4,
                 synced = (x >> 40) % 5000 == 0 ? UINT32_C(1) << 31 : 0;
        struct rp_event polls = RP_EVENT(RP_NO, site, 0, 0, (int32_t)(x >> 50) % 3 == 0, 0,
                                         1 + (x >> 8) % 1000),
                        sent = RP_EVENT(RP_YES, site, 0, 3, (int32_t)(x >> 33 & 3), 1, 0);
        struct rp_event clock =
            RP_EVENT(RP_CLOCK, site, 0, synced, (int32_t)(x >> 55) % LARGE_RANKS,
                     (int32_t)(x >> 30 & 3) - 1, (uint64_t)i * 3 + (x >> 45) % 40);
        if (x >> 60 < 3)
            *rp_ring_slot(ring) = x >> 59 & 1 ? polls : sent;
        *rp_ring_slot(ring) = clock;
        rp_ring_publish(ring);
        if (i % 7000 == 6999)
            rp_log_drain(writer);
    }
    close_log(writer, RP_END_EXIT, 5);
    for (uint32_t rank = 1; rank < LARGE_RANKS; rank++)
        close_log(create(directory, rank, LARGE_RANKS, &ring), RP_END_FINALIZE, 0);
    finish_record(directory);
}

/* Events of every kind, with receives that stay open for long; a chunk is written after each
 * `chunk` of them, or when it is full. */
static void make_large(const char *folder, const char *name, int events, int chunk)
{
    char *directory = start_record(folder, name, 1);
    struct rp_ring *ring;
    struct rp_log_writer *writer = create(directory, 0, 1, &ring);
    uint64_t x = 1, posts = 1000;

    for (int i = 0; i < events; i++) {
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t kind = 1 + (uint32_t)(x >> 40) % (RP_EVENT_KINDS - 1),
                 made = i == 0 ? 1000 : (uint32_t)(x >> 50) % 3;
        struct rp_event event =
            RP_EVENT(kind, (uint32_t)(x >> 20) % 4, made, (uint32_t)(x >> 12) % 5,
                     (int32_t)(x >> 30) % 1000, (int32_t)(x >> 35), 0);
        posts += i == 0 ? 0 : made;
        if (rp_event_has_post(kind))
            event.any.c = (x >> 3) % posts;
        if (kind == RP_THREAD || kind == RP_TURN)
            event.any.c = x;
        if (!rp_event_counts_posts(kind)) {
            event.any.a = 1 + (int32_t)(x >> 34 & 7);
            event.any.c = 1 + (x >> 8) % 100000;
            event.posts = 0;
            event.any.b = 0;
            posts -= i == 0 ? 0 : made;
        }
        if (kind == RP_YES) {
            event.any.a = x >> 60 & 1 ? (int32_t)(x >> 33 & 0xffff) : -1;
            event.any.b = event.any.a < 0 ? 0 : 1;
        } else if (kind == RP_NEXT || kind == RP_TURN) {
            event.any.a &= INT32_MAX;
        }
        *rp_ring_slot(ring) = event;
        rp_ring_publish(ring);
        if (i % chunk == chunk - 1)
            rp_log_drain(writer);
    }
    close_log(writer, RP_END_EXIT, 5);
    finish_record(directory);
}

int main(int argc, char **argv)
{
    need(argc == 2, "usage", "make FOLDER");
    make_closed(argv[1], "closed");
    make_killed(argv[1]);
    make_timed(argv[1]);
    make_large(argv[1], "large", 5000, 2000); /* decode.py takes a millisecond for each */
    codec = &rp_codec_tables;
    make_closed(argv[1], "closed-tables");
    make_large(argv[1], "large-tables", 20000, 20000);
    codec = &rp_codec_mix;
    rows = rp_row_codec_by_name("raw");
    make_rows(argv[1], "rows-raw");
    make_large_rows(argv[1], "large-raw");
    rows = rp_row_codec_by_name("gzip");
    make_rows(argv[1], "rows-gzip");
    rows = rp_row_codec_by_name("cdc");
    make_rows(argv[1], "rows-cdc");
    make_rows_killed(argv[1]);
    make_large_rows(argv[1], "large-cdc");
    return 0;
}
