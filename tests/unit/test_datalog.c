/* SPDX-License-Identifier: MIT */
/* The data log: what is put comes back, of a log that was closed, that was not, that was cut off,
 * and never of one that was damaged. */
#include "log/datareader.h"
#include "log/datawriter.h"

#include <sys/stat.h>

#include "base/crc32c.h"
#include "base/file.h"
#include "unit.h"

enum { RUN = 77, RANK = 3, RANKS = 8, ENTRIES = 4000, LARGEST = 3000 };

static const char *const names[] = {"MPI_Send", "MPI_Recv", "MPI_Test"};

struct one {
    uint32_t function;
    int64_t number;
    size_t length;
    const uint8_t *content;
};

/* Entry i, the same whoever asks. Many are the same as the one before, and contents repeat. */
static struct one entry_of(uint64_t i)
{
    static uint8_t pool[LARGEST * 2];
    uint64_t seed = i / 7 * 7919 + 1;
    struct one e = {.function = (uint32_t)unit_below(&seed, 3)};

    if (pool[0] == 0)
        for (size_t k = 0; k < sizeof pool; k++)
            pool[k] = (uint8_t)(k * 131 + 7 + k / 251);
    e.number = (int64_t)unit_below(&seed, 1000) - 500;
    e.length = e.function == 2 ? 0 : (size_t)unit_below(&seed, LARGEST);
    e.content = pool + unit_below(&seed, 5) * 100;
    return e;
}

static struct rp_data_writer *begin(const char *directory)
{
    static char *words[] = {"./app", "in.dat", NULL}, *environment[] = {"A=b", NULL};
    struct rp_data_place place = {"/bin/app", "/somewhere", "host", words, environment};
    struct rp_data_writer *w = NULL;
    struct rp_problem why;

    CHECK_OK(rp_data_create(directory, RUN, RANK, RANKS, &place, &w, &why), why);
    return w;
}

static void put_entries(struct rp_data_writer *w, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct one e = entry_of(i);
        rp_data_begin(w, e.function, names[e.function]);
        rp_data_put_signed(w, e.number);
        if (e.function != 2)
            rp_data_put_content(w, e.content, e.length);
        rp_data_end(w);
    }
}

/* Reads on until the end; how many entries there were. Each must be right. */
static uint64_t read_entries(struct rp_data_reader *r, enum rp_status *status)
{
    struct rp_problem why = {""};
    const char *name;
    uint64_t i = 0;

    for (; (*status = rp_data_next(r, &name, &why)) == RP_OK && name; i++) {
        struct one e = entry_of(i);
        size_t length = 0;
        int64_t number = rp_data_get_signed(r);
        const uint8_t *content =
            e.function == 2 ? (const uint8_t *)"" : rp_data_get_content(r, &length);
        if ((*status = rp_data_failed(r, &why)) != RP_OK)
            return i;
        CHECK_STR(name, names[e.function]);
        CHECK(number == e.number && length == e.length && content &&
              memcmp(content, e.content, length) == 0);
    }
    return i;
}

static struct rp_data_reader *open_log(const char *directory, enum rp_status wanted)
{
    struct rp_data_reader *r = NULL;
    struct rp_problem why = {""};
    enum rp_status status = rp_data_open(directory, RUN, RANK, RANKS, &r, &why);

    CHECK_EQ(status, wanted);
    return status == RP_OK ? r : NULL;
}

TEST(a_closed_log_has_everything)
{
    const char *directory = unit_temporary();
    struct rp_data_writer *w = begin(directory);
    struct rp_problem why;
    enum rp_status status;

    put_entries(w, ENTRIES);
    CHECK_EQ(rp_data_entries(w), ENTRIES);
    CHECK_OK(rp_data_close(w, NULL, &why), why);
    CHECK(access(unit_path(directory, "rank-00003.tail"), F_OK) != 0);
    struct rp_data_reader *r = open_log(directory, RP_OK);
    REQUIRE(r != NULL);
    CHECK_STR(rp_data_place(r)->arguments[1], "in.dat");
    CHECK_STR(rp_data_place(r)->environment[0], "A=b");
    CHECK(rp_data_is_ended(r));
    CHECK_OK(rp_data_verify(r, &why), why);
    CHECK_EQ(read_entries(r, &status), ENTRIES);
    CHECK_EQ(status, RP_OK);
    CHECK(rp_data_size(r) <
          rp_data_length(r) / 2); /* contents that repeat are stored once, and compressed */
    rp_data_free(r);
}

TEST(a_log_that_was_not_closed_has_everything)
{
    enum { COUNTS = 5 };
    static const uint64_t counts[COUNTS] = {0, 1, 6, 700, ENTRIES};
    struct rp_problem why;

    for (int i = 0; i < COUNTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        const char *directory = unit_path(unit_temporary(), name);
        CHECK_OK(rp_make_directory(directory, false, &why), why);
        struct rp_data_writer *w = begin(directory);
        put_entries(w, counts[i]);
        enum rp_status status;
        struct rp_data_reader *r = open_log(directory, RP_OK);
        REQUIRE(r != NULL);
        CHECK(!rp_data_is_ended(r));
        CHECK_EQ(read_entries(r, &status), counts[i]);
        CHECK_EQ(status, RP_OK);
        rp_data_free(r);
        CHECK_OK(rp_data_close(w, NULL, &why), why);
    }
}

