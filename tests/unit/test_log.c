/* SPDX-License-Identifier: MIT */
/* Writer and reader of a rank's log together: what was pushed is read, whatever happened in
 * between. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/file.h"
#include "said.h"
#include "sample.h"

/* Whole logs */

/* Receives posted up to the first event from `at` on that counts them, if `posts` were up to the
 * one before. */
static uint64_t posts_at(const struct rp_event *events, uint64_t at, uint64_t count, uint64_t posts)
{
    while (at < count && events[at].kind == RP_NO)
        at++;
    return at < count ? posts + events[at].posts : UINT64_MAX;
}

static void check_late(struct rp_log *log, const struct rp_event *events)
{
    struct rp_late *late = NULL, *expected = calloc(rp_log_event_count(log) + 1, sizeof *expected);
    size_t late_count = 0, expected_count = 0, chunks = 0, in_chunk = 0;
    uint64_t at = 0, posts = 0, posts_before = 0, before_previous = 0;
    struct rp_problem why;

    for (size_t i = 0; i < rp_log_chunk_count(log); i++) {
        const struct rp_chunk *chunk = rp_log_chunk(log, i),
                              *before = i > 0 ? rp_log_chunk(log, i - 1) : NULL;
        if (chunk->kind != RP_CHUNK_EVENTS_KIND)
            continue;
        CHECK_EQ(chunk->first, at);
        before_previous = posts_before;
        posts_before = posts_at(events, at, rp_log_event_count(log), posts);
        in_chunk = 0;
        for (uint32_t k = 0; k < chunk->items; k++, at++) {
            posts += events[at].posts;
            bool own = events[at].kind == RP_FREED && events[at].any.c >= posts - events[at].posts;
            if (!rp_event_has_post(events[at].kind) ||
                ((chunks == 0 || events[at].any.c >= before_previous) && !own))
                continue;
            expected[expected_count++] = (struct rp_late){events[at].any.c, events[at].kind,
                                                          events[at].any.a, events[at].any.b};
            in_chunk++;
        }
        bool has_late = before && before->kind == RP_CHUNK_LATE;
        CHECK_EQ(has_late ? before->items : 0, in_chunk);
        if (has_late)
            CHECK_EQ(before->first, chunk->first);
        chunks++;
    }
    CHECK_OK(rp_log_late(log, &late, &late_count, &why), why);
    CHECK_EQ(late_count, expected_count);
    for (size_t i = 0; i < late_count; i++) {
        bool found = false;
        CHECK(i == 0 || late[i - 1].post < late[i].post);
        for (size_t k = 0; k < expected_count && !found; k++)
            found = expected[k].post == late[i].post && expected[k].kind == late[i].kind &&
                    expected[k].source == late[i].source && expected[k].tag == late[i].tag;
        CHECK(found);
    }
    free(late);
    free(expected);
}

/* No LATE chunk tells of matches that are in the ring alone: the reader must. */
static void check_late_of_ring(struct rp_log *log, const struct rp_event *events, size_t count)
{
    struct rp_late *late = NULL;
    size_t late_count = 0, in_chunks = 0;
    struct rp_problem why;

    for (size_t i = 0; i < rp_log_chunk_count(log); i++)
        if (rp_log_chunk(log, i)->kind == RP_CHUNK_EVENTS_KIND)
            in_chunks += rp_log_chunk(log, i)->items;
    CHECK_OK(rp_log_late(log, &late, &late_count, &why), why);
    for (size_t i = in_chunks; i < count; i++) {
        bool found = !rp_event_has_post(events[i].kind);
        for (size_t k = 0; k < late_count && !found; k++)
            found = late[k].post == events[i].any.c && late[k].kind == events[i].kind &&
                    late[k].source == events[i].any.a;
        CHECK(found);
    }
    free(late);
}

static uint64_t receives_of(const struct rp_event *events, size_t count)
{
    uint64_t receives = 0;

    for (size_t i = 0; i < count; i++)
        receives += events[i].posts + (events[i].kind == RP_RECV || events[i].kind == RP_PROBE);
    return receives;
}

