/* SPDX-License-Identifier: MIT */
/* Events become the rows that their calls answered, in whatever pieces they come; rows become
 * tables; messages come into their reference order. */
#include "cdc/codec/rows.h"

#include "cdc/codec/indices.h"
#include "cdc/codec/reference_order.h"
#include "rowsample.h"

enum { MOST = 4096 };

static uint64_t seed = 35;

#define OTHER(at, next, ...)                                                                       \
    {                                                                                              \
        .kind = RP_ROW_OTHER, .site = at, .count = 1, .with_next = next, .other = __VA_ARGS__      \
    }
#define MESSAGE(at, next, from, when, which)                                                       \
    {                                                                                              \
        .kind = RP_ROW_MESSAGE, .site = at, .count = 1, .clock = when, .rank = from,               \
        .index = which, .with_next = next                                                          \
    }
#define COUNT(array) (sizeof(array) / sizeof *(array))
#define CLOCK(at, from, which, when, left) RP_EVENT(RP_CLOCK, at, 0, left, from, which, when)

static bool gives(const struct rp_event *events, size_t event_count, const struct rp_row *expected,
                  size_t count)
{
    struct rp_rows rows = {0};

    CHECK_EQ(rp_rows_add(&rows, events, event_count), RP_OK);
    CHECK_EQ(rp_rows_finish(&rows), RP_OK);
    CHECK_EQ(rp_rows_pending(&rows), 0);
    bool good = rp_rows_count(&rows) == count &&
                (count == 0 || memcmp(rp_rows_of(&rows), expected, count * sizeof *expected) == 0);
    rp_rows_free(&rows);
    return good;
}

#define GIVES(events, rows) CHECK(gives(events, COUNT(events), rows, COUNT(rows)))

TEST(receives_and_waits)
{
    static const struct rp_event events[] = {
        CLOCK(1, 4, -1, 10, 0), /* Recv or Wait of a named source */
        RP_EVENT(RP_RECV, 2, 0, 0, 5, 7, 0),
        CLOCK(2, 5, -1, 11, 0), /* Recv */
        RP_EVENT(RP_MATCH, 3, 9, 0, 6, 7, 20),
        CLOCK(3, 6, -1, 12, 0), /* Wait */
        RP_EVENT(RP_MATCH, 4, 1, 0, 7, 7, 21),
        RP_EVENT(RP_MATCH, 4, 0, 0, 6, 7, 22),
        CLOCK(4, 7, 0, 13, 2),
        CLOCK(4, 3, 1, 3, 1),
        CLOCK(4, 6, 4, 14, 0), /* Waitall */
        RP_EVENT(RP_RECV, 2, 0, 0, -2, -1, 0),
        RP_EVENT(RP_RECV, 2, 0, 0, 5, 7, 0),
        CLOCK(2, 5, -1, 15, 0), /* of MPI_PROC_NULL, then of somebody */
    };
    static const struct rp_row rows[] = {
        MESSAGE(1, 0, 4, 10, -1),
        MESSAGE(2, 0, 5, 11, -1),
        MESSAGE(3, 0, 6, 12, -1),
        MESSAGE(4, 1, 7, 13, 0),
        MESSAGE(4, 1, 3, 3, 1),
        MESSAGE(4, 0, 6, 14, 4),
        OTHER(2, 0, RP_EVENT(RP_RECV, 0, 0, 0, -2, -1, 0)),
        MESSAGE(2, 0, 5, 15, -1),
    };

    GIVES(events, rows);
}

TEST(tests_that_say_yes_or_no)
{
    static const struct rp_event events[] = {
        RP_EVENT(RP_NO, 1, 0, 3, 0, 1, 40),
        RP_EVENT(RP_NO, 2, 0, 4, 6, 0, 2),
        RP_EVENT(RP_YES, 1, 2, 1, -1, 0, 0),
        RP_EVENT(RP_MATCH, 1, 0, 0, 5, 7, 2),
        CLOCK(1, 5, -1, 9, 0),               /* Test of a receive */
        RP_EVENT(RP_YES, 1, 0, 1, -1, 0, 0), /* Test of a send */
        RP_EVENT(RP_YES, 3, 0, 4, -1, 0, 0),
        CLOCK(3, 1, 0, 9, 1),
        CLOCK(3, 2, 3, 9, 0),                 /* Testall of receives and others */
        RP_EVENT(RP_YES, 4, 0, 4, -1, -1, 0), /* Waitsome of nothing active */
    };
    static const struct rp_row rows[] = {
        {.kind = RP_ROW_UNMATCHED, .site = 1, .count = 40},
        {.kind = RP_ROW_UNMATCHED, .site = 2, .count = 2, .thread = 6},
        MESSAGE(1, 0, 5, 9, -1),
        OTHER(1, 0, RP_EVENT(RP_YES, 0, 0, 1, -1, 0, 0)),
        MESSAGE(3, 1, 1, 9, 0),
        MESSAGE(3, 0, 2, 9, 3),
        OTHER(4, 0, RP_EVENT(RP_YES, 0, 0, 4, -1, -1, 0)),
    };

    GIVES(events, rows);
}

