/* SPDX-License-Identifier: MIT */
/* The log writer where writes are short, interrupted or fail. This program's pwrite stands in for
 * the C library's. */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "said.h"
#include "sample.h"

static struct {
    bool on;
    uint64_t seed;
    size_t most;         /* bytes taken by one call; 0: any */
    unsigned interrupts; /* calls of which one is interrupted; 0: none */
    off_t room;          /* of the disk; < 0: any */
    int error;           /* when it is full */
    unsigned calls, shorts, interrupted, failed;
} disk;

static ssize_t fail_with(int error, unsigned *counter)
{
    (*counter)++;
    errno = error;
    return -1;
}

/* What the core calls. Only one thread at a time writes: the writer holds its lock. */
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
    size_t taken = length;

    if (!disk.on)
        return syscall(SYS_pwrite64, fd, bytes, length, offset);
    disk.calls++;
    if (disk.interrupts && unit_below(&disk.seed, disk.interrupts) == 0)
        return fail_with(EINTR, &disk.interrupted);
    if (disk.most)
        taken = 1 + unit_below(&disk.seed, disk.most);
    if (disk.room >= 0 && offset + (off_t)taken > disk.room)
        taken = offset < disk.room ? (size_t)(disk.room - offset) : 0;
    if (taken == 0)
        return disk.error ? fail_with(disk.error, &disk.failed) : 0;
    taken = taken < length ? taken : length;
    disk.shorts += taken < length;
    return syscall(SYS_pwrite64, fd, bytes, taken, offset);
}

static void set_disk(size_t most, unsigned interrupts, off_t room, int error)
{
    memset(&disk, 0, sizeof disk);
    disk.seed = 77;
    disk.most = most;
    disk.interrupts = interrupts;
    disk.room = room;
    disk.error = error;
    disk.on = true;
}

/* Reading what was written */

static bool has_ring(const char *directory)
{
    char *path = rp_ring_path(directory, SAMPLE_RANK, 0);
    bool there = access(path, F_OK) == 0;

    free(path);
    return there;
}

static struct rp_buffer read_log(const char *directory)
{
    struct rp_buffer bytes = {0};
    struct rp_problem why;
    char *path = rp_log_path(directory, SAMPLE_RANK);

    CHECK_OK(rp_read_file(path, 1 << 28, &bytes, &why), why);
    free(path);
    return bytes;
}

/* Where the last of the chunks ends. */
static uint64_t end_of_chunks(const struct rp_log *log)
{
    size_t count = rp_log_chunk_count(log);
    const struct rp_chunk *last = count > 0 ? rp_log_chunk(log, count - 1) : NULL;

    return last ? last->offset + RP_CHUNK_HEADER + last->stored : RP_LOG_HEADER;
}

static bool is_prefix(const char *directory, const char *whole)
{
    struct rp_buffer cut = read_log(directory), all = read_log(whole);
    bool is = cut.length <= all.length && memcmp(cut.bytes, all.bytes, cut.length) == 0;

    rp_buffer_free(&cut);
    rp_buffer_free(&all);
    return is;
}

/* The record has the first `least` to `most` of `events` and no others; of a recording that was
 * stopped by `error`, the file ends with a whole chunk. */
static void check_record(const char *directory, const struct rp_event *events, size_t least,
                         size_t most, int error)
{
    struct rp_log *log;
    struct rp_problem why = {""};
    struct rp_log_sum sum;
    enum rp_status status = sample_open(directory, &log, &why);

    CHECK_OK(status, why);
    REQUIRE(status == RP_OK);
    long long found = sample_prefix(log, events, most, &status, &why);
    CHECK_OK(status, why);
    CHECK(found >= (long long)least);
    CHECK_OK(rp_log_verify(log, &sum, &why), why);
    CHECK_EQ(sum.events, found);
    CHECK_EQ(rp_log_end(log).reason, error ? RP_END_STOPPED : RP_END_FINALIZE);
    CHECK_EQ(rp_log_end(log).code, error);
    CHECK_EQ(has_ring(directory), error != 0);
    if (error)
        CHECK_EQ(rp_log_size(log), end_of_chunks(log));
    rp_log_free(log);
}

/* Writing */

enum { FEW = 90, PARTS = 3 };

/* Three chunks, written when the test says so. `published` is how many events there were when the
 * writing stopped; all if it did not. */
static int write_few(const char *directory, const struct rp_event *events, size_t *published)
{
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;

    *published = 0;
    if (!sample_create(directory, &writer, &ring))
        return -1;
    for (size_t i = 0; i < PARTS; i++) {
        sample_push(ring, events + i * FEW / PARTS, FEW / PARTS);
        if (!rp_log_error(writer))
            *published += FEW / PARTS;
        rp_log_drain(writer);
    }
    int error = rp_log_error(writer);
    enum rp_status status = rp_log_close(writer, RP_END_FINALIZE, 0, &why);
    if (status == RP_OK)
        return 0;
    CHECK_EQ(status, RP_SYSTEM);
    CHECK_HAS(why.text, "recording stopped early");
    return error ? error : disk.error; /* END was what did not fit */
}