static uint64_t digest_of(const struct rp_event *events, size_t count)
{
    uint64_t digest = RP_DIGEST_START;

    for (size_t i = 0; i < count; i++)
        digest = rp_digest(digest, &events[i]);
    return digest;
}

static void check_log(const char *directory, const struct rp_event *events, size_t count,
                      enum rp_end_reason reason, int64_t code)
{
    struct rp_log *log;
    struct rp_problem why = {""};
    enum rp_status status;
    struct rp_log_sum sum;

    status = sample_open(directory, &log, &why);
    CHECK_OK(status, why);
    REQUIRE(status == RP_OK);
    CHECK_EQ(rp_log_event_count(log), count);
    CHECK_EQ(sample_prefix(log, events, count, &status, &why), count);
    CHECK_OK(status, why);
    struct rp_log_end end = rp_log_end(log);
    bool unclosed = reason == RP_END_KILLED || reason == RP_END_STOPPED;
    CHECK(end.reason == reason && end.code == code && end.events == count);
    CHECK_OK(rp_log_verify(log, &sum, &why), why);
    CHECK_EQ(sum.events, count);
    CHECK_EQ(sum.receives, receives_of(events, count));
    CHECK_EQ(sum.digest, digest_of(events, count));
    CHECK_EQ(end.digest, unclosed ? 0 : sum.digest);
    CHECK_EQ(end.receives, unclosed ? 0 : sum.receives);
    CHECK_EQ(rp_log_site_table(log)->site_count, SAMPLE_SITES);
    if (unclosed)
        check_late_of_ring(log, events, count);
    else
        check_late(log, events);
    rp_log_free(log);
}

static bool has_ring(const char *directory)
{
    char *path = rp_ring_path(directory, SAMPLE_RANK, 0);
    bool there = access(path, F_OK) == 0;

    free(path);
    return there;
}

TEST(a_long_log_through_the_encoder)
{
    enum { MANY = 300000 };
    const char *directory = unit_temporary();
    struct rp_event *events = sample_stream(11, MANY);
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;

    REQUIRE(sample_create(directory, &writer, &ring));
    sample_push(ring, events, MANY);
    rp_log_drain(writer);
    uint64_t receives = 0;
    for (size_t i = 0; i < MANY; i++)
        receives += rp_event_receives(&events[i]);
    struct rp_log_totals totals = rp_log_totals(writer);
    CHECK_EQ(totals.events, MANY);
    CHECK_EQ(totals.receives, receives);
    CHECK_EQ(rp_log_error(writer), 0);
    CHECK(has_ring(directory));
    CHECK_OK(rp_log_close(writer, RP_END_FINALIZE, 0, &why), why);
    CHECK(!has_ring(directory));
    check_log(directory, events, MANY, RP_END_FINALIZE, 0);
    free(events);
}

TEST(random_chunks_and_ends)
{
    uint64_t seed = 12;

    for (int i = 0; i < 60; i++) {
        const char *directory = unit_temporary();
        size_t count = 1 + unit_below(&seed, 3000), done = 0;
        struct rp_event *events = sample_stream(seed, count);
        struct rp_log_writer *writer;
        struct rp_ring *ring;
        struct rp_problem why;
        enum rp_end_reason reason = (enum rp_end_reason)unit_below(&seed, 3);
        int64_t code = (int64_t)unit_edge(&seed);
        REQUIRE(sample_create(directory, &writer, &ring));
        while (done < count) {
            size_t step = 1 + unit_below(&seed, unit_below(&seed, 2) ? 20 : 700);
            step = step < count - done ? step : count - done;
            sample_push(ring, events + done, step);
            rp_log_drain(writer);
            done += step;
        }
        CHECK_OK(rp_log_close(writer, reason, code, &why), why);
        check_log(directory, events, count, reason, code);
        free(events);
    }
}

