/* SPDX-License-Identifier: MIT */
/* Logs of rows: what was pushed as events is read as their rows, closed or not, whatever the ring
 * was too small for. */
#include "sample.h"

static const char *const codecs[] = {"raw", "gzip", "cdc"};

static bool create(const char *directory, const char *codec, struct rp_log_writer **writer,
                   struct rp_ring **ring)
{
    struct rp_problem why;

    if (rp_log_create(directory, SAMPLE_RUN, SAMPLE_RANK, SAMPLE_RANKS,
                      &(struct rp_log_manner){.codec = &rp_codec_tables,
                                              .is_inline = true,
                                              .rows = rp_row_codec_by_name(codec)},
                      writer, &why) != RP_OK ||
        rp_log_stream(*writer, 0, ring, &why) != RP_OK) {
        unit_fail(__FILE__, __LINE__, "%s", why.text);
        return false;
    }
    sample_sites(*writer);
    return true;
}

/* A call that completed so many receives. */
static void push_call(struct rp_ring *ring, uint32_t site, uint32_t messages, uint64_t *clock,
                      bool whole)
{
    for (uint32_t i = 0; i < messages; i++)
        *rp_ring_slot(ring) =
            (struct rp_event)RP_EVENT(RP_CLOCK, site, 0, messages - 1 - i + !whole,
                                      (int32_t)(i % 3), (int32_t)i, ++*clock);
    rp_ring_publish(ring);
}

static void push_polls(struct rp_ring *ring, uint32_t site, uint64_t times)
{
    *rp_ring_slot(ring) = (struct rp_event)RP_EVENT(RP_NO, site, 0, 1, 0, 0, times);
    rp_ring_publish(ring);
}

static void check_sum(const char *directory, uint64_t events, uint64_t messages, uint64_t polls)
{
    struct rp_problem why;
    struct rp_log *log;
    struct rp_log_sum sum;

    enum rp_status status = sample_open(directory, &log, &why);
    CHECK_OK(status, why);
    if (status != RP_OK)
        return;
    CHECK(rp_log_has_rows(log));
    CHECK_OK(rp_log_verify(log, &sum, &why), why);
    CHECK_EQ(sum.events, events);
    CHECK_EQ(sum.receives, messages);
    CHECK_EQ(sum.polls, polls);
    CHECK_EQ(rp_log_event_count(log), events);
    rp_log_free(log);
}

static void run_log(const char *codec, bool closes)
{
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;
    uint64_t clock = 0;
    const char *directory = unit_temporary();

    REQUIRE(create(directory, codec, &writer, &ring));
    for (int i = 0; i < 5000; i++) {
        push_polls(ring, 0, 3);
        push_call(ring, 1, 2, &clock, true);
    }
    push_call(ring, 0, 3 * RP_RING_CAPACITY, &clock, true);
    push_call(ring, 1, 1, &clock, true);
    CHECK_OK(rp_log_close(writer, closes ? RP_END_FINALIZE : RP_END_KILLED, 0, &why), why);
    check_sum(directory, 15001 + 3 * RP_RING_CAPACITY, 10001 + 3 * RP_RING_CAPACITY, 15000);
}

TEST(closed_logs)
{
    for (int i = 0; i < 3; i++)
        run_log(codecs[i], true);
}

TEST(logs_without_an_end)
{
    for (int i = 0; i < 3; i++)
        run_log(codecs[i], false);
}

/* Also if its events are in chunks already: it did not return to the program. */
TEST(a_call_that_was_cut_off_has_no_rows)
{
    for (int i = 0; i < 6; i++) {
        struct rp_log_writer *writer;
        struct rp_ring *ring;
        struct rp_problem why;
        uint64_t clock = 0;
        const char *directory = unit_temporary();
        uint32_t length = i < 3 ? 5 : RP_RING_CAPACITY + 100;
        REQUIRE(create(directory, codecs[i % 3], &writer, &ring));
        push_call(ring, 0, 7, &clock, true);
        push_call(ring, 1, length, &clock, false);
        CHECK_OK(rp_log_close(writer, i % 2 ? RP_END_EXIT : RP_END_KILLED, 0, &why), why);
        check_sum(directory, 7 + length, 7, 0);
    }
}

/* Tables of cdc end where the program made a collective call. */
TEST(tables_are_cut)
{
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;
    struct rp_log *log;
    struct rp_row_chunk chunk;
    bool found;
    const char *directory = unit_temporary();

    REQUIRE(create(directory, "cdc", &writer, &ring));
    *rp_ring_slot(ring) = (struct rp_event)RP_EVENT(RP_CLOCK, 1, 0, 0, 2, -1, 100);
    push_polls(ring, 0, 4);
    *rp_ring_slot(ring) = (struct rp_event)RP_EVENT(RP_CLOCK, 1, 0, 1 | RP_CLOCK_FRESH, 1, 0, 3);
    *rp_ring_slot(ring) = (struct rp_event)RP_EVENT(RP_CLOCK, 1, 0, 0, 2, 1, 50);
    rp_ring_publish(ring);
    CHECK_OK(rp_log_close(writer, RP_END_FINALIZE, 0, &why), why);
    REQUIRE(sample_open(directory, &log, &why) == RP_OK);
    REQUIRE(rp_log_next_rows(log, &chunk, &found, &why) == RP_OK && found && chunk.is_cdc);
    CHECK_EQ(chunk.cdc.table_count, 2);
    CHECK_EQ(chunk.cdc.tables[0].message_count, 1);
    CHECK_EQ(chunk.cdc.tables[0].unmatched_count, 1);
    CHECK_EQ(chunk.cdc.tables[1].message_count, 2);
    CHECK_EQ(chunk.cdc.tables[1].late_count, 1);
    CHECK_EQ(chunk.cdc.tables[1].late[0].clock, 50);
    CHECK_EQ(chunk.cdc.tables[1].epoch_count, 2);
    rp_row_chunk_free(&chunk);
    CHECK(rp_log_next_rows(log, &chunk, &found, &why) == RP_OK && !found);
    rp_log_free(log);
}