/* A log that nothing stood in the way of. */
static const char *whole_log(const struct rp_event *events)
{
    const char *directory = unit_temporary();
    size_t published;

    disk.on = false;
    CHECK_EQ(write_few(directory, events, &published), 0);
    return directory;
}

TEST(all_bytes_are_written_at_their_place)
{
    static const char text[] = "one two three four five six seven eight nine ten";
    const char *path = unit_path(unit_temporary(), "file");
    char back[sizeof text + 5];
    int fd = open(path, O_RDWR | O_CREAT, 0666);

    for (size_t most = 0; most < 12; most++) {
        CHECK_EQ(ftruncate(fd, 0), 0);
        set_disk(most, 2, -1, 0);
        CHECK_EQ(rp_write_all(fd, text, sizeof text, 5), 0);
        CHECK(disk.shorts > 0 || most == 0);
        CHECK_EQ(rp_read_all(fd, back, sizeof back, 0), 0);
        CHECK(memcmp(back, "\0\0\0\0\0", 5) == 0 && memcmp(back + 5, text, sizeof text) == 0);
        CHECK_EQ(lseek(fd, 0, SEEK_END), sizeof back);
    }
    set_disk(3, 2, 20, EIO);
    CHECK_EQ(rp_write_all(fd, text, sizeof text, 5), EIO);
    set_disk(3, 2, 20, 0); /* nothing was taken, without an error: not for ever */
    CHECK_EQ(rp_write_all(fd, text, sizeof text, 5), ENOSPC);
    disk.on = false;
    close(fd);
}

TEST(short_and_interrupted_writes_lose_nothing)
{
    struct rp_event *events = sample_stream(51, FEW);
    const char *whole = whole_log(events);
    static const size_t sizes[] = {1, 2, 7, 30, 100};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *directory = unit_temporary();
        size_t published;
        set_disk(sizes[i], 3, -1, 0);
        CHECK_EQ(write_few(directory, events, &published), 0);
        CHECK(disk.interrupted > 0 && disk.shorts > 0);
        disk.on = false;
        CHECK_EQ(published, FEW);
        check_record(directory, events, FEW, FEW, 0);
        CHECK(is_prefix(directory, whole) && is_prefix(whole, directory));
    }
    free(events);
}

TEST(short_writes_of_the_encoder_lose_nothing)
{
    enum { MANY = 100000 };
    const char *directory = unit_temporary();
    struct rp_event *events = sample_stream(52, MANY);
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;

    set_disk(500, 3, -1, 0);
    REQUIRE(sample_create(directory, &writer, &ring));
    sample_push(ring, events, MANY);
    CHECK_OK(rp_log_close(writer, RP_END_FINALIZE, 0, &why), why);
    CHECK(disk.interrupted > 20 && disk.shorts > 20);
    disk.on = false;
    check_record(directory, events, MANY, MANY, 0);
    free(events);
}

static off_t size_of(const char *directory)
{
    struct rp_buffer bytes = read_log(directory);
    off_t size = (off_t)bytes.length;

    rp_buffer_free(&bytes);
    return size;
}

/* Before the first event there are the header, without which there is no record, and the sites. */
TEST(a_disk_that_is_full_at_any_byte)
{
    struct rp_event *events = sample_stream(53, FEW);
    const char *whole = whole_log(events);
    off_t size = size_of(whole);
    size_t stops_at[PARTS + 1] = {0};

    for (off_t room = RP_LOG_HEADER; room < size; room++) {
        const char *directory = unit_temporary();
        size_t published;
        set_disk(room % 3 ? 0 : 20, 5, room, room % 2 ? ENOSPC : EDQUOT);
        catch_messages();
        int error = write_few(directory, events, &published);
        stop_catching();
        disk.on = false;
        CHECK_EQ(error, disk.error);
        CHECK_EQ(disk.failed, 1); /* and never tried again */
        CHECK_HAS(said, "recording stops");
        check_record(directory, events, published, published, error);
        CHECK(is_prefix(directory, whole));
        stops_at[published * PARTS / FEW]++;
    }
    for (size_t i = 0; i <= PARTS; i++)
        CHECK(stops_at[i] > 0);
    free(events);
}