TEST(a_log_without_events_or_streams)
{
    const char *directory = unit_temporary();
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;

    REQUIRE(sample_create(directory, &writer, &ring));
    CHECK_EQ(rp_log_stream(writer, 1, &ring, &why), RP_UNSUPPORTED);
    CHECK_OK(rp_log_close(writer, RP_END_EXIT, 3, &why), why);
    check_log(directory, NULL, 0, RP_END_EXIT, 3);
    directory = unit_temporary();
    REQUIRE(rp_log_create(directory, SAMPLE_RUN, SAMPLE_RANK, SAMPLE_RANKS,
                          &(struct rp_log_manner){.codec = &rp_codec_mix}, &writer, &why) == RP_OK);
    sample_sites(writer);
    CHECK_OK(rp_log_close(writer, RP_END_FINALIZE, 0, &why), why);
    check_log(directory, NULL, 0, RP_END_FINALIZE, 0);
    CHECK(rp_log_create(directory, SAMPLE_RUN, SAMPLE_RANK, SAMPLE_RANKS,
                        &(struct rp_log_manner){.codec = &rp_codec_mix}, &writer, &why) != RP_OK);
    CHECK_HAS(why.text, "rank-00001.log");
    CHECK(rp_log_create("/nowhere", SAMPLE_RUN, 0, 1,
                        &(struct rp_log_manner){.codec = &rp_codec_mix}, &writer, &why) != RP_OK);
}

TEST(names_of_files)
{
    char *log = rp_log_path("d", 7), *large = rp_log_path("d", 1234567),
         *ring = rp_ring_path("d", 7, 2);

    CHECK_STR(log, "d/rank-00007.log");
    CHECK_STR(large, "d/rank-1234567.log");
    CHECK_STR(ring, "d/rank-00007.2.ring");
    free(log);
    free(large);
    free(ring);
}

/* Bytes of small logs */

static struct rp_buffer read_log(const char *directory)
{
    struct rp_buffer bytes = {0};
    struct rp_problem why;
    char *path = rp_log_path(directory, SAMPLE_RANK);

    CHECK_OK(rp_read_file(path, 1 << 28, &bytes, &why), why);
    free(path);
    return bytes;
}

static void write_log(const char *directory, const void *bytes, size_t length)
{
    char *path = rp_log_path(directory, SAMPLE_RANK);
    int fd = open(path, O_WRONLY | O_CREAT, 0666);

    CHECK_EQ(rp_write_all(fd, bytes, length, 0), 0);
    CHECK_EQ(
        ftruncate(fd, (off_t)length),
        0); /* afterwards: a file cut to nothing first would be flushed to disk by some systems */
    close(fd);
    free(path);
}

/* A log of three EVENTS chunks, at least one LATE, closed or (in a child that dies) not. */
static void make_small(const char *directory, const struct rp_event *events, size_t count,
                       bool closed)
{
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;

    REQUIRE(sample_create(directory, &writer, &ring));
    for (int i = 0; i < 3; i++) {
        size_t from = count * (size_t)i / 3, to = count * (size_t)(i + 1) / 3;
        sample_push(ring, events + from, to - from);
        if (closed || i < 2)
            rp_log_drain(writer);
    }
    if (closed)
        CHECK_OK(rp_log_close(writer, RP_END_FINALIZE, 0, &why), why);
}