TEST(indices_of_messages_and_of_others)
{
    static const struct rp_event events[] = {
        RP_EVENT(RP_YES, 1, 2, 8, 3, 3, 0),
        RP_EVENT(RP_NEXT, 1, 0, 0, 1, 0, 0),
        RP_EVENT(RP_NEXT, 1, 0, 0, 2, 0, 0),
        RP_EVENT(RP_MATCH, 1, 0, 0, 5, 7, 2),
        CLOCK(1, 5, 3, 9, 1),
        CLOCK(1, 6, 2, 8, 0),
        RP_EVENT(RP_YES, 1, 0, 8, 0, 1, 0),
        RP_EVENT(RP_CANCELLED, 1, 0, 0, 0, 0, 17),
        RP_EVENT(RP_YES, 2, 0, 8, 4, 1, 0),
        CLOCK(2, 5, 4, 10, 0),
        RP_EVENT(RP_YES, 2, 0, 8, 5, 2, 0),
        RP_EVENT(RP_NEXT, 2, 0, 0, 6, 0, 0),
    };
    static const struct rp_row rows[] = {
        MESSAGE(1, 1, 5, 9, 3),
        OTHER(1, 1, RP_EVENT(RP_NEXT, 0, 0, 0, 1, 0, 0)),
        MESSAGE(1, 0, 6, 8, 2),
        OTHER(1, 0, RP_EVENT(RP_CANCELLED, 0, 0, 0, 0, 0, 17)),
        OTHER(1, 0, RP_EVENT(RP_YES, 0, 0, 8, 0, 1, 0)),
        MESSAGE(2, 0, 5, 10, 4),
        OTHER(2, 1, RP_EVENT(RP_YES, 0, 0, 8, 5, 2, 0)),
        OTHER(2, 0, RP_EVENT(RP_NEXT, 0, 0, 0, 6, 0, 0)),
    };

    GIVES(events, rows);
}

TEST(a_waitall_that_failed_early)
{
    static const struct rp_event events[] = {RP_EVENT(RP_YES, 1, 0, 4, 0, 2, 7),
                                             RP_EVENT(RP_NEXT, 1, 0, 0, 2, 0, 0),
                                             CLOCK(1, 5, 0, 9, 1),
                                             CLOCK(1, 5, 2, 10, 0),
                                             RP_EVENT(RP_YES, 1, 0, 4, 1, 1, 8),
                                             RP_EVENT(RP_YES, 1, 0, 4, -1, 0, 9),
                                             CLOCK(1, 5, 3, 11, 0)};
    static const struct rp_row rows[] = {OTHER(1, 1, RP_EVENT(RP_YES, 0, 0, 4, 0, 2, 7)),
                                         MESSAGE(1, 1, 5, 9, 0),
                                         MESSAGE(1, 0, 5, 10, 2),
                                         OTHER(1, 0, RP_EVENT(RP_YES, 0, 0, 4, 1, 1, 8)),
                                         OTHER(1, 1, RP_EVENT(RP_YES, 0, 0, 4, -1, 0, 9)),
                                         MESSAGE(1, 0, 5, 11, 3)};

    GIVES(events, rows);
}

