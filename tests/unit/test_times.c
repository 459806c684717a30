/* SPDX-License-Identifier: MIT */
/* Times of events: in chunks, in the ring alone, and damaged. */
#include <sys/wait.h>

#include "log/recode.h"
#include "sample.h"

enum { COUNT = 40000, STEP = 3 };
static const uint64_t start = UINT64_C(1700000000000000);

static bool create(const char *directory, bool is_inline, struct rp_log_writer **writer,
                   struct rp_ring **ring)
{
    struct rp_problem why;

    if (rp_log_create(directory, SAMPLE_RUN, SAMPLE_RANK, SAMPLE_RANKS,
                      &(struct rp_log_manner){.codec = &rp_codec_tables,
                                              .is_inline = is_inline,
                                              .timed = true},
                      writer, &why) != RP_OK ||
        rp_log_stream(*writer, 0, ring, &why) != RP_OK) {
        unit_fail(__FILE__, __LINE__, "%s", why.text);
        return false;
    }
    sample_sites(*writer);
    return true;
}

/* Every third event is stamped. */
static uint64_t time_of(size_t event)
{
    return start + event / STEP * 1000;
}

static void push(struct rp_ring *ring, const struct rp_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t number = ring->head;
        *rp_ring_slot(ring) = events[i];
        if (number % STEP == 0)
            ring->times[number % RP_RING_CAPACITY] = time_of(number);
        rp_ring_publish(ring);
    }
}

static size_t right_times(struct rp_log *log)
{
    static struct rp_event block[RP_CHUNK_EVENTS_LIMIT];
    struct rp_problem why;
    size_t count, right = 0, number = 0;

    rp_log_rewind(log);
    while (rp_log_next_block(log, block, &count, &why) == RP_OK && count > 0)
        for (size_t i = 0; i < count; i++, number++)
            right += rp_log_block_times(log) && rp_log_block_times(log)[i] == time_of(number);
    return right;
}

TEST(times_are_read_as_written_and_recoded)
{
    struct rp_event *events = sample_stream(1, COUNT);

    for (int is_inline = 0; is_inline < 2; is_inline++) {
        const char *directory = unit_temporary(), *other = unit_temporary();
        struct rp_log_writer *writer;
        struct rp_ring *ring;
        struct rp_problem why;
        struct rp_log *log;
        REQUIRE(create(directory, is_inline, &writer, &ring));
        push(ring, events, COUNT);
        CHECK_OK(rp_log_close(writer, RP_END_FINALIZE, 0, &why), why);
        REQUIRE(sample_open(directory, &log, &why) == RP_OK);
        CHECK(rp_log_is_timed(log));
        CHECK_EQ(right_times(log), COUNT);
        CHECK_OK(rp_log_recode(log, other, &rp_codec_mix, NULL, &why), why);
        rp_log_free(log);
        REQUIRE(sample_open(other, &log, &why) == RP_OK);
        CHECK_EQ(right_times(log), COUNT);
        rp_log_free(log);
    }
    free(events);
}

TEST(times_of_a_killed_process_are_in_its_ring)
{
    const char *directory = unit_temporary();
    struct rp_event *events = sample_stream(2, 100);
    struct rp_problem why;
    struct rp_log *log;
    pid_t child = fork();

    if (child == 0) {
        struct rp_log_writer *writer;
        struct rp_ring *ring;
        if (create(directory, true, &writer, &ring)) {
            push(ring, events, 60);
            rp_log_drain(writer);
            push(ring, events + 60, 40);
        }
        _exit(0);
    }
    waitpid(child, NULL, 0);
    REQUIRE(sample_open(directory, &log, &why) == RP_OK);
    CHECK_EQ(rp_log_end(log).reason, RP_END_KILLED);
    CHECK_EQ(right_times(log), 100);
    rp_log_free(log);
    free(events);
}

TEST(without_times_there_are_none)
{
    const char *directory = unit_temporary();
    struct rp_event *events = sample_stream(3, 100);
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;
    struct rp_log *log;

    REQUIRE(sample_create(directory, &writer, &ring));
    CHECK(!ring->times);
    sample_push(ring, events, 100);
    CHECK_OK(rp_log_close(writer, RP_END_FINALIZE, 0, &why), why);
    REQUIRE(sample_open(directory, &log, &why) == RP_OK);
    CHECK(!rp_log_is_timed(log));
    CHECK_EQ(right_times(log), 0);
    rp_log_free(log);
    free(events);
}

TEST(times_that_run_over_or_are_too_few_are_not_well_formed)
{
    static const uint8_t over[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1},
                         three[] = {5, 0, 7};
    uint64_t times[4];
    struct rp_view in = rp_view_of(over, sizeof over);

    CHECK(!rp_format_get_times(&in, times, 2));
    in = rp_view_of(three, 3);
    CHECK(rp_format_get_times(&in, times, 3) && times[0] == 5 && times[1] == 5 && times[2] == 12);
    in = rp_view_of(three, 3);
    CHECK(!rp_format_get_times(&in, times, 4));
    in = rp_view_of(three, 3);
    CHECK(!rp_format_get_times(&in, times, 2));
}