/* Runs `work` in a child that ends without closing anything, as a killed process does. */
static void in_child(void (*work)(const char *directory, const struct rp_event *events,
                                  size_t count),
                     const char *directory, const struct rp_event *events, size_t count)
{
    int status;

    pid_t child = unit_fork();
    if (child == 0) {
        work(directory, events, count);
        unit_child_exit();
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void make_small_unclosed(const char *directory, const struct rp_event *events, size_t count)
{
    make_small(directory, events, count, false);
}

/* Opens and reads what may be damaged: the events are a prefix; without any error they are all.
 * Returns how many, -1 if it did not open. */
static long long try_damaged(const char *directory, const struct rp_event *events, size_t count,
                             const char *what, size_t at)
{
    struct rp_log *log = NULL;
    struct rp_problem why = {""};
    enum rp_status status = sample_open(directory, &log, &why), verified;
    long long found = -1;
    struct rp_log_sum sum;

    unit_checks++;
    if (status == RP_OK) {
        found = sample_prefix(log, events, count, &status, &why);
        if (found < 0)
            unit_fail(__FILE__, __LINE__, "%s at %zu: wrong events", what, at);
        if (status == RP_OK && found != (long long)count)
            unit_fail(__FILE__, __LINE__, "%s at %zu: %lld events of %zu without an error", what,
                      at, found, count);
        verified = rp_log_verify(log, &sum, &why);
        if (verified == RP_OK && (status != RP_OK || sum.digest != digest_of(events, count)))
            unit_fail(__FILE__, __LINE__, "%s at %zu: verified, though damaged", what, at);
        status = verified;
        rp_log_free(log);
    }
    if (status != RP_OK && (status != RP_DAMAGED || !strstr(why.text, "rank-00001")))
        unit_fail(__FILE__, __LINE__, "%s at %zu: status %d, \"%s\"", what, at, status, why.text);
    return found;
}

TEST(a_closed_log_cut_off_at_every_byte)
{
    enum { FEW = 60 };
    const char *directory = unit_temporary();
    struct rp_event *events = sample_stream(21, FEW);

    make_small(directory, events, FEW, true);
    struct rp_buffer bytes = read_log(directory);
    for (size_t length = 0; length < bytes.length; length++) {
        write_log(directory, bytes.bytes, length);
        try_damaged(directory, events, FEW, "cut", length);
    }
    rp_buffer_free(&bytes);
    free(events);
}

TEST(a_closed_log_with_every_byte_changed)
{
    enum { FEW = 60 };
    static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x2a};
    const char *directory = unit_temporary();
    struct rp_event *events = sample_stream(22, FEW);

    make_small(directory, events, FEW, true);
    struct rp_buffer bytes = read_log(directory);
    for (size_t i = 0; i < bytes.length; i++)
        for (size_t k = 0; k < sizeof changes; k++) {
            bytes.bytes[i] ^= changes[k];
            write_log(directory, bytes.bytes, bytes.length);
            long long found = try_damaged(directory, events, FEW, "changed", i);
            if (i < RP_LOG_HEADER)
                CHECK_EQ(found, -1);
            bytes.bytes[i] ^= changes[k];
        }
    write_log(directory, bytes.bytes, bytes.length);
    check_log(directory, events, FEW, RP_END_FINALIZE, 0);
    rp_buffer_free(&bytes);
    free(events);
}

TEST(an_unclosed_log_and_its_ring_have_everything)
{
    enum { FEW = 60 };
    const char *directory = unit_temporary();
    struct rp_event *events = sample_stream(23, FEW);

    in_child(make_small_unclosed, directory, events, FEW);
    check_log(directory, events, FEW, RP_END_KILLED, 0);
    struct rp_buffer bytes = read_log(directory);
    size_t sites_end = 0, complete = 0;
    for (size_t length = bytes.length;
         length-- > 0;) { /* the ring has not wrapped around: it has what the log lost */
        write_log(directory, bytes.bytes, length);
        long long found = try_damaged(directory, events, FEW, "cut", length);
        complete += found == FEW;
        sites_end = found == FEW ? length : sites_end;
    }
    CHECK_EQ(complete, bytes.length - sites_end); /* whatever is cut off behind the sites */
    CHECK(complete > FEW);
    for (size_t i = 0; i < bytes.length; i++) {
        bytes.bytes[i] ^= 0x10;
        write_log(directory, bytes.bytes, bytes.length);
        try_damaged(directory, events, FEW, "changed", i);
        bytes.bytes[i] ^= 0x10;
    }
    write_log(directory, bytes.bytes, bytes.length);
    char *ring = rp_ring_path(directory, SAMPLE_RANK, 0);
    CHECK_EQ(unlink(ring), 0);
    struct rp_log *log;
    struct rp_problem why;
    CHECK_EQ(sample_open(directory, &log, &why), RP_DAMAGED);
    CHECK_HAS(why.text, "is missing");
    free(ring);
    rp_buffer_free(&bytes);
    free(events);
}

/* Death */

static uint64_t *progress; /* shared with the child: events that it has published */

static void push_until_killed(const char *directory, const struct rp_event *events, size_t count)
{
    struct rp_log_writer *writer;
    struct rp_ring *ring;

    REQUIRE(sample_create(directory, &writer, &ring));
    for (size_t i = 0; i < count;) {
        size_t call = 1;
        while (i + call < count && !sample_starts_call(&events[i + call]))
            call++;
        sample_push(ring, events + i, call);
        i += call;
        __atomic_store_n(progress, i, __ATOMIC_RELEASE);
    }
    for (;;)
        pause();
}

TEST(a_killed_process_loses_nothing_that_it_published)
{
    enum { MANY = 150000 };
    struct rp_event *events = sample_stream(31, MANY);
    uint64_t seed = 32;

    progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 12; i++) {
        const char *directory = unit_temporary();
        struct rp_log *log;
        struct rp_problem why;
        enum rp_status status;
        uint64_t until = unit_below(&seed, MANY);
        *progress = 0;
        pid_t child = unit_fork();
        if (child == 0) {
            push_until_killed(directory, events, MANY);
            unit_child_exit();
        }
        while (__atomic_load_n(progress, __ATOMIC_ACQUIRE) < until)
            ;
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        uint64_t published = *progress;
        REQUIRE(sample_open(directory, &log, &why) == RP_OK);
        long long found = sample_prefix(log, events, MANY, &status, &why);
        CHECK_OK(status, why);
        CHECK(found >= (long long)published);
        CHECK_EQ(rp_log_end(log).reason, RP_END_KILLED);
        rp_log_free(log);
        char *ring = rp_ring_path(directory, SAMPLE_RANK, 0);
        unlink(ring);
        free(ring);
    }
    munmap(progress, 4096);
    free(events);
}

