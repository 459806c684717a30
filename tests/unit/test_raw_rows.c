/* SPDX-License-Identifier: MIT */
/* Codecs raw and gzip: what goes in comes out; what was never put in is refused, and costs no more
 * memory than it may. */
#include "cdc/codec/raw_rows.h"

#include <malloc.h>

#include "cdc/codec/deflate.h"
#include "rowsample.h"

enum { MOST = 20000 };

static uint64_t seed = 25;
static struct rp_row rows[MOST + 8];
static struct rp_row_coder coder;
static struct rp_buffer payload, scratch;
static struct rp_row_sizes sizes;

static bool comes_back(const struct rp_row_tables *tables)
{
    struct rp_row_tables again, unzipped;
    struct rp_problem why;
    bool good;

    rp_buffer_clear(&payload);
    CHECK_EQ(rp_raw_encode(&coder, tables, &payload, &sizes), RP_OK);
    CHECK_EQ(sizes.after, payload.length);
    if (rp_raw_decode(payload.bytes, payload.length, tables->row_count, &again, &why) != RP_OK)
        return false;
    good = row_tables_same(tables, &again);
    rp_row_tables_free(&again);
    rp_buffer_clear(&payload);
    CHECK_EQ(rp_gzip_encode(&coder, tables, &payload, &sizes), RP_OK);
    CHECK_EQ(sizes.after, payload.length);
    if (rp_gzip_decode(payload.bytes, payload.length, sizes.before, tables->row_count, &scratch,
                       &unzipped, &why) != RP_OK)
        return false;
    good &= row_tables_same(tables, &unzipped);
    rp_row_tables_free(&unzipped);
    return good;
}

static void split(size_t count, struct rp_row_tables *tables)
{
    CHECK_EQ(rp_row_tables_by_site(rows, count, tables), RP_OK);
}

TEST(figure_4_takes_55_values_of_162_bits_a_row)
{
    struct rp_row_tables tables;

    CHECK_EQ(rp_row_tables_by_site(row_paper, ROW_PAPER, &tables), RP_OK);
    CHECK(comes_back(&tables));
    CHECK_EQ(sizes.rows * 5, 55);
    CHECK_EQ(sizes.messages, 8);
    CHECK_EQ(sizes.bytes[RP_PART_MATCHED], (11 * 162 + 7) / 8);
    CHECK_EQ(sizes.bytes[RP_PART_OTHERS] + sizes.bytes[RP_PART_INDEX] +
                 sizes.bytes[RP_PART_WITH_NEXT] + sizes.bytes[RP_PART_UNMATCHED],
             0);
    CHECK_EQ(sizes.bytes[RP_PART_FRAME], 5);
    rp_row_tables_free(&tables);
}

TEST(the_bits_are_those_of_the_format)
{
    static const struct rp_row one[] = {ROW_MESSAGE(7, 0, 3, 0x8000000000000001),
                                        {.kind = RP_ROW_OTHER,
                                         .site = 7,
                                         .count = 1,
                                         .other = RP_EVENT(RP_PROBE, 0, 0, 1, 2, 3, 4)}};
    static const uint8_t expected[] = {
        1,          7, 1, 1, 0,                    /* tables; site, rows, others, flags */
        1,          0, 0, 0, 0,        0, 0, 0,    /* count */
        1 | 3 << 1, 0, 0, 0,                       /* flag, rank */
        0 | 1 << 2, 0, 0, 0, 0,        0, 0, 0, 2, /* with_next, clock */
        1,          0, 0, 0, RP_PROBE, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0,
        0,          0, 4, 0, 0,        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    };
    struct rp_row_tables tables;

    CHECK_EQ(rp_row_tables_by_site(one, 2, &tables), RP_OK);
    rp_buffer_clear(&payload);
    CHECK_EQ(rp_raw_encode(&coder, &tables, &payload, &sizes), RP_OK);
    CHECK_EQ(payload.length, sizeof expected);
    CHECK(memcmp(payload.bytes, expected, sizeof expected) == 0);
    CHECK_EQ(sizes.bytes[RP_PART_MATCHED], 21);
    CHECK_EQ(sizes.bytes[RP_PART_OTHERS], 36);
    rp_row_tables_free(&tables);
}