TEST(what_is_no_message)
{
    static const struct rp_event events[] = {
        RP_EVENT(RP_VALUE, 9, 0, 1, 3, 0, 4),
        RP_EVENT(RP_THREAD, 1, 0, 0, 1, 0, 99),
        RP_EVENT(RP_TURN, 1, 4, 0, 1, 0, 5),
        RP_EVENT(RP_PROBE, 2, 1, 3, 4, 5, 0),
        RP_EVENT(RP_FREED, 2, 0, 0, 4, 5, 6),
        RP_EVENT(RP_ERROR, 3, 0, 0, 5, 0, 0),
        RP_EVENT(RP_UNSENT, 4, 0, 0, 0, 0, 1),
        RP_EVENT(RP_CANCELLED, 4, 0, 0, 0, 0, 7),
        CLOCK(4, 1, 1, 2, 0),
        RP_EVENT(RP_MATCH, 5, 0, 0, 1, 1, 8),
        RP_EVENT(RP_NEXT, 6, 0, 0, 1, 0, 0),
    };
    static const struct rp_row rows[] = {
        OTHER(9, 0, RP_EVENT(RP_VALUE, 0, 0, 1, 3, 0, 4)),
        OTHER(1, 0, RP_EVENT(RP_THREAD, 0, 0, 0, 1, 0, 99)),
        OTHER(1, 0, RP_EVENT(RP_TURN, 0, 0, 0, 1, 0, 5)),
        OTHER(2, 0, RP_EVENT(RP_PROBE, 0, 0, 3, 4, 5, 0)),
        OTHER(2, 0, RP_EVENT(RP_FREED, 0, 0, 0, 4, 5, 6)),
        OTHER(3, 0, RP_EVENT(RP_ERROR, 0, 0, 0, 5, 0, 0)),
        OTHER(4, 0, RP_EVENT(RP_UNSENT, 0, 0, 0, 0, 0, 1)),
        OTHER(4, 0, RP_EVENT(RP_CANCELLED, 0, 0, 0, 0, 0, 7)),
        MESSAGE(4, 0, 1, 2, 1),
        OTHER(5, 0, RP_EVENT(RP_MATCH, 0, 0, 0, 1, 1, 8)),
        OTHER(6, 0, RP_EVENT(RP_NEXT, 0, 0, 0, 1, 0, 0)),
    };

    GIVES(events, rows);
}

TEST(clocks_that_do_not_count_down_are_of_two_calls)
{
    static const struct rp_event events[] = {CLOCK(1, 2, 0, 3, 2), CLOCK(1, 2, 1, 4, 1),
                                             CLOCK(1, 2, 0, 5, 1), CLOCK(1, 2, 1, 6, 0)};
    static const struct rp_row rows[] = {MESSAGE(1, 1, 2, 3, 0), MESSAGE(1, 0, 2, 4, 1),
                                         MESSAGE(1, 1, 2, 5, 0), MESSAGE(1, 0, 2, 6, 1)};

    GIVES(events, rows);
}

/* A wildcard receive of MPI_PROC_NULL and a named one, in a Waitall. */
TEST(nobody_has_no_clock)
{
    static const struct rp_event events[] = {RP_EVENT(RP_MATCH, 1, 1, 0, -2, -1, 0),
                                             CLOCK(1, 3, 1, 5, 0)};
    static const struct rp_row rows[] = {OTHER(1, 0, RP_EVENT(RP_MATCH, 0, 0, 0, -2, -1, 0)),
                                         MESSAGE(1, 0, 3, 5, 1)};

    GIVES(events, rows);
}

/* A call that posts begins behind the one before, which nobody's CLOCK told. */
TEST(a_match_that_no_clock_tells)
{
    static const struct rp_event events[] = {RP_EVENT(RP_MATCH, 1, 1, 0, 3, 0, 0),
                                             RP_EVENT(RP_MATCH, 1, 1, 0, 3, 0, 1),
                                             CLOCK(1, 3, -1, 5, 0)};
    static const struct rp_row rows[] = {OTHER(1, 0, RP_EVENT(RP_MATCH, 0, 0, 0, 3, 0, 0)),
                                         MESSAGE(1, 0, 3, 5, -1)};

    GIVES(events, rows);
}

TEST(a_call_that_was_cut_off_does_not_count)
{
    static const struct rp_event events[] = {CLOCK(1, 2, -1, 3, 0),
                                             RP_EVENT(RP_YES, 1, 0, 9, 1, 3, 0),
                                             RP_EVENT(RP_NEXT, 1, 0, 0, 2, 0, 0)};
    static const struct rp_event clocks[] = {CLOCK(1, 2, -1, 3, 0),
                                             RP_EVENT(RP_MATCH, 1, 1, 0, 3, 0, 0),
                                             CLOCK(1, 2, 0, 4, 2), CLOCK(1, 2, 1, 5, 1)};
    static const struct rp_row rows[] = {MESSAGE(1, 0, 2, 3, -1)};

    GIVES(events, rows);
    GIVES(clocks, rows);
}