static void leave_open_runs(const char *directory, const struct rp_event *events, size_t count)
{
    struct rp_log_writer *writer;
    struct rp_ring *ring;

    REQUIRE(sample_create(directory, &writer, &ring));
    sample_push(ring, events, count - 2);
    rp_log_drain(writer);
    ring->shared->open_at = ring->head;
    ring->shared->open_run[3] = events[count - 2];
    ring->shared->open_run[9] = events[count - 1];
}

TEST(the_open_runs_of_a_killed_process_count)
{
    enum { FEW = 50 };
    const char *directory = unit_temporary();
    struct rp_event *events = sample_stream(33, FEW);

    events[FEW - 2] = (struct rp_event)RP_EVENT(RP_NO, 1, 0, 2, 0, 1, 12345);
    events[FEW - 1] = (struct rp_event)RP_EVENT(RP_NO, 2, 0, 7, 0, 0, 1);
    in_child(leave_open_runs, directory, events, FEW);
    check_log(directory, events, FEW, RP_END_KILLED, 0);
    free(events);
}

/* The ring is half full inside a call, which wakes the encoder; then the process dies. */
static void die_inside_call(const char *directory, const struct rp_event *events, size_t count)
{
    struct rp_log_writer *writer;
    struct rp_ring *ring;

    REQUIRE(sample_create(directory, &writer, &ring));
    for (size_t i = 0; i + 1 < count; i++)
        *rp_ring_slot(ring) = events[i];
    rp_ring_publish(ring);
    *rp_ring_slot(ring) = (struct rp_event)RP_EVENT(RP_YES, 0, 0, 8, 1, 3, 0);
    *rp_ring_slot(ring) = (struct rp_event)RP_EVENT(RP_NEXT, 0, 0, 0, 2, 0, 0); /* calls for room */
    for (int i = 0; i < 20000 && ring->shared->tail + 1 < count; i++)
        usleep(100);
    CHECK(ring->shared->tail + 1 >= count);
}

TEST(a_call_cut_off_between_chunk_and_ring_does_not_count)
{
    enum { COUNT = RP_RING_CAPACITY / 2 };
    const char *directory = unit_temporary();
    struct rp_event *events = sample_stream(34, COUNT);
    struct rp_log *log;
    struct rp_problem why;
    enum rp_status status;

    in_child(die_inside_call, directory, events, COUNT);
    REQUIRE(sample_open(directory, &log, &why) == RP_OK);
    CHECK_EQ(sample_prefix(log, events, COUNT - 1, &status, &why),
             COUNT - 1); /* format.md, section 8: it did not return to the program */
    CHECK_OK(status, why);
    CHECK_EQ(rp_log_event_count(log), COUNT - 1);
    rp_log_free(log);
    free(events);
}