/* How many chunks of the log each codec has made, and whether it holds the events. */
static void count_codecs(const char *directory, const struct rp_event *events, size_t count,
                         size_t *mix, size_t *tables)
{
    struct rp_log *log;
    struct rp_problem why;
    enum rp_status status;
    size_t found;

    *mix = *tables = 0;
    REQUIRE(sample_open(directory, &log, &why) == RP_OK);
    struct rp_event *read = sample_read(log, &found, &status, &why);
    CHECK_OK(status, why);
    CHECK_EQ(found, count);
    CHECK(found == count && memcmp(read, events, count * sizeof *events) == 0);
    free(read);
    for (size_t i = 0; i < rp_log_chunk_count(log); i++) {
        const struct rp_chunk *chunk = rp_log_chunk(log, i);
        *mix += chunk->kind == RP_CHUNK_EVENTS_KIND && chunk->codec == rp_codec_mix.id;
        *tables += chunk->kind == RP_CHUNK_EVENTS_KIND && chunk->codec == rp_codec_tables.id;
    }
    rp_log_free(log);
}

/* No share: only the first chunk, before which nothing was spent. All the time there is, many times
 * over: every chunk. */
TEST(a_codec_has_its_share_of_the_processor)
{
    enum { MANY = 60000 };
    struct rp_event *events = sample_stream(57, MANY);

    for (unsigned share = 0; share <= 100000; share += 100000) {
        const char *directory = unit_temporary();
        struct rp_log_writer *writer;
        struct rp_problem why;
        struct rp_ring *ring;
        size_t mix, tables;
        struct rp_log_manner manner = {.codec = &rp_codec_mix,
                                       .is_inline = true,
                                       .cheap = &rp_codec_tables,
                                       .share = share};

        REQUIRE(rp_log_create(directory, SAMPLE_RUN, SAMPLE_RANK, SAMPLE_RANKS, &manner, &writer,
                              &why) == RP_OK);
        REQUIRE(rp_log_stream(writer, 0, &ring, &why) == RP_OK);
        sample_sites(writer);
        sample_push(ring, events, MANY);
        CHECK_OK(rp_log_close(writer, RP_END_FINALIZE, 0, &why), why);
        count_codecs(directory, events, MANY, &mix, &tables);
        CHECK(mix + tables >= 3);
        if (share == 0)
            CHECK_EQ(mix, 1);
        else
            CHECK_EQ(tables, 0);
    }
    free(events);
}

TEST(a_header_that_does_not_fit)
{
    struct rp_log_writer *writer;
    struct rp_problem why;

    for (off_t room = 0; room < RP_LOG_HEADER; room++) {
        set_disk(0, 0, room, ENOSPC);
        CHECK_EQ(rp_log_create(unit_temporary(), SAMPLE_RUN, SAMPLE_RANK, SAMPLE_RANKS,
                               &(struct rp_log_manner){.codec = &rp_codec_mix}, &writer, &why),
                 RP_SYSTEM);
        CHECK_HAS(why.text, strerror(ENOSPC));
    }
    disk.on = false;
}

/* Events that had been published when the writing stopped, as the ring tells. */
static uint64_t stopped_head(const char *directory)
{
    struct rp_buffer bytes = {0};
    struct rp_ring_header header = {.stopped_head = UINT64_MAX};
    struct rp_problem why;
    char *path = rp_ring_path(directory, SAMPLE_RANK, 0);

    CHECK_OK(rp_read_file(path, 1 << 24, &bytes, &why), why);
    if (bytes.length >= sizeof header)
        memcpy(&header, bytes.bytes, sizeof header);
    rp_buffer_free(&bytes);
    free(path);
    return header.stopped_head;
}

/* The application goes on while the encoder finds the disk full. */
TEST(a_disk_that_is_full_under_the_encoder)
{
    enum { MANY = 60000 };
    struct rp_event *events = sample_stream(54, MANY);
    uint64_t seed = 54;

    for (int i = 0; i < 20; i++) {
        const char *directory = unit_temporary();
        struct rp_log_writer *writer;
        struct rp_ring *ring;
        struct rp_problem why;
        set_disk(500, 5, 2000 + (off_t)unit_below(&seed, 40000), ENOSPC);
        REQUIRE(sample_create(directory, &writer, &ring));
        catch_messages();
        sample_push(ring, events, MANY);
        CHECK_EQ(rp_log_close(writer, RP_END_FINALIZE, 0, &why), RP_SYSTEM);
        stop_catching();
        disk.on = false;
        CHECK_HAS(said, "the application goes on unrecorded");
        uint64_t most = stopped_head(directory), least = most;
        REQUIRE(most > 0 && most < MANY);
        while (least > 0 &&
               !sample_starts_call(&events[least])) /* published for want of room: of a call that
                                                       was cut off, not all may count */
            least--;
        check_record(directory, events, least, most, ENOSPC);
    }
    free(events);
}
