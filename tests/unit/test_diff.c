/* SPDX-License-Identifier: MIT */
/* Records that differ in one thing, and which of several differences came first. */
#include "log/logwriter.h"
#include "log/manifest.h"
#include "report/diff.h"
#include "unit.h"

enum { RUN = 5, MOST = 16, RANKS = 3 };
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What the ranks of a record say. */
struct script {
    const struct rp_event *events[RANKS];
    size_t count[RANKS];
    const uint64_t *times[RANKS]; /* NULL: none */
    bool clocked;
    const char *build_id; /* NULL: the usual */
    enum rp_end_reason reason;
};

static void put_site(struct rp_log_writer *writer, uint32_t number, const char *function)
{
    struct rp_buffer records = {0};

    if (number == 0) {
        rp_buffer_byte(&records, 'M');
        rp_buffer_string(&records, "\x01\x02", 2);
        rp_buffer_string(&records, "/bin/app", 8);
    }
    rp_buffer_byte(&records, 'S');
    rp_buffer_string(&records, function, strlen(function));
    rp_buffer_varint(&records, 1);
    rp_buffer_varint(&records, 1);
    rp_buffer_varint(&records, 0x100 + number);
    rp_log_sites(writer, &records, number, 1);
    rp_buffer_free(&records);
}

static void write_rank(const char *directory, uint32_t rank, const struct script *script)
{
    struct rp_log_manner manner = {.codec = &rp_codec_tables,
                                   .is_inline = true,
                                   .timed = script->times[rank] != NULL};
    struct rp_log_writer *writer;
    struct rp_ring *ring;
    struct rp_problem why;

    CHECK_OK(rp_log_create(directory, RUN, rank, RANKS, &manner, &writer, &why), why);
    CHECK_OK(rp_log_stream(writer, 0, &ring, &why), why);
    put_site(writer, 0, "MPI_Recv");
    put_site(writer, 1, "MPI_Test");
    put_site(writer, 2, "MPI_Recv"); /* elsewhere */
    for (size_t i = 0; i < script->count[rank]; i++) {
        uint64_t number = ring->head;
        *rp_ring_slot(ring) = script->events[rank][i];
        if (manner.timed)
            ring->times[number % RP_RING_CAPACITY] = script->times[rank][i];
    }
    rp_ring_publish(ring);
    CHECK_OK(rp_log_close(writer, script->reason, 0, &why), why);
}

static const char *record(const struct script *script)
{
    static char *command[] = {"app", NULL}, *none[] = {NULL};
    struct rp_manifest m = {.run = RUN,
                            .ranks = RANKS,
                            .mpi = "m",
                            .mpi_version = "",
                            .program = "app",
                            .build_id =
                                (char *)(uintptr_t)(script->build_id ? script->build_id : "1"),
                            .directory = "",
                            .host = "",
                            .started = "",
                            .reprise = "",
                            .command = command,
                            .allowed = none,
                            .codec = "tables",
                            .clocks = script->clocked ? "lamport" : ""};
    const char *directory = unit_temporary();
    struct rp_problem why;

    CHECK_OK(rp_manifest_write(directory, &m, &why), why);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        write_rank(directory, rank, script);
    CHECK_OK(rp_manifest_complete(directory, &why), why);
    return directory;
}

static void compare(const struct script *one, const struct script *other, bool without_polls,
                    struct rp_diff *diff)
{
    struct rp_problem why;

    memset(diff, 0, sizeof *diff);
    CHECK_OK(rp_diff_collect(record(one), record(other), without_polls, diff, &why), why);
}

/* Rank 0 alone has events. */
static struct script alone(const struct rp_event *events, size_t count)
{
    return (struct script){.events = {events}, .count = {count}};
}

