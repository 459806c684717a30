/* SPDX-License-Identifier: MIT */
/* Which write a read found: by time, by value, by what other reads found; and never a wrong one for
 * certain, in random histories whose truth is known. */
#include "report/write_index.h"

#include "unit.h"

struct found {
    struct rp_write_part part[64];
    size_t count;
};

static void note(void *data, const struct rp_write_part *part)
{
    struct found *f = data;

    if (f->count < 64)
        f->part[f->count++] = *part;
}

static struct found ask(struct rp_write_index *w, const struct rp_touch *read)
{
    struct found f = {.count = 0};

    rp_write_index_find(w, read, note, &f);
    return f;
}

static uint8_t values[256][8];

/* Eight bytes at `at`, each of them `value`. */
static struct rp_touch touch(uint32_t rank, uint64_t at, uint8_t value, uint64_t begin,
                             uint64_t end)
{
    static uint64_t number;

    memset(values[value], value, 8);
    return (struct rp_touch){.rank = rank,
                             .at = at,
                             .length = 8,
                             .value = values[value],
                             .begin = begin,
                             .end = end,
                             .number = ++number};
}

static struct rp_write_index *history(uint32_t owner, bool known, const struct rp_touch *writes,
                                      size_t write_count, const struct rp_touch *reads,
                                      size_t read_count)
{
    struct rp_write_index *w = rp_write_index_new(owner, known);

    for (size_t i = 0; i < write_count; i++)
        CHECK(rp_write_index_add(w, &writes[i], true));
    for (size_t i = 0; i < read_count; i++)
        CHECK(rp_write_index_add(w, &reads[i], false));
    CHECK(rp_write_index_ready(w));
    return w;
}

static bool is_by(const struct rp_write_part *part, uint32_t rank)
{
    return part->ranks == 1 && part->rank[0] == rank && part->best && part->best->rank == rank;
}

TEST(by_value_and_time)
{
    struct rp_touch writes[] = {touch(1, 0, 7, 10, 20), touch(2, 0, 9, 30, 40),
                                touch(3, 0, 7, 50, 60)};
    struct rp_touch reads[] = {touch(0, 0, 7, 21, 29), touch(0, 0, 9, 41, 49),
                               touch(0, 0, 7, 61, 70), touch(0, 0, 7, 41, 49),
                               touch(0, 0, 5, 61, 70), touch(0, 0, 9, 5, 9)};
    struct rp_write_index *w = history(0, false, writes, 3, reads, 2);
    struct found f;

    f = ask(w, &reads[0]);
    CHECK(f.count == 1 && is_by(&f.part[0], 1));
    f = ask(w, &reads[1]);
    CHECK(f.count == 1 && is_by(&f.part[0], 2));
    f = ask(w, &reads[2]);
    CHECK(f.count == 1 && is_by(&f.part[0], 3)); /* the first 7 was written over */
    f = ask(w, &reads[3]);
    CHECK(f.count == 1 &&
          f.part[0].ranks == 0); /* and so it was here: somebody else wrote it again */
    f = ask(w, &reads[4]);
    CHECK(f.count == 1 && f.part[0].ranks == 0);
    f = ask(w, &reads[5]);
    CHECK(f.count == 1 && f.part[0].ranks == 0); /* not written yet */
    rp_write_index_free(w);
}

/* A rank finds its own stores done, whenever the clock was read: what was there before, another
 * rank must have written again. */
TEST(stores_of_the_reader_itself)
{
    struct rp_touch writes[] = {touch(1, 0, 7, 10, 20), touch(0, 0, 0, 25, 60),
                                touch(2, 0, 7, 30, 60)};
    struct rp_touch reads[] = {touch(0, 0, 7, 40, 60)};

    writes[1].direct = true;
    struct rp_write_index *w = history(0, false, writes, 3, reads, 1);
    struct found f = ask(w, &reads[0]);
    CHECK(f.count == 1 && is_by(&f.part[0], 2));
    rp_write_index_free(w);
}

TEST(overlaps_in_time_leave_several)
{
    struct rp_touch writes[] = {touch(1, 0, 7, 10, 35), touch(2, 0, 7, 30, 40),
                                touch(3, 0, 7, 44, 80)};
    struct rp_touch read = touch(0, 0, 7, 42, 50);
    struct rp_write_index *w = history(0, false, writes, 3, &read, 1);
    struct found f = ask(w, &read);

    CHECK(f.count == 1 && f.part[0].ranks == 3 &&
          f.part[0].best->rank == 2); /* the latest that had begun */
    rp_write_index_free(w);
}

TEST(what_others_read_in_between)
{
    struct rp_touch writes[] = {touch(1, 0, 7, 10, 20)};
    struct rp_touch reads[] = {touch(2, 0, 8, 30, 40), touch(0, 0, 7, 50, 60)};
    struct rp_write_index *w = history(0, false, writes, 1, reads, 2);
    struct found f = ask(w, &reads[1]);

    CHECK(f.count == 1 && f.part[0].ranks == 0); /* somebody else wrote 8, and then 7 */
    rp_write_index_free(w);
    w = history(0, false, writes, 1, reads + 1, 1);
    f = ask(w, &reads[1]);
    CHECK(f.count == 1 && is_by(&f.part[0], 1));
    rp_write_index_free(w);
}

TEST(hosts_have_clocks_of_their_own)
{
    struct rp_touch writes[] = {touch(1, 0, 7, 10, 20), touch(2, 0, 9, 30, 40)};
    struct rp_touch read = touch(0, 0, 7, 50, 60);
    writes[1].host = 1;
    struct rp_write_index *w = history(0, false, writes, 2, &read, 1);
    struct found f = ask(w, &read);

    CHECK(f.count == 1 && is_by(&f.part[0], 1)); /* the 9 may have been before */
    rp_write_index_free(w);
}

