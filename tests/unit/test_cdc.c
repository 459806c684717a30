/* SPDX-License-Identifier: MIT */
/* Codec cdc: the example of the paper (Clock Delta Compression, sections 3.1 to 3.5) in every step;
 * tables come back when their messages do; what was never put in is refused. */
#include "cdc/codec/cdc.h"

#include <malloc.h>
#include <zlib.h>

#include "cdc/codec/deflate.h"
#include "rowsample.h"

enum { MOST = 70000 };

static uint64_t seed = 45;
static struct rp_row rows[MOST + 8], again[MOST + 8];
static struct rp_row_message messages[MOST];
static struct rp_buffer payload, scratch;
static struct rp_row_sizes sizes;

static void encode(struct rp_row_coder *coder, const struct rp_row_tables *tables)
{
    rp_buffer_clear(&payload);
    CHECK_EQ(rp_cdc_encode(coder, tables, &payload, &sizes), RP_OK);
    CHECK_EQ(sizes.after, payload.length);
    CHECK_EQ(sizes.rows, tables->row_count);
}

static void shuffle(size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = unit_below(&seed, i);
        struct rp_row_message kept = messages[i - 1];
        messages[i - 1] = messages[other];
        messages[other] = kept;
    }
}

static size_t take_messages(const struct rp_row_table *table)
{
    size_t count = 0;

    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].kind == RP_ROW_MESSAGE)
            messages[count++] =
                (struct rp_row_message){table->rows[i].clock, table->rows[i].rank, 0};
    return count;
}

/* The messages are brought in another order. */
static bool table_comes_back(const struct rp_row_table *table, const struct rp_cdc_table *decoded)
{
    struct rp_problem why = {""};
    size_t count = take_messages(table);

    if (decoded->site != table->site || rp_cdc_row_count(decoded) != table->count ||
        decoded->message_count != count)
        return false;
    shuffle(count);
    memset(again, 0xee, table->count * sizeof *again);
    return rp_cdc_restore(decoded, messages, count, again, &why) == RP_OK &&
           memcmp(again, table->rows, table->count * sizeof *again) == 0;
}

static bool comes_back(struct rp_row_coder *coder, const struct rp_row_tables *tables)
{
    struct rp_cdc_chunk chunk;
    struct rp_problem why = {""};

    encode(coder, tables);
    if (rp_cdc_decode(payload.bytes, payload.length, sizes.before, tables->row_count, &scratch,
                      &chunk, &why) != RP_OK) {
        unit_fail(__FILE__, __LINE__, "%s", why.text);
        return false;
    }
    bool good = chunk.table_count == tables->table_count;
    for (size_t i = 0; good && i < chunk.table_count; i++)
        good = table_comes_back(&tables->tables[i], &chunk.tables[i]);
    rp_cdc_chunk_free(&chunk);
    return good;
}

/* The paper's example: 55 values in quintuples, then 23, then 19 */

static void decode_paper(struct rp_cdc_chunk *chunk)
{
    struct rp_row_coder coder = {0};
    struct rp_row_tables tables;
    struct rp_problem why = {""};

    CHECK_EQ(rp_row_tables_by_site(row_paper, ROW_PAPER, &tables), RP_OK);
    encode(&coder, &tables);
    CHECK_OK(rp_cdc_decode(payload.bytes, payload.length, sizes.before, ROW_PAPER, &scratch, chunk,
                           &why),
             why);
    rp_row_tables_free(&tables);
    rp_row_coder_free(&coder);
}

TEST(figures_4_to_8_count_55_23_and_19_values)
{
    struct rp_cdc_chunk chunk;
    const uint64_t *items = sizes.items;

    decode_paper(&chunk);
    CHECK_EQ(5 * sizes.rows, 55);
    CHECK_EQ(2 * sizes.messages + items[RP_PART_WITH_NEXT] + 2 * items[RP_PART_UNMATCHED], 23);
    CHECK_EQ(2 * items[RP_PART_EPOCH] + 2 * items[RP_PART_UNMATCHED] + items[RP_PART_WITH_NEXT] +
                 2 * items[RP_PART_MATCHED],
             19);
    CHECK_EQ(items[RP_PART_LATE] + items[RP_PART_OTHERS] + items[RP_PART_INDEX], 0);
    rp_cdc_chunk_free(&chunk);
}