TEST(the_first_event_that_differs_is_found_and_named)
{
    static const struct rp_event base[] = {RP_EVENT(RP_RECV, 0, 0, 0, 1, 7, 0),
                                           RP_EVENT(RP_RECV, 0, 1, 0, 2, 7, 0),
                                           RP_EVENT(RP_RECV, 0, 0, 0, 3, 7, 0)};
    static const struct {
        struct rp_event event;
        enum rp_difference difference;
    } cases[] = {
        {RP_EVENT(RP_RECV, 0, 1, 0, 2, 7, 0), RP_SAME},
        {RP_EVENT(RP_RECV, 0, 1, 0, 1, 7, 0), RP_DIFFERS_MESSAGE},
        {RP_EVENT(RP_RECV, 0, 1, 0, 2, 8, 0), RP_DIFFERS_MESSAGE},
        {RP_EVENT(RP_RECV, 0, 0, 0, 2, 7, 0), RP_DIFFERS_POSTS},
        {RP_EVENT(RP_RECV, 0, 1, 1, 2, 7, 0), RP_DIFFERS_SCOPE},
        {RP_EVENT(RP_RECV, 2, 1, 0, 2, 7, 0), RP_DIFFERS_PLACE},
        {RP_EVENT(RP_RECV, 1, 1, 0, 2, 7, 0), RP_DIFFERS_FUNCTION},
        {RP_EVENT(RP_ERROR, 0, 1, 0, 2, 0, 0), RP_DIFFERS_OUTCOME},
        {RP_EVENT(RP_NO, 1, 0, 1, 0, 0, 3), RP_DIFFERS_POLLS},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rp_event other[3] = {base[0], cases[i].event, RP_EVENT(RP_RECV, 0, 0, 0, 3, 7, 0)};
        struct script a = alone(base, 3), b = alone(other, 3);
        struct rp_diff diff;
        compare(&a, &b, false, &diff);
        CHECK_EQ(diff.rank_count, cases[i].difference != RP_SAME);
        if (diff.rank_count == 1) {
            CHECK_EQ(diff.ranks[0].difference, cases[i].difference);
            CHECK(diff.ranks[0].rank == 0 && diff.ranks[0].side[0].number == 1 &&
                  diff.ranks[0].side[1].number == 1);
            CHECK(diff.basis == RP_BY_ONLY && diff.certain);
            CHECK_STR(diff.ranks[0].side[0].place, "/bin/app(+0x100)");
            CHECK_HAS(diff.ranks[0].side[0].stack, "/bin/app(+0x100)");
        }
        rp_diff_free(&diff);
    }
}

TEST(ends_are_compared)
{
    static const struct rp_event events[] = {RP_EVENT(RP_RECV, 0, 0, 0, 1, 7, 0),
                                             RP_EVENT(RP_RECV, 0, 0, 0, 2, 7, 0)};
    struct script two = alone(events, 2), one = alone(events, 1), aborted = alone(events, 2);
    struct rp_diff diff;

    compare(&two, &one, false, &diff);
    CHECK(diff.rank_count == 1 && diff.ranks[0].difference == RP_DIFFERS_END);
    CHECK(diff.ranks[0].side[0].has_event && diff.ranks[0].side[0].number == 1);
    CHECK(!diff.ranks[0].side[1].has_event && diff.ranks[0].side[1].number == 1);
    rp_diff_free(&diff);
    aborted.reason = RP_END_ABORT;
    compare(&two, &aborted, false, &diff);
    CHECK_EQ(diff.rank_count, RANKS);
    CHECK(diff.ranks[0].difference == RP_DIFFERS_END && !diff.ranks[0].side[0].has_event &&
          diff.ranks[0].side[1].reason == RP_END_ABORT);
    rp_diff_free(&diff);
}

/* That the others were ended is what comes of it. */
TEST(an_end_is_not_the_earliest)
{
    static const struct rp_event one[] = {RP_EVENT(RP_RECV, 0, 0, 0, 1, 7, 0),
                                          RP_EVENT(RP_RECV, 0, 0, 0, 2, 7, 0)},
                                 other[] = {RP_EVENT(RP_RECV, 0, 0, 0, 1, 7, 0),
                                            RP_EVENT(RP_RECV, 0, 0, 0, 1, 7, 0)};
    struct script a = {.events = {NULL, one}, .count = {0, 2}},
                  b = {.events = {NULL, other}, .count = {0, 2}, .reason = RP_END_ABORT};
    struct rp_diff diff;

    compare(&a, &b, false, &diff);
    CHECK(diff.rank_count == RANKS && diff.ranks[diff.earliest].rank == 1 &&
          diff.basis == RP_BY_ONLY && diff.certain);
    rp_diff_free(&diff);
}

/* The order of polls within a group, and into how many groups they fell, says nothing; their counts
 * do. */