TEST(a_rank_knows_its_own_order)
{
    struct rp_touch write = touch(0, 0, 7, 10, 40), read = touch(0, 0, 7, 10, 40),
                    later = touch(0, 0, 7, 10, 40);
    struct rp_write_index *w = history(0, false, &later, 1, &read, 1);
    struct found f = ask(w, &read);

    CHECK(f.count == 1 && f.part[0].ranks == 0);
    rp_write_index_free(w);
    w = history(0, false, &write, 1, &read, 1);
    f = ask(w, &read);
    CHECK(f.count == 1 && is_by(&f.part[0], 0));
    rp_write_index_free(w);
}

TEST(parts)
{
    uint8_t mask[2] = {0x01, 0x10};
    struct rp_touch writes[] = {touch(1, 60, 7, 10, 20), touch(2, 68, 8, 10, 20),
                                touch(3, 64, 0, 0, 0)};
    uint8_t bytes[24] = {0}, stored[16] = {1, 0, 0, 0, 8};
    memset(bytes + 8, 7, 4);
    memcpy(bytes + 12, stored, 4);
    memset(bytes + 16, 8, 8);
    writes[2] = (struct rp_touch){.rank = 3,
                                  .at = 64,
                                  .length = 16,
                                  .value = stored,
                                  .mask = mask,
                                  .begin = 30,
                                  .end = 40,
                                  .number = 9};
    struct rp_touch read = {
        .rank = 0, .at = 52, .length = 24, .value = bytes, .begin = 50, .end = 60, .number = 10};
    struct rp_write_index *w = history(5, true, writes, 3, &read, 1);
    struct found f = ask(w, &read);

    /* zeros of the beginning; the left half of the first write; the store, of whose word only one
     * byte changed; of its second word, nothing that is asked for */
    CHECK(f.count == 4);
    CHECK(f.part[0].at == 52 && f.part[0].length == 8 && f.part[0].first && f.part[0].ranks == 1 &&
          f.part[0].rank[0] == 5);
    CHECK(f.part[1].at == 60 && f.part[1].length == 4 && is_by(&f.part[1], 1));
    CHECK(f.part[2].at == 64 && f.part[2].length == 4 && is_by(&f.part[2], 3));
    CHECK(f.part[3].at == 68 && f.part[3].length == 8 && is_by(&f.part[3], 2));
    rp_write_index_free(w);
}

TEST(the_beginning_among_others)
{
    uint8_t bytes[24] = {[0] = 7, [16] = 9};
    struct rp_touch read = {
        .rank = 1, .at = 40, .length = 24, .value = bytes, .begin = 50, .end = 60, .number = 1};
    struct rp_write_index *w = history(5, true, NULL, 0, &read, 1);
    struct found f = ask(w, &read);

    CHECK(f.count == 3 && f.part[0].ranks == 0 && f.part[1].first && f.part[1].at == 48 &&
          f.part[1].length == 8 && f.part[2].ranks == 0);
    rp_write_index_free(w);
}

TEST(unknown_values)
{
    struct rp_touch writes[] = {touch(1, 0, 7, 10, 20), touch(2, 0, 9, 30, 40)};
    struct rp_touch read = touch(0, 0, 7, 50, 60);
    writes[1].value = NULL;
    struct rp_write_index *w = history(0, false, writes, 2, &read, 1);
    struct found f = ask(w, &read);

    CHECK(f.count == 1 && is_by(&f.part[0], 2));
    rp_write_index_free(w);
}

/* Writes and reads at instants, of which only intervals around them are told; some ranks' writes
 * are not told at all. The true writer is always among those that are possible; if it is not told,
 * whoever is named wrote the same value. */
TEST(random_histories)
{
    enum { EVENTS = 400, PLACES = 5, RANKS = 6, KNOWN = 4 };
    uint64_t seed = 3;

    for (int round = 0; round < 60; round++) {
        struct rp_touch all[EVENTS];
        bool writes[EVENTS];
        int true_writer[EVENTS];
        int last[PLACES];
        uint8_t now[PLACES] = {0};
        struct rp_write_index *w = rp_write_index_new(0, true);

        for (int i = 0; i < PLACES; i++)
            last[i] = -1;
        for (int i = 0; i < EVENTS; i++) {
            uint64_t place = unit_below(&seed, PLACES), instant = 1000 + 100 * (uint64_t)i;
            uint32_t rank = (uint32_t)unit_below(&seed, RANKS);
            writes[i] = unit_below(&seed, 2);
            uint8_t value = writes[i] ? (uint8_t)(1 + unit_below(&seed, 4)) : now[place];
            all[i] = touch(rank, 8 * place, value, instant - unit_below(&seed, 1000),
                           instant + unit_below(&seed, 1000));
            true_writer[i] = last[place];
            if (writes[i]) {
                last[place] = i;
                now[place] = value;
            }
            if (rank < KNOWN)
                CHECK(rp_write_index_add(w, &all[i], writes[i]));
        }
        CHECK(rp_write_index_ready(w));
        for (int i = 0; i < EVENTS; i++) {
            if (writes[i] || all[i].rank >= KNOWN)
                continue;
            struct found f = ask(w, &all[i]);
            int by = true_writer[i];
            bool told = by < 0 || all[by].rank < KNOWN, among = false;
            CHECK(f.count == 1);
            for (size_t k = 0; k < f.part[0].ranks; k++)
                among |= f.part[0].rank[k] == (by < 0 ? 0 : all[by].rank);
            CHECK(!told || among);
            CHECK(!f.part[0].best || memcmp(f.part[0].best->value, all[i].value, 8) == 0);
        }
        rp_write_index_free(w);
    }
}