TEST(figure_6_has_these_tables)
{
    static const uint32_t order[] = {0, 3, 2, 1, 4, 7, 5, 6};
    static const uint8_t with_next[] = {0, 1, 0, 0, 0, 0, 0, 0};
    static const uint64_t unmatched[][2] = {{1, 2}, {6, 3}, {7, 1}};
    struct rp_cdc_chunk chunk;

    decode_paper(&chunk);
    REQUIRE(chunk.table_count == 1);
    const struct rp_cdc_table *table = &chunk.tables[0];
    REQUIRE(table->message_count == 8 && table->entry_count == 8 && table->unmatched_count == 3);
    CHECK(memcmp(table->order, order, sizeof order) == 0);
    CHECK(memcmp(table->with_next, with_next, sizeof with_next) == 0);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(table->unmatched[i].entry, unmatched[i][0]);
        CHECK_EQ(table->unmatched[i].count, unmatched[i][1]);
    }
    rp_cdc_chunk_free(&chunk);
}

TEST(the_epoch_line_is_that_of_figure_8)
{
    static const struct rp_cdc_clock epoch[] = {{0, 18}, {1, 19}, {2, 8}};
    struct rp_cdc_chunk chunk;

    decode_paper(&chunk);
    REQUIRE(chunk.table_count == 1 && chunk.tables[0].epoch_count == 3);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(chunk.tables[0].epoch[i].rank, epoch[i].rank);
        CHECK_EQ(chunk.tables[0].epoch[i].clock, epoch[i].clock);
    }
    rp_cdc_chunk_free(&chunk);
}

/* Figure 8, whose columns of indices are here as equation 3 has them: test_permutation.c says why.
 * Numbers are zigzag: 2 for 1, 1 for -1. */
TEST(the_bytes_are_those_of_the_format)
{
    static const uint8_t expected[] = {
        1, 5, 8, 0,  3, 1,
        3, 3, 0, 0,  0, /* tables; site, entries, others, moves, with_next, unmatched, epoch, late,
                           indices, threads */
        2, 0, 8, 4,  2, 3,  /* moves: index 1, 0, 4; delay +2, +1, -2 */
        2,                  /* with_next: 1 */
        2, 8, 7, 2,  3, 1,  /* unmatched: index 1, 4, -4; count 2, 3, 1 */
        0, 2, 0, 36, 2, 21, /* epoch: rank 0, 1, 0; clock 18, +1, -11 */
    };
    struct rp_cdc_chunk chunk;
    uint8_t bytes[256];
    uLongf length = sizeof bytes;

    decode_paper(&chunk);
    rp_cdc_chunk_free(&chunk);
    CHECK_EQ(uncompress(bytes, &length, payload.bytes, payload.length), Z_OK);
    CHECK_EQ(length, sizeof expected);
    CHECK(memcmp(bytes, expected, sizeof expected) == 0);
    CHECK_EQ(sizes.before, sizeof expected);
    CHECK_EQ(sizes.bytes[RP_PART_FRAME], 11);
    CHECK_EQ(sizes.bytes[RP_PART_MATCHED], 6);
    CHECK_EQ(sizes.bytes[RP_PART_WITH_NEXT], 1);
    CHECK_EQ(sizes.bytes[RP_PART_UNMATCHED], 6);
    CHECK_EQ(sizes.bytes[RP_PART_EPOCH], 6);
}

TEST(the_rows_of_figure_4_come_back)
{
    struct rp_row_coder coder = {0};
    struct rp_row_tables tables;

    CHECK_EQ(rp_row_tables_by_site(row_paper, ROW_PAPER, &tables), RP_OK);
    CHECK(comes_back(&coder, &tables));
    CHECK(memcmp(again, row_paper, sizeof row_paper) == 0);
    rp_row_tables_free(&tables);
    rp_row_coder_free(&coder);
}