/* Random programs: a site has one function. */

static struct rp_event events[MOST * 2];
static struct rp_row expected[MOST * 2];
static size_t event_count, row_count;
static uint64_t post, now;

static void add_event(uint32_t kind, uint32_t site, uint32_t scope, int32_t a, int32_t b,
                      uint64_t c)
{
    events[event_count++] = (struct rp_event)RP_EVENT(kind, site, 0, scope, a, b, c);
}

static struct rp_row *expect(struct rp_row row)
{
    expected[row_count] = row;
    return &expected[row_count++];
}

static void expect_other(struct rp_event event, bool with_next)
{
    event.site = event.posts = 0;
    expect((struct rp_row)OTHER(events[event_count - 1].site, with_next, event));
}

/* Completes `count` requests, of which some are receives; with the indices told or not. */
static void complete(uint32_t site, int32_t count, bool indices, bool always)
{
    bool receive[8], wild[8], unsent[8];
    int32_t receives = 0, first = (int32_t)unit_below(&seed, 3);

    for (int32_t i = 0; i < count; i++) {
        receive[i] = always || unit_below(&seed, 3) > 0;
        wild[i] = receive[i] && unit_below(&seed, 2);
        unsent[i] = !receive[i] && unit_below(&seed, 4) == 0;
        receives += receive[i];
    }
    for (int32_t i = 0; indices && i < count; i++)
        add_event(i == 0 ? RP_YES : RP_NEXT, site, i == 0 ? 20 : 0, first + i, i == 0 ? count : 0,
                  0);
    for (int32_t i = 0; i < count; i++)
        if (wild[i]) {
            add_event(RP_MATCH, site, 0, 3, 4, post++);
        } else if (unsent[i]) {
            add_event(RP_UNSENT, site, 0, 0, 0, post++);
            expect_other(events[event_count - 1], false);
        }
    int32_t left = receives;
    for (int32_t i = 0; i < count; i++)
        if (receive[i]) {
            add_event(RP_CLOCK, site, (uint32_t)--left, (int32_t)unit_below(&seed, 9), first + i,
                      now++);
            const struct rp_event *clock = &events[event_count - 1];
            expect((struct rp_row)MESSAGE(site, 1, clock->any.a, clock->any.c, clock->any.b));
        } else if (indices) {
            expect((struct rp_row)OTHER(site, 1,
                                        RP_EVENT(i == 0 ? RP_YES : RP_NEXT, 0, 0, i == 0 ? 20 : 0,
                                                 first + i, i == 0 ? count : 0, 0)));
        }
    if (receives > 0 || indices)
        expected[row_count - 1].with_next = 0;
}

static void random_call(void)
{
    uint32_t site = (uint32_t)unit_below(&seed, 7);
    int32_t many = 1 + (int32_t)unit_below(&seed, 8);
    bool fresh = unit_below(&seed, 4) == 0;
    size_t first = event_count;

    switch (site) {
    case 0:
        add_event(RP_NO, site, 1, (int32_t)unit_below(&seed, 2), 0, 1 + unit_below(&seed, 9));
        expect((struct rp_row){.kind = RP_ROW_UNMATCHED,
                               .site = site,
                               .count = events[first].any.c,
                               .thread = events[first].any.a});
        return;
    case 1:
        add_event(RP_PROBE, site, 0, 1, 2, 0);
        expect_other(events[first], false);
        break;
    case 2: /* Wait, named or not */
        complete(site, 1, false, true);
        break;
    case 3: /* Waitall */
        complete(site, many, false, true);
        break;
    case 4: /* Waitany */
        complete(site, 1, true, false);
        break;
    case 5: /* Waitsome */
        complete(site, many, true, false);
        break;
    default: /* Recv */
        add_event(RP_RECV, site, 0, 4, 5, 0);
        complete(site, 1, false, true);
    }
    if (fresh && events[first].kind != RP_CLOCK)
        events[first].posts = 1 + (uint32_t)unit_below(&seed, 3);
}