TEST(polls_are_compared_as_a_whole)
{
    static const struct rp_event one[] = {RP_EVENT(RP_NO, 1, 0, 1, 0, 1, 5),
                                          RP_EVENT(RP_NO, 1, 0, 2, 0, 0, 6),
                                          RP_EVENT(RP_RECV, 0, 0, 0, 1, 7, 0)};
    static const struct rp_event other[] = {RP_EVENT(RP_NO, 1, 0, 2, 0, 1, 6),
                                            RP_EVENT(RP_NO, 1, 0, 1, 0, 0, 5),
                                            RP_EVENT(RP_RECV, 0, 0, 0, 1, 7, 0)};
    static const struct rp_event more[] = {RP_EVENT(RP_NO, 1, 0, 1, 0, 0, 6),
                                           RP_EVENT(RP_NO, 1, 0, 2, 0, 0, 6),
                                           RP_EVENT(RP_RECV, 0, 0, 0, 1, 7, 0)};
    static const struct rp_event none[] = {RP_EVENT(RP_RECV, 0, 0, 0, 1, 7, 0)};
    static const struct rp_event others[] = {RP_EVENT(RP_NO, 1, 0, 9, 0, 0, 1),
                                             RP_EVENT(RP_RECV, 0, 0, 0, 3, 7, 0)};
    struct script a = alone(one, 3), b = alone(other, 3), c = alone(more, 3), d = alone(none, 1),
                  e = alone(others, 2);
    struct rp_diff diff;

    compare(&a, &b, false, &diff);
    CHECK_EQ(diff.rank_count, 0);
    rp_diff_free(&diff);
    compare(&a, &c, false, &diff);
    CHECK(diff.rank_count == 1 && diff.ranks[0].difference == RP_DIFFERS_POLLS &&
          diff.ranks[0].side[0].event.any.c == 11 && diff.ranks[0].side[1].event.any.c == 12);
    rp_diff_free(&diff);
    compare(&a, &d, false, &diff);
    CHECK(diff.rank_count == 1 && diff.ranks[0].difference == RP_DIFFERS_POLLS);
    rp_diff_free(&diff);
    compare(&a, &d, true, &diff);
    CHECK_EQ(diff.rank_count, 0);
    rp_diff_free(&diff);
    compare(&a, &e, true, &diff);
    CHECK(diff.rank_count == 1 && diff.ranks[0].difference == RP_DIFFERS_MESSAGE &&
          diff.ranks[0].side[0].number == 2 && diff.ranks[0].side[1].number == 1);
    rp_diff_free(&diff);
}

/* Two threads take turns in another order, but each has the same events; then one has another
 * message. */
TEST(threads_are_compared_for_themselves)
{
    static const struct rp_event one[] = {RP_EVENT(RP_MATCH, 0, 1, 0, 1, 7, 0),
                                          RP_EVENT(RP_THREAD, 0, 0, 0, 1, 0, 77),
                                          RP_EVENT(RP_TURN, 0, 0, 0, 1, 0, 0),
                                          RP_EVENT(RP_MATCH, 2, 1, 0, 2, 7, 1),
                                          RP_EVENT(RP_TURN, 0, 0, 0, 0, 0, 0),
                                          RP_EVENT(RP_MATCH, 0, 1, 0, 3, 7, 2)};
    static const struct rp_event other[] = {RP_EVENT(RP_MATCH, 0, 1, 0, 1, 7, 0),
                                            RP_EVENT(RP_MATCH, 0, 1, 0, 3, 7, 1),
                                            RP_EVENT(RP_THREAD, 0, 0, 0, 1, 0, 77),
                                            RP_EVENT(RP_TURN, 0, 0, 0, 1, 0, 0),
                                            RP_EVENT(RP_MATCH, 2, 1, 0, 2, 7, 2)};
    struct rp_event third[COUNT(other)];
    struct script a = alone(one, COUNT(one)), b = alone(other, COUNT(other)),
                  c = alone(third, COUNT(third));
    struct rp_diff diff;

    memcpy(third, other, sizeof other);
    third[4].any.a = 1;
    compare(&a, &b, false, &diff);
    CHECK(diff.rank_count == 1 && diff.ranks[0].difference == RP_DIFFERS_THREAD &&
          diff.ranks[0].side[0].number == 1);
    CHECK_EQ(diff.thread_count, 0);
    rp_diff_free(&diff);
    compare(&a, &c, false, &diff);
    CHECK_EQ(diff.rank_count, 1);
    CHECK(diff.thread_count == 1 && diff.threads[0].identity == 77 &&
          diff.threads[0].difference == RP_DIFFERS_MESSAGE);
    if (diff.thread_count == 1)
        CHECK(diff.threads[0].side[0].number == 3 && diff.threads[0].side[1].number == 4 &&
              diff.threads[0].side[0].thread == 1);
    rp_diff_free(&diff);
}