/* Section 3.3: an observed order that is the reference order costs nothing. */
TEST(messages_in_order_cost_nothing)
{
    struct rp_row_coder coder = {0};
    struct rp_row_tables tables;

    for (size_t i = 0; i < 60000; i++)
        rows[i] = (struct rp_row)ROW_MESSAGE(1, 0, (int32_t)(i % 7), i);
    CHECK_EQ(rp_row_tables_by_site(rows, 60000, &tables), RP_OK);
    CHECK(comes_back(&coder, &tables));
    CHECK_EQ(sizes.bytes[RP_PART_MATCHED] + sizes.bytes[RP_PART_WITH_NEXT] +
                 sizes.bytes[RP_PART_UNMATCHED] + sizes.bytes[RP_PART_INDEX],
             0);
    CHECK(sizes.after < 60);
    rp_row_tables_free(&tables);
    rp_row_coder_free(&coder);
}

/* Round trips */

TEST(random_tables_come_back)
{
    for (int i = 0; i < 30000; i++) {
        struct row_style style = row_random_style(&seed);
        struct rp_row_coder coder = {0};
        struct rp_row_tables tables;
        size_t count =
            row_random_rows(&seed, &style, rows, unit_below(&seed, i % 300 == 0 ? 4000 : 40));
        CHECK_EQ(rp_row_tables_by_site(rows, count, &tables), RP_OK);
        CHECK(comes_back(&coder, &tables));
        CHECK(comes_back(&coder, &tables)); /* everything is late now */
        CHECK_EQ(sizes.items[RP_PART_LATE], sizes.messages);
        rp_row_tables_free(&tables);
        rp_row_coder_free(&coder);
    }
}

static void large(const struct row_style *style, size_t count)
{
    struct rp_row_coder coder = {0};
    struct rp_row_tables tables;

    CHECK_EQ(rp_row_tables_by_site(rows, row_random_rows(&seed, style, rows, count), &tables),
             RP_OK);
    CHECK(comes_back(&coder, &tables));
    rp_row_tables_free(&tables);
    rp_row_coder_free(&coder);
}

TEST(the_largest_chunks_come_back)
{
    large(&(struct row_style){1, 64, 0, 100000, 0, false}, 65536);
    large(&(struct row_style){1, 4000, 0, 5, 0, false}, 16384);
    large(&(struct row_style){65536, 64, 2, 9, 4, false}, 16384);
    large(&(struct row_style){1, 64, 2, 9, 8, true}, 16384);
}

/* Late messages: below a line of before. */
TEST(a_message_below_the_line_is_listed)
{
    static const struct rp_row first[] = {ROW_MESSAGE(1, 0, 3, 10), ROW_MESSAGE(1, 0, 4, 20),
                                          ROW_MESSAGE(2, 0, 3, 30)};
    static const struct rp_row second[] = {ROW_MESSAGE(1, 0, 3, 9), ROW_MESSAGE(1, 0, 3, 11),
                                           ROW_MESSAGE(1, 0, 5, 1), ROW_MESSAGE(1, 0, 4, 19),
                                           ROW_MESSAGE(2, 0, 4, 1)};
    struct rp_row_coder coder = {0};
    struct rp_row_tables tables;
    struct rp_cdc_chunk chunk;
    struct rp_problem why = {""};

    CHECK_EQ(rp_row_tables_by_site(first, 3, &tables), RP_OK);
    CHECK(comes_back(&coder, &tables));
    CHECK_EQ(sizes.items[RP_PART_LATE], 0);
    rp_row_tables_free(&tables);
    CHECK_EQ(rp_row_tables_by_site(second, 5, &tables), RP_OK);
    CHECK(comes_back(&coder, &tables));
    CHECK_EQ(sizes.items[RP_PART_LATE], 2);
    CHECK_OK(rp_cdc_decode(payload.bytes, payload.length, sizes.before, 5, &scratch, &chunk, &why),
             why);
    REQUIRE(chunk.table_count == 2 && chunk.tables[0].late_count == 2 &&
            chunk.tables[1].late_count == 0);
    CHECK(chunk.tables[0].late[0].rank == 3 && chunk.tables[0].late[0].clock == 9);
    CHECK(chunk.tables[0].late[1].rank == 4 && chunk.tables[0].late[1].clock == 19);
    rp_cdc_chunk_free(&chunk);
    rp_row_tables_free(&tables);
    rp_row_coder_free(&coder);
}