/* Recv makes no MATCH: it has its RECV. */
static void drop_match_behind_recv(void)
{
    size_t kept = 0;

    for (size_t i = 0; i < event_count; i++)
        if (!(i > 0 && events[i].kind == RP_MATCH && events[i - 1].kind == RP_RECV))
            events[kept++] = events[i];
    event_count = kept;
}

static void random_program(size_t calls)
{
    event_count = row_count = 0;
    for (size_t i = 0; i < calls; i++)
        random_call();
    drop_match_behind_recv();
}

static void in_pieces(size_t longest, struct rp_rows *rows, struct rp_rows *all)
{
    for (size_t at = 0; at < event_count;) {
        size_t piece = 1 + unit_below(&seed, longest);
        piece = piece < event_count - at ? piece : event_count - at;
        CHECK_EQ(rp_rows_add(rows, events + at, piece), RP_OK);
        at += piece;
        CHECK(rp_rows_pending(rows) <= at);
        rp_buffer_put(&all->rows, rp_rows_of(rows), rows->rows.length);
        rp_rows_clear(rows);
    }
    CHECK_EQ(rp_rows_finish(rows), RP_OK);
    rp_buffer_put(&all->rows, rp_rows_of(rows), rows->rows.length);
}

TEST(random_programs_in_any_pieces)
{
    for (int i = 0; i < 20000; i++) {
        struct rp_rows rows = {0}, all = {0};
        random_program(1 + unit_below(&seed, i % 100 == 0 ? 200 : 20));
        CHECK(gives(events, event_count, expected, row_count));
        in_pieces(1 + unit_below(&seed, 6), &rows, &all);
        CHECK_EQ(rp_rows_count(&all), row_count);
        CHECK(memcmp(rp_rows_of(&all), expected, row_count * sizeof *expected) == 0);
        rp_rows_free(&rows);
        rp_rows_free(&all);
    }
}

/* Any events at all: never more rows than events, each CLOCK a message, nothing lost but what a
 * CLOCK may tell. */
TEST(events_that_no_program_makes)
{
    for (int i = 0; i < 50000; i++) {
        size_t count = 1 + unit_below(&seed, 30), in[RP_EVENT_KINDS] = {0},
               out[RP_EVENT_KINDS] = {0}, kinds[4] = {0};
        struct rp_rows rows = {0};
        for (size_t k = 0; k < count; k++) {
            struct rp_event e =
                RP_EVENT(1 + (uint32_t)unit_below(&seed, RP_EVENT_KINDS - 1),
                         (uint32_t)unit_below(&seed, 2), (uint32_t)unit_below(&seed, 8) == 0,
                         (uint32_t)unit_below(&seed, 3), (int32_t)unit_below(&seed, 4) - 1,
                         (int32_t)unit_below(&seed, 4) - 1, unit_below(&seed, 2));
            events[k] = e;
            in[e.kind]++;
        }
        events[count++] =
            (struct rp_event)RP_EVENT(RP_NO, 0, 0, 0, 0, 0, 1); /* so that no call is cut off */
        in[RP_NO]++;
        CHECK_EQ(rp_rows_add(&rows, events, count), RP_OK);
        CHECK_EQ(rp_rows_finish(&rows), RP_OK);
        CHECK(rp_rows_count(&rows) <= count);
        for (size_t k = 0; k < rp_rows_count(&rows); k++) {
            kinds[rp_rows_of(&rows)[k].kind]++;
            out[rp_rows_of(&rows)[k].other.kind]++;
        }
        CHECK_EQ(kinds[RP_ROW_MESSAGE], in[RP_CLOCK]);
        CHECK_EQ(kinds[RP_ROW_UNMATCHED], in[RP_NO]);
        static const uint32_t kept[] = {RP_PROBE, RP_CANCELLED, RP_UNSENT, RP_ERROR,
                                        RP_FREED, RP_THREAD,    RP_TURN,   RP_VALUE};
        for (size_t k = 0; k < COUNT(kept); k++)
            CHECK_EQ(out[kept[k]], in[kept[k]]);
        rp_rows_free(&rows);
    }
}

/* Tables */