TEST(random_tables_come_back)
{
    for (int i = 0; i < 20000; i++) {
        struct row_style style = row_random_style(&seed);
        struct rp_row_tables tables;
        size_t count =
            row_random_rows(&seed, &style, rows, unit_below(&seed, i % 200 == 0 ? 3000 : 40));
        split(count, &tables);
        CHECK(comes_back(&tables));
        rp_row_tables_free(&tables);
    }
}

TEST(no_rows_come_back)
{
    struct rp_row_tables tables;

    split(0, &tables);
    CHECK_EQ(tables.table_count, 0);
    CHECK(comes_back(&tables));
    rp_row_tables_free(&tables);
}

/* Hostile input */

static enum rp_status decode(const uint8_t *bytes, size_t length, size_t most)
{
    struct rp_row_tables tables;
    struct rp_problem why = {""};
    uint8_t *copy = malloc(length + 1);

    memcpy(copy, bytes, length);
    enum rp_status status = rp_raw_decode(copy, length, most, &tables, &why);
    free(copy);
    if (status == RP_OK) {
        CHECK(tables.row_count <= most);
        rp_row_tables_free(&tables);
    } else {
        CHECK(why.text[0]);
    }
    return status;
}

TEST(damage_is_refused_or_harmless)
{
    for (int i = 0; i < 300; i++) {
        struct row_style style = row_random_style(&seed);
        struct rp_row_tables tables;
        size_t count = row_random_rows(&seed, &style, rows, 1 + unit_below(&seed, 12));
        split(count, &tables);
        rp_buffer_clear(&payload);
        CHECK_EQ(rp_raw_encode(&coder, &tables, &payload, &sizes), RP_OK);
        CHECK_EQ(decode(payload.bytes, payload.length, tables.row_count), RP_OK);
        CHECK_EQ(decode(payload.bytes, payload.length, tables.row_count - 1), RP_DAMAGED);
        for (size_t cut = 0; cut < payload.length; cut++)
            CHECK_EQ(decode(payload.bytes, cut, tables.row_count), RP_DAMAGED);
        for (size_t bit = 0; bit < payload.length * 8; bit++) {
            payload.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            decode(payload.bytes, payload.length, tables.row_count);
            payload.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        rp_row_tables_free(&tables);
    }
}

/* What an encoder makes of rows that cannot be. */
static enum rp_status decode_rows(struct rp_row *made, size_t count)
{
    struct rp_row_table table = {7, count, made};
    struct rp_row_tables tables = {&table, 1, made, count};

    rp_buffer_clear(&payload);
    CHECK_EQ(rp_raw_encode(&coder, &tables, &payload, &sizes), RP_OK);
    return decode(payload.bytes, payload.length, count);
}

TEST(rows_that_cannot_be)
{
    static const struct rp_row message = ROW_MESSAGE(7, 0, 1, 2), polls = ROW_UNMATCHED(7, 3),
                               other = {.kind = RP_ROW_OTHER,
                                        .site = 7,
                                        .count = 1,
                                        .other = RP_EVENT(RP_PROBE, 0, 0, 0, 1, 2, 0)};
    struct rp_row good[] = {message, polls, other, message};
    struct {
        const char *what;
        struct rp_row rows[4];
    } bad[] = {{"with_next of the last", {message, polls, other, message}},
               {"polls amid a call", {message, polls, other, message}},
               {"a message twice", {message, polls, other, message}},
               {"a rank below 0", {message, polls, other, message}},
               {"no polls", {message, polls, other, message}},
               {"polls with a clock", {message, polls, other, message}},
               {"an index of -2", {message, polls, other, message}},
               {"an event of kind NO", {message, polls, other, message}},
               {"an order of a PROBE", {message, polls, other, message}},
               {"a thread of -1", {message, polls, other, message}}};

    bad[0].rows[3].with_next = 1;
    bad[1].rows[0].with_next = 1;
    bad[2].rows[0].count = 2;
    bad[3].rows[0].rank = -1;
    bad[4].rows[1].count = 0;
    bad[5].rows[1].clock = 1;
    bad[6].rows[0].index = -2;
    bad[7].rows[2].other = (struct rp_event)RP_EVENT(RP_NO, 0, 0, 0, 0, 0, 1);
    bad[8].rows[2].order = 1;
    bad[9].rows[1].thread = -1;
    CHECK_EQ(decode_rows(good, 4), RP_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (decode_rows(bad[i].rows, 4) != RP_DAMAGED)
            unit_fail(__FILE__, __LINE__, "taken: %s", bad[i].what);
    CHECK_EQ(decode_rows((struct rp_row[]){other, other, message}, 3), RP_OK);
    payload.bytes[payload.length - 36] = 0; /* the place of the second is that of the first */
    CHECK_EQ(decode(payload.bytes, payload.length, 3), RP_DAMAGED);
}

TEST(what_zlib_did_not_make_is_refused)
{
    struct rp_row_tables tables;
    struct rp_problem why;

    split(row_random_rows(&seed, &(struct row_style){1, 4, 0, 3, 2, false}, rows, 100), &tables);
    rp_buffer_clear(&payload);
    CHECK_EQ(rp_gzip_encode(&coder, &tables, &payload, &sizes), RP_OK);
    CHECK_EQ(rp_gzip_decode(payload.bytes, payload.length - 1, sizes.before, 200, &scratch, &tables,
                            &why),
             RP_DAMAGED);
    CHECK_EQ(rp_gzip_decode(payload.bytes, payload.length, sizes.before - 1, 200, &scratch, &tables,
                            &why),
             RP_DAMAGED);
    CHECK_EQ(rp_gzip_decode(payload.bytes, payload.length, sizes.before + 1, 200, &scratch, &tables,
                            &why),
             RP_DAMAGED);
    CHECK_EQ(rp_gzip_decode(payload.bytes, payload.length, sizes.before, 1, &scratch, &tables,
                            &why),
             RP_DAMAGED);
    CHECK_EQ(rp_gzip_decode(payload.bytes, payload.length, SIZE_MAX, 200, &scratch, &tables, &why),
             RP_DAMAGED);
    rp_buffer_byte(&payload, 0);
    CHECK_EQ(rp_gzip_decode(payload.bytes, payload.length, sizes.before, 200, &scratch, &tables,
                            &why),
             RP_DAMAGED);
    rp_row_tables_free(&tables);
}

TEST(promises_cost_nothing)
{
    static const uint8_t tables[] = {0xff, 0xff, 3},
                         many_rows[] = {1, 0, 0xff, 0xff, 3, 0, 0, 0, 0, 0};
    uint8_t *zero = calloc(1 << 26, 1);
    struct rp_row_tables out;
    struct rp_problem why;

    rp_buffer_clear(&payload);
    CHECK_EQ(rp_deflate(zero, 1 << 26, &payload), RP_OK);
    free(zero);
    rp_buffer_free(&scratch);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    CHECK_EQ(decode(tables, sizeof tables, 65536), RP_DAMAGED);
    CHECK_EQ(decode(many_rows, sizeof many_rows, 65536), RP_DAMAGED);
    CHECK_EQ(rp_gzip_decode(payload.bytes, payload.length, 1 << 26, 4, &scratch, &out, &why),
             RP_DAMAGED);
    CHECK_EQ(rp_gzip_decode(payload.bytes, 100, 1 << 26, 1 << 24, &scratch, &out, &why),
             RP_DAMAGED);
    CHECK(mallinfo2().uordblks + mallinfo2().hblkhd < before + 65536);
    rp_row_coder_free(&coder);
    rp_buffer_free(&payload);
    rp_buffer_free(&scratch);
}