/*
 * What a replay relies on: given all messages of a site of the whole stream, the epoch lines and
 * the late messages tell which chunk each belongs to. A model that gives each message to the first
 * chunk whose line it is not above, unless it is late in a later one, must find the chunk that had
 * it.
 */
enum { CHUNKS = 12 };

static bool is_late_after(const struct rp_cdc_chunk *chunks, int from, const struct rp_row *row,
                          int *where)
{
    for (int c = from; c < CHUNKS; c++)
        for (size_t i = 0; chunks[c].table_count > 0 && i < chunks[c].tables[0].late_count; i++)
            if (chunks[c].tables[0].late[i].rank == row->rank &&
                chunks[c].tables[0].late[i].clock == row->clock) {
                *where = c;
                return true;
            }
    return false;
}

static int chunk_of(const struct rp_cdc_chunk *chunks, const struct rp_row *row)
{
    int where;

    if (is_late_after(chunks, 0, row, &where))
        return where;
    for (int c = 0; c < CHUNKS; c++)
        for (size_t i = 0; chunks[c].table_count > 0 && i < chunks[c].tables[0].epoch_count; i++)
            if (chunks[c].tables[0].epoch[i].rank == row->rank &&
                row->clock <= chunks[c].tables[0].epoch[i].clock)
                return c;
    return -1;
}

TEST(every_message_finds_its_chunk)
{
    for (int round = 0; round < 1000; round++) {
        struct rp_row_coder coder = {0};
        struct rp_cdc_chunk chunks[CHUNKS];
        struct rp_problem why;
        size_t ends[CHUNKS + 1] = {0}, disorder = 1 + unit_below(&seed, 12);
        for (size_t i = 0; i < 200; i++)
            rows[i] = (struct rp_row)ROW_MESSAGE(1, 0, (int32_t)unit_below(&seed, 5), i);
        for (size_t i = 0; i < 200; i++) { /* clocks stay unique */
            size_t other =
                i + unit_below(&seed, disorder) < 200 ? i + unit_below(&seed, disorder) : i;
            other = other < 200 ? other : i;
            struct rp_row kept = rows[i];
            rows[i] = rows[other];
            rows[other] = kept;
        }
        for (int c = 0; c < CHUNKS; c++) {
            struct rp_row_tables tables;
            size_t length = unit_below(&seed, 30);
            ends[c + 1] = ends[c] + length < 200 ? ends[c] + length : 200;
            CHECK_EQ(rp_row_tables_by_site(rows + ends[c], ends[c + 1] - ends[c], &tables), RP_OK);
            encode(&coder, &tables);
            CHECK_OK(rp_cdc_decode(payload.bytes, payload.length, sizes.before, 200, &scratch,
                                   &chunks[c], &why),
                     why);
            rp_row_tables_free(&tables);
        }
        for (int c = 0; c < CHUNKS; c++)
            for (size_t i = ends[c]; i < ends[c + 1]; i++)
                CHECK_EQ(chunk_of(chunks, &rows[i]), c);
        for (int c = 0; c < CHUNKS; c++)
            rp_cdc_chunk_free(&chunks[c]);
        rp_row_coder_free(&coder);
    }
}