TEST(polls_between_two_entries_become_one_row)
{
    static const struct rp_row rows[] = {
        ROW_UNMATCHED(1, 5),
        ROW_MESSAGE(2, 0, 1, 1),
        ROW_UNMATCHED(1, 6),
        {.kind = RP_ROW_UNMATCHED, .site = 1, .count = 1, .thread = 3},
        ROW_UNMATCHED(1, 1),
        OTHER(3, 0, RP_EVENT(RP_TURN, 0, 0, 0, 1, 0, 0)),
        ROW_MESSAGE(1, 0, 1, 2),
        ROW_UNMATCHED(1, 9),
        ROW_UNMATCHED(1, UINT64_MAX),
    };
    struct rp_row_tables tables;

    CHECK_EQ(rp_row_tables_by_site(rows, COUNT(rows), &tables), RP_OK);
    CHECK_EQ(tables.table_count, 3);
    CHECK_EQ(tables.row_count, 7);
    REQUIRE(tables.tables[0].site == 1 && tables.tables[0].count == 5 &&
            tables.tables[1].site == 2 && tables.tables[2].site == 3);
    CHECK_EQ(tables.tables[0].rows[0].count, 12);
    CHECK_EQ(tables.tables[0].rows[1].thread, 3);
    CHECK_EQ(tables.tables[0].rows[2].kind, RP_ROW_MESSAGE);
    CHECK_EQ(tables.tables[0].rows[3].count, 9);
    CHECK_EQ(tables.tables[0].rows[4].count, UINT64_MAX);
    CHECK_EQ(tables.tables[2].rows[0].order, 1);
    rp_row_tables_free(&tables);
}

TEST(every_row_is_in_the_table_of_its_site)
{
    static struct rp_row rows[MOST + 8];

    for (int i = 0; i < 3000; i++) {
        struct row_style style = {
            1 + (uint32_t)unit_below(&seed, 1000), 4, 2, 3, 4, unit_below(&seed, 2)};
        size_t count = row_random_rows(&seed, &style, rows, unit_below(&seed, i % 100 ? 60 : MOST)),
               at = 0;
        uint64_t polls[2] = {0};
        struct rp_row_tables tables;
        CHECK_EQ(rp_row_tables_by_site(rows, count, &tables), RP_OK);
        for (size_t t = 0; t < tables.table_count; t++)
            for (size_t k = 0; k < tables.tables[t].count; k++, at++) {
                CHECK_EQ(tables.tables[t].rows[k].site, tables.tables[t].site);
                polls[0] += tables.tables[t].rows[k].kind == RP_ROW_UNMATCHED
                                ? tables.tables[t].rows[k].count
                                : 0;
            }
        for (size_t k = 0; k < count; k++)
            polls[1] += rows[k].kind == RP_ROW_UNMATCHED ? rows[k].count : 0;
        CHECK_EQ(at, tables.row_count);
        CHECK_EQ(polls[0], polls[1]);
        rp_row_tables_free(&tables);
    }
}

/* Reference order */

TEST(messages_are_sorted_and_equal_ones_stay)
{
    static struct rp_row_message messages[MOST], spare[MOST];

    for (int i = 0; i < 20000; i++) {
        size_t count = unit_below(&seed, i % 100 ? 40 : MOST);
        uint64_t clocks = 1 + unit_below(&seed, 60), runs = unit_below(&seed, 2);
        for (size_t k = 0; k < count; k++)
            messages[k] = (struct rp_row_message){runs * k + unit_below(&seed, clocks),
                                                  (int32_t)unit_below(&seed, 3), (uint32_t)k};
        rp_reference_sort(messages, spare, count);
        for (size_t k = 1; k < count; k++) {
            CHECK(!rp_row_message_before(&messages[k], &messages[k - 1]));
            CHECK(rp_row_message_before(&messages[k - 1], &messages[k]) ||
                  messages[k - 1].position < messages[k].position);
        }
    }
}

TEST(indices_are_predicted)
{
    struct rp_indices indices;

    REQUIRE(rp_indices_init(&indices, 10));
    CHECK_EQ(rp_indices_guess(&indices, 7), -1);
    rp_indices_tell(&indices, 7, 3);
    CHECK_EQ(rp_indices_guess(&indices, 8), 4);
    rp_indices_tell(&indices, 8, 4);
    CHECK_EQ(rp_indices_guess(&indices, 7), 3);
    rp_indices_tell(&indices, 7, -1);
    CHECK_EQ(rp_indices_guess(&indices, 9), -1);
    rp_indices_tell(&indices, 9, INT32_MAX);
    CHECK_EQ(rp_indices_guess(&indices, 10), -1);
    rp_indices_free(&indices);
}