static void hold_the_lock(const char *directory, int ready, int done)
{
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    char byte = 0;

    if (sample_create(directory, &writer, &ring) && write(ready, &byte, 1) == 1 &&
        read(done, &byte, 1) >= 0)
        unit_child_exit();
    _exit(1);
}

TEST(a_record_that_is_being_written_is_not_read)
{
    const char *directory = unit_temporary();
    int ready[2], done[2];
    struct rp_log *log;
    struct rp_problem why;
    char byte;

    REQUIRE(pipe(ready) == 0 && pipe(done) == 0);
    pid_t child = unit_fork();
    if (child == 0) {
        close(done[1]);
        hold_the_lock(directory, ready[1], done[0]);
    }
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    CHECK_EQ(sample_open(directory, &log, &why), RP_BUSY);
    CHECK_HAS(why.text, "still being written by process");
    close(done[1]);
    waitpid(child, NULL, 0);
    CHECK_EQ(sample_open(directory, &log, &why), RP_OK);
    rp_log_free(log);
}

/* Failing writes */

static off_t log_length(const char *directory)
{
    char *path = rp_log_path(directory, SAMPLE_RANK);
    struct stat st = {0};

    CHECK_EQ(stat(path, &st), 0);
    free(path);
    return st.st_size;
}

static void limit_file_size(rlim_t limit)
{
    struct rlimit now;

    getrlimit(RLIMIT_FSIZE, &now);
    now.rlim_cur = limit;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &now), 0);
}

/* Pushes on through a disk that is full after `more` bytes, in pieces. */
static void record_until_full(const char *directory, const struct rp_event *events, size_t count,
                              rlim_t more)
{
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;

    REQUIRE(sample_create(directory, &writer, &ring));
    limit_file_size((rlim_t)log_length(directory) + more);
    sample_push(ring, events, count);
    limit_file_size(RLIM_INFINITY);
    CHECK_EQ(rp_log_error(writer), EFBIG);
    CHECK_EQ(rp_log_close(writer, RP_END_FINALIZE, 0, &why), RP_SYSTEM);
    CHECK_HAS(why.text, "recording stopped early");
    CHECK_HAS(why.text, strerror(EFBIG));
}

TEST(when_the_disk_is_full_the_application_goes_on)
{
    enum { MANY = 200000 };
    static const rlim_t limits[] = {0, 1, 40, 5000, 60000, 150000, 222222};
    struct rp_event *events = sample_stream(41, MANY);

    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const char *directory = unit_temporary();
        struct rp_log *log;
        struct rp_problem why;
        enum rp_status status;
        catch_messages();
        record_until_full(directory, events, MANY, limits[i]);
        stop_catching();
        CHECK_HAS(said, "recording stops");
        CHECK_HAS(said, "the application goes on unrecorded");
        CHECK(strchr(said, '\n') && strchr(said, '\n')[1] == 0); /* one message */
        CHECK(has_ring(directory));
        status = sample_open(directory, &log, &why);
        CHECK_OK(status, why);
        if (status != RP_OK)
            continue;
        long long found = sample_prefix(log, events, MANY, &status, &why);
        CHECK_OK(status, why);
        CHECK(found >= RP_RING_CAPACITY / 2); /* the ring has the newest */
        CHECK(rp_log_end(log).reason == RP_END_STOPPED && rp_log_end(log).code == EFBIG);
        rp_log_free(log);
    }
    free(events);
}

TEST(an_end_that_cannot_be_written_leaves_the_ring)
{
    enum { FEW = 40 };
    const char *directory = unit_temporary();
    struct rp_event *events = sample_stream(42, FEW);
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;

    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(sample_create(directory, &writer, &ring));
    sample_push(ring, events, FEW);
    rp_log_drain(writer);
    limit_file_size((rlim_t)log_length(directory) + 50);
    catch_messages();
    CHECK_EQ(rp_log_close(writer, RP_END_FINALIZE, 0, &why), RP_SYSTEM);
    stop_catching();
    limit_file_size(RLIM_INFINITY);
    CHECK(has_ring(directory));
    check_log(directory, events, FEW, RP_END_STOPPED, EFBIG);
    free(events);
}