TEST(a_message_above_the_epoch_line_is_not_taken)
{
    struct rp_cdc_chunk chunk;
    struct rp_problem why;
    struct rp_row_table paper = {5, ROW_PAPER, (struct rp_row *)(uintptr_t)row_paper};

    decode_paper(&chunk);
    CHECK_EQ(take_messages(&paper), 8);
    CHECK_EQ(rp_cdc_restore(&chunk.tables[0], messages, 8, again, &why), RP_OK);
    CHECK_EQ(rp_cdc_restore(&chunk.tables[0], messages, 7, again, &why), RP_DIVERGED);
    messages[2].clock = 17; /* the message that section 3.5 warns of */
    CHECK_EQ(rp_cdc_restore(&chunk.tables[0], messages, 8, again, &why), RP_DIVERGED);
    CHECK_HAS(why.text, "rank 2 with clock 17 is above the epoch line");
    messages[2].clock = 7;
    CHECK_EQ(rp_cdc_restore(&chunk.tables[0], messages, 8, again, &why), RP_DIVERGED);
    CHECK_HAS(why.text, "do not reach");
    messages[2] = (struct rp_row_message){8, 9, 0};
    CHECK_EQ(rp_cdc_restore(&chunk.tables[0], messages, 8, again, &why), RP_DIVERGED);
    rp_cdc_chunk_free(&chunk);
}

/* Hostile input */

static enum rp_status decode(const uint8_t *bytes, size_t length, size_t raw, size_t most)
{
    struct rp_cdc_chunk chunk;
    struct rp_problem why = {""};
    uint8_t *copy = malloc(length + 1);

    memcpy(copy, bytes, length);
    enum rp_status status = rp_cdc_decode(copy, length, raw, most, &scratch, &chunk, &why);
    free(copy);
    CHECK(status == RP_OK || why.text[0]);
    if (status == RP_OK)
        rp_cdc_chunk_free(&chunk);
    return status;
}

/* Tables themselves, through an intact zlib stream. */
static enum rp_status decode_tables(const uint8_t *bytes, size_t length, size_t most)
{
    struct rp_buffer packed = {0};

    CHECK_EQ(rp_deflate(bytes, length, &packed), RP_OK);
    enum rp_status status = decode(packed.bytes, packed.length, length, most);
    rp_buffer_free(&packed);
    return status;
}

TEST(damage_is_refused_or_harmless)
{
    for (int i = 0; i < 300; i++) {
        struct row_style style = row_random_style(&seed);
        struct rp_row_coder coder = {0};
        struct rp_row_tables tables;
        CHECK_EQ(rp_row_tables_by_site(rows,
                                       row_random_rows(&seed, &style, rows,
                                                       1 + unit_below(&seed, 20)),
                                       &tables),
                 RP_OK);
        encode(&coder, &tables);
        struct rp_buffer *plain = &coder.scratch;
        CHECK_EQ(decode_tables(plain->bytes, plain->length, tables.row_count), RP_OK);
        CHECK_EQ(decode_tables(plain->bytes, plain->length, tables.row_count - 1), RP_DAMAGED);
        for (size_t cut = 0; cut < plain->length; cut++)
            CHECK_EQ(decode_tables(plain->bytes, cut, tables.row_count), RP_DAMAGED);
        for (int k = 0; k < 100; k++) {
            size_t at = unit_below(&seed, plain->length);
            uint8_t before = plain->bytes[at];
            plain->bytes[at] = (uint8_t)unit_random(&seed);
            decode_tables(plain->bytes, plain->length, tables.row_count);
            plain->bytes[at] = before;
        }
        for (size_t cut = 0; cut < payload.length; cut++)
            CHECK_EQ(decode(payload.bytes, cut, sizes.before, tables.row_count), RP_DAMAGED);
        CHECK_EQ(decode(payload.bytes, payload.length, sizes.before + 1, tables.row_count),
                 RP_DAMAGED);
        CHECK_EQ(decode(payload.bytes, payload.length, sizes.before - 1, tables.row_count),
                 RP_DAMAGED);
        rp_buffer_byte(&payload, 0);
        CHECK_EQ(decode(payload.bytes, payload.length, sizes.before, tables.row_count), RP_DAMAGED);
        rp_row_tables_free(&tables);
        rp_row_coder_free(&coder);
    }
}