/* Rank 1 takes another message of clock 2, and tells rank 0 by a message of clock 8, which that
 * takes as its first event. */
TEST(the_earliest_is_that_of_the_smallest_clock)
{
    static const struct rp_event zero[2][2] = {{RP_EVENT(RP_RECV, 0, 0, 0, 1, 7, 0),
                                                RP_EVENT(RP_CLOCK, 0, 0, 0, 1, -1, 8)},
                                               {RP_EVENT(RP_RECV, 0, 0, 0, 2, 7, 0),
                                                RP_EVENT(RP_CLOCK, 0, 0, 0, 2, -1, 9)}};
    static const struct rp_event first[2][4] = {
        {RP_EVENT(RP_RECV, 0, 0, 0, 2, 7, 0), RP_EVENT(RP_CLOCK, 0, 0, 0, 2, -1, 1),
         RP_EVENT(RP_RECV, 0, 0, 0, 0, 7, 0), RP_EVENT(RP_CLOCK, 0, 0, 0, 0, -1, 2)},
        {RP_EVENT(RP_RECV, 0, 0, 0, 2, 7, 0), RP_EVENT(RP_CLOCK, 0, 0, 0, 2, -1, 4),
         RP_EVENT(RP_RECV, 0, 0, 0, 2, 7, 0), RP_EVENT(RP_CLOCK, 0, 0, 0, 2, -1, 5)}};
    struct script side[2];
    struct rp_diff diff;

    for (int i = 0; i < 2; i++)
        side[i] = (struct script){.events = {zero[i], first[i]}, .count = {2, 4}, .clocked = true};
    compare(&side[0], &side[1], false, &diff);
    REQUIRE(diff.rank_count == 2);
    CHECK(diff.ranks[0].side[0].number == 0 &&
          diff.ranks[1].side[0].number == 2); /* the clock of a message alone is no difference */
    CHECK(diff.basis == RP_BY_CLOCKS && diff.certain && diff.ranks[diff.earliest].rank == 1);
    CHECK(diff.ranks[0].side[0].clock == 9 && diff.ranks[1].side[0].clock == 3 &&
          diff.ranks[1].side[1].clock == 6);
    rp_diff_free(&diff);
    side[0].clocked = false; /* one record alone says nothing */
    compare(&side[0], &side[1], false, &diff);
    CHECK(diff.basis == RP_BY_NONE && !diff.certain && diff.ranks[diff.earliest].rank == 0);
    rp_diff_free(&diff);
}

TEST(the_earliest_is_that_of_the_first_time)
{
    static const struct rp_event a[] = {RP_EVENT(RP_RECV, 0, 0, 0, 1, 7, 0)},
                                 b[] = {RP_EVENT(RP_RECV, 0, 0, 0, 2, 7, 0)};
    static const uint64_t early[] = {100}, late[] = {200};
    struct script one = {.events = {a, a}, .count = {1, 1}, .times = {late, early, early}};
    struct script other = {.events = {b, b}, .count = {1, 1}, .times = {late, early, early}};
    struct script turned = {.events = {b, b}, .count = {1, 1}, .times = {early, late, early}};
    struct rp_diff diff;

    compare(&one, &other, false, &diff);
    CHECK(diff.rank_count == 2 && diff.basis == RP_BY_TIMES && diff.certain &&
          diff.ranks[diff.earliest].rank == 1);
    rp_diff_free(&diff);
    compare(&one, &turned, false, &diff);
    CHECK(diff.rank_count == 2 && diff.basis == RP_BY_TIMES && !diff.certain &&
          diff.ranks[diff.earliest].rank == 1);
    rp_diff_free(&diff);
}

TEST(another_build_is_told)
{
    static const struct rp_event events[] = {RP_EVENT(RP_RECV, 0, 0, 0, 1, 7, 0)};
    struct script one = alone(events, 1), other = alone(events, 1);
    struct rp_diff diff;

    other.build_id = "2";
    compare(&one, &other, false, &diff);
    CHECK(!diff.same_program && diff.rank_count == 0);
    rp_diff_free(&diff);
}