TEST(an_entry_that_was_cut_off_is_told)
{
    const char *directory = unit_temporary();
    struct rp_data_writer *w = begin(directory);
    struct rp_problem why;
    enum rp_status status;
    static uint8_t large[3 * RP_DATA_BLOCK];

    put_entries(w, 10);
    rp_data_begin(w, 1, names[1]);
    rp_data_put_signed(w, 1);
    rp_data_put_content(w, large,
                        sizeof large); /* two blocks of it are in chunks, but it is not ended */
    struct rp_data_reader *r = open_log(directory, RP_OK);
    REQUIRE(r != NULL);
    CHECK_EQ(read_entries(r, &status), 10);
    CHECK_EQ(status, RP_BUSY);
    rp_data_free(r);
    rp_data_end(w);
    CHECK_OK(rp_data_close(w, NULL, &why), why);
}

/* Of each: `megabytes` entries with a content of a megabyte. */
static void put_megabytes(struct rp_data_writer *w, int megabytes, bool random, uint64_t *seed,
                          uint8_t *bytes)
{
    for (int i = 0; i < megabytes; i++) {
        for (size_t at = 0; at < 1000000; at += 8) {
            uint64_t word = random ? unit_random(seed) : at + (size_t)i;
            memcpy(bytes + at, &word, sizeof word);
        }
        rp_data_begin(w, 1, names[1]);
        rp_data_put_content(w, bytes, 1000000);
        rp_data_end(w);
    }
}

TEST(what_does_not_get_shorter_is_written_as_it_is)
{
    const char *directory = unit_temporary(), *path = unit_path(directory, "rank-00003.data");
    struct rp_data_writer *w = begin(directory);
    struct rp_problem why;
    struct rp_buffer file = {0};
    uint64_t seed = 7, again = 7, first = 0;
    size_t as_is = 0, chunks = 0;
    static uint8_t bytes[1000000], wanted[1000000];
    const int kinds[] = {true, false, true};

    for (int k = 0; k < 3; k++)
        put_megabytes(w, 20, kinds[k], &seed, bytes);
    CHECK_OK(rp_data_close(w, NULL, &why), why);
    CHECK_OK(rp_read_file(path, 1 << 27, &file, &why), why);
    CHECK(file.length > 40000000 && file.length < 55000000); /* of 60 */
    for (size_t at = RP_DATA_HEADER; at < file.length;) {
        struct rp_data_chunk chunk;
        REQUIRE(rp_data_get_chunk(file.bytes + at, first, &chunk));
        const uint8_t *payload = file.bytes + at + RP_DATA_CHUNK_HEADER;
        if (chunk.kind == RP_DATA_BYTES)
            first += chunk.length;
        if (chunk.kind == RP_DATA_BYTES && chunk.stored == RP_DATA_BLOCK + 33 &&
            (payload[9] & 6) == 0)
            as_is++;
        chunks++;
        at += RP_DATA_CHUNK_HEADER + chunk.stored;
    }
    CHECK(as_is >= 26 &&
          chunks - as_is >= 20); /* of 40, all but one of eight; and some of the other kind */
    struct rp_data_reader *r = open_log(directory, RP_OK);
    REQUIRE(r != NULL);
    CHECK_OK(rp_data_verify(r, &why), why);
    for (int i = 0; i < 60; i++) {
        const char *name;
        size_t length;
        CHECK_OK(rp_data_next(r, &name, &why), why);
        const uint8_t *content = rp_data_get_content(r, &length);
        REQUIRE(content != NULL);
        CHECK_EQ(length, sizeof wanted);
        for (size_t at = 0; at < sizeof wanted; at += 8) {
            uint64_t word = kinds[i / 20] ? unit_random(&again) : at + (size_t)(i % 20);
            memcpy(wanted + at, &word, sizeof word);
        }
        CHECK(memcmp(content, wanted, sizeof wanted) == 0);
    }
    rp_data_free(r);
    rp_buffer_free(&file);
}

TEST(what_gets_shorter_among_what_does_not_is_compressed)
{
    const char *directory = unit_temporary(), *path = unit_path(directory, "rank-00003.data");
    struct rp_data_writer *w = begin(directory);
    struct rp_problem why;
    struct stat info;
    uint64_t seed = 7;
    static uint8_t bytes[1000000];

    for (int i = 0; i < 8; i++) {
        put_megabytes(w, 2, true, &seed, bytes);
        put_megabytes(w, 6, false, &seed, bytes);
    }
    CHECK_OK(rp_data_close(w, NULL, &why), why);
    CHECK(stat(path, &info) == 0 &&
          info.st_size < 40000000); /* of 64, a fourth of which is random */
}