TEST(tables_that_cannot_be)
{
    static const struct {
        const char *what;
        uint8_t bytes[24];
        uint8_t length;
    } bad[] = {
        {"nothing", {0}, 0},
        {"bytes behind the last table", {0, 0}, 2},
        {"no rows", {1, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 11},
        {"a message without an epoch line", {1, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0}, 11},
        {"an epoch line without a message", {1, 5, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 2}, 15},
        {"more others than entries", {1, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0}, 17},
        {"a move of 0", {1, 5, 2, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2}, 15},
        {"a move out of the table", {1, 5, 2, 0, 1, 0, 0, 1, 0, 0, 0, 0, 4, 0, 2}, 15},
        {"with_next of the last entry", {1, 5, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 2}, 14},
        {"polls that are none", {1, 5, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 2}, 15},
        {"polls behind the end", {1, 5, 1, 0, 0, 0, 1, 1, 0, 0, 0, 4, 1, 0, 2}, 15},
        {"polls amid a call", {1, 5, 2, 0, 0, 1, 1, 1, 0, 0, 0, 0, 2, 1, 0, 2}, 16},
        {"a negative rank", {1, 5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 2}, 13},
        {"a rank twice", {1, 5, 2, 0, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 2}, 15},
        {"an index of -2", {1, 5, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 0, 3}, 15},
        {"a message with two indices", {1, 5, 2, 0, 0, 0, 0, 1, 0, 2, 0, 0, 2, 0, 0, 0, 0}, 17},
        {"an entry that is two others",
         {1, 5, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0},
         23},
        {"thread 0", {1, 5, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0}, 15},
        {"an event of kind NO", {1, 5, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1}, 17},
        {"an event of no kind", {1, 5, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 17},
    };
    static const uint8_t message[] = {1, 5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2},
                         other[] = {1, 5, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1},
                         polls[] = {1, 5, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1}, none[] = {0};

    CHECK_EQ(decode_tables(none, 1, 9), RP_OK);
    CHECK_EQ(decode_tables(message, sizeof message, 9), RP_OK);
    CHECK_EQ(decode_tables(other, sizeof other, 9), RP_OK);
    CHECK_EQ(decode_tables(polls, sizeof polls, 9), RP_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (decode_tables(bad[i].bytes, bad[i].length, 9) != RP_DAMAGED)
            unit_fail(__FILE__, __LINE__, "taken: %s", bad[i].what);
}

TEST(promises_cost_nothing)
{
    static const uint8_t tables[] = {0xff, 0xff, 3},
                         entries[] = {1, 5, 0xff, 0xff, 0xff, 0xff, 7, 0, 0,
                                      0, 0, 1,    0,    0,    0,    0, 2},
                         moves[] = {1, 5, 0xff, 0xff, 3, 0, 0xff, 0xff, 3, 0,
                                    0, 1, 0,    0,    0, 0, 0,    0,    0};
    uint8_t *zero = calloc(1 << 26, 1);

    rp_buffer_clear(&payload);
    CHECK_EQ(rp_deflate(zero, 1 << 26, &payload), RP_OK);
    free(zero);
    CHECK_EQ(decode_tables(tables, sizeof tables, 1000), RP_DAMAGED);
    rp_buffer_free(&scratch);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    CHECK_EQ(decode(payload.bytes, payload.length, 1 << 26, 1000), RP_DAMAGED);
    CHECK_EQ(decode(payload.bytes, 100, 1 << 26, 1 << 24), RP_DAMAGED);
    CHECK(mallinfo2().uordblks + mallinfo2().hblkhd < before + 65536);
    CHECK_EQ(decode_tables(entries, sizeof entries, 1000), RP_DAMAGED);
    CHECK_EQ(decode_tables(moves, sizeof moves, 65536), RP_DAMAGED);
    rp_buffer_free(&payload);
    rp_buffer_free(&scratch);
}