TEST(damage_is_found)
{
    const char *directory = unit_temporary(), *path = unit_path(directory, "rank-00003.data");
    struct rp_data_writer *w = begin(directory);
    struct rp_problem why;
    struct rp_buffer bytes = {0};
    uint64_t seed = 5;

    put_entries(w, 900);
    CHECK_OK(rp_data_close(w, NULL, &why), why);
    CHECK_OK(rp_read_file(path, 1 << 24, &bytes, &why), why);
    for (int i = 0; i < 300; i++) {
        size_t at = i < 150 ? (size_t)i : (size_t)unit_below(&seed, bytes.length);
        FILE *file = fopen(path, "wb");
        REQUIRE(file != NULL);
        bytes.bytes[at] ^= 0x21;
        fwrite(bytes.bytes, 1, bytes.length, file);
        fclose(file);
        bytes.bytes[at] ^= 0x21;
        struct rp_data_reader *r = NULL;
        enum rp_status status = rp_data_open(directory, RUN, RANK, RANKS, &r, &why);
        if (status == RP_OK) {
            status = rp_data_verify(r, &why);
            rp_data_free(r);
        }
        CHECK(status == RP_DAMAGED || status == RP_UNSUPPORTED);
    }
    CHECK_EQ(truncate(path, (off_t)bytes.length - 1), 0);
    open_log(directory, RP_DAMAGED); /* without its end it would need a tail */
    rp_buffer_free(&bytes);
}

TEST(others_are_refused)
{
    const char *directory = unit_temporary();
    struct rp_data_reader *r = NULL;
    struct rp_problem why;
    struct rp_data_writer *w = begin(directory);

    CHECK_OK(rp_data_close(w, NULL, &why), why);
    CHECK_EQ(rp_data_open(directory, RUN, RANK + 1, RANKS, &r, &why), RP_USAGE);
    CHECK_HAS(why.text, "no data of rank 4");
    CHECK_EQ(rp_data_open(directory, RUN + 1, RANK, RANKS, &r, &why), RP_DAMAGED);
    CHECK_HAS(why.text, "another record");
}

TEST(other_versions_are_refused_but_the_one_before)
{
    const char *directory = unit_temporary(), *path = unit_path(directory, "rank-00003.data");
    struct rp_data_reader *r = NULL;
    struct rp_problem why;
    struct rp_buffer bytes = {0};
    struct rp_data_writer *w = begin(directory);

    CHECK_OK(rp_data_close(w, NULL, &why), why);
    CHECK_OK(rp_read_file(path, 1 << 24, &bytes, &why), why);
    for (int i = 1; i <= 4; i++) {
        uint32_t crc;
        FILE *file = fopen(path, "wb");
        REQUIRE(file != NULL);
        bytes.bytes[8] = (uint8_t)i;
        crc = rp_crc32c(bytes.bytes, 60);
        for (int k = 0; k < 4; k++)
            bytes.bytes[60 + k] = (uint8_t)(crc >> 8 * k);
        fwrite(bytes.bytes, 1, bytes.length, file);
        fclose(file);
        enum rp_status status = rp_data_open(directory, RUN, RANK, RANKS, &r, &why);
        if (i == 2 || i == 3) {
            CHECK_OK(status, why);
            rp_data_free(r);
            continue;
        }
        CHECK_EQ(status, RP_UNSUPPORTED);
        CHECK_HAS(why.text, i == 1 ? "of version 1.2, which" : "of version 4.2, which");
        CHECK_HAS(why.text, "which this reprise cannot read");
    }
    rp_buffer_free(&bytes);
}

/* A log of loads is not one of calls, and knows how many loads there were if its process died. */
TEST(a_log_of_loads_is_apart)
{
    const char *directory = unit_temporary();
    struct rp_data_reader *r = NULL;
    struct rp_data_writer *w = NULL;
    struct rp_problem why;
    enum rp_status status;

    CHECK_OK(rp_data_create(directory, RUN, RANK, RANKS, NULL, &w, &why), why);
    REQUIRE(w != NULL);
    put_entries(w, 20);
    *rp_data_loads(w) = 1234;
    CHECK_EQ(rp_data_open(directory, RUN, RANK, RANKS, &r, &why), RP_USAGE);
    CHECK_OK(rp_data_open_loads(directory, RUN, RANK, RANKS, &r, &why), why);
    REQUIRE(r != NULL);
    CHECK_EQ(rp_data_loads_made(r), 1234);
    CHECK(!rp_data_is_ended(r));
    CHECK_EQ(read_entries(r, &status), 20);
    rp_data_free(r);
    CHECK_OK(rp_data_close(w, NULL, &why), why);
    CHECK_EQ(rename(unit_path(directory, "rank-00003.loads"),
                    unit_path(directory, "rank-00003.data")),
             0);
    CHECK_EQ(rp_data_open(directory, RUN, RANK, RANKS, &r, &why), RP_DAMAGED);
    CHECK_HAS(why.text, "it is a log of loads");
    CHECK(access(unit_path(directory, "rank-00003.loads-tail"), F_OK) != 0);
}
