/* SPDX-License-Identifier: MIT */
/* Sends, clocks and candidates of timelines: by hand, and of random programs whose sends are
 * known. */
#include "event/event.h"
#include "report/timeline.h"
#include "unit.h"

static void append(struct rp_timeline *t, uint8_t kind, uint32_t site, int32_t source, int32_t tag,
                   uint64_t number, uint64_t sent)
{
    CHECK(rp_timeline_append(t, &(struct rp_moment){.kind = kind,
                                                    .site = site,
                                                    .source = source,
                                                    .tag = tag,
                                                    .number = number,
                                                    .sent = sent,
                                                    .send = -1}));
}

static void received(struct rp_timeline *t, int32_t source, uint64_t sent)
{
    append(t, RP_RECV, 0, source, 7, 0, 0);
    append(t, RP_CLOCK, 0, source, 0, 0, sent);
}

static void connect(struct rp_timeline *t, uint32_t ranks, bool clocked)
{
    struct rp_problem why;

    CHECK_OK(rp_timelines_connect(t, ranks, clocked, &why), why);
}

static void free_all(struct rp_timeline *t, uint32_t ranks)
{
    for (uint32_t i = 0; i < ranks; i++)
        rp_timeline_free(&t[i]);
}

/* Rank 1 sends with clock 0; a collective call takes its clock to 9; it sends with 9, receives
 * (11), and sends with 11. */
TEST(a_collective_call_moves_the_clock_on)
{
    struct rp_timeline t[2] = {0};

    received(&t[0], 1, 0);
    received(&t[0], 1, 9);
    received(&t[0], 1, 11);
    received(&t[1], 0, 10);
    connect(t, 2, true);
    CHECK_EQ(t[0].at[1].send, 0);
    CHECK_EQ(t[0].at[3].send, 0); /* behind the receive, the clock would be 11 at least */
    CHECK_EQ(t[0].at[5].send, 2);
    CHECK_EQ(t[1].at[1].clock, 11);
    CHECK_EQ(t[1].at[1].send, 4); /* rank 0 has clock 10 behind its second receive */
    free_all(t, 2);
}

/* Receives of one call are one step: nothing can have been sent between them. */
TEST(a_call_that_receives_several_is_whole)
{
    struct rp_timeline t[2] = {0};

    append(&t[1], RP_YES, 0, -1, 0, 0, 0);
    append(&t[1], RP_MATCH, 0, 0, 7, 0, 0);
    append(&t[1], RP_MATCH, 0, 0, 8, 1, 0);
    append(&t[1], RP_CLOCK, 0, 0, 0, 1, 0); /* clock 1 */
    append(&t[1], RP_CLOCK, 0, 0, 0, 0, 1); /* clock 2 */
    received(&t[0], 1, 2);
    connect(t, 2, true);
    CHECK_EQ(t[0].at[1].send, 5);
    CHECK_EQ(t[0].at[0].send, 5); /* and so of the receive that it belongs to */
    CHECK_EQ(t[0].at[1].clock, 3);
    CHECK(t[1].at[1].has_clock && t[1].at[1].sent == 0 && t[1].at[1].clock == 1);
    CHECK(t[1].at[2].has_clock && t[1].at[2].sent == 1 && t[1].at[2].clock == 2);
    CHECK(t[1].at[3].tag == 7 && t[1].at[4].tag == 8);
    CHECK(!t[1].at[0].has_clock);
    free_all(t, 2);
}

TEST(candidates_without_clocks_are_the_senders_still_to_come)
{
    static const int32_t sources[] = {1, 2, 2, 3, 1}, tags[] = {7, 7, 7, 8, 7};
    struct rp_timeline t[1] = {0};

    for (int i = 0; i < 5; i++)
        append(&t[0], RP_MATCH, 0, sources[i], tags[i], 0, 0);
    connect(t, 1, false);
    CHECK(t[0].at[0].candidates == 1 && t[0].candidate[t[0].at[0].candidate] == 2);
    CHECK(t[0].at[1].candidates == 1 && t[0].candidate[t[0].at[1].candidate] == 1);
    CHECK(t[0].at[2].candidates == 1 && t[0].candidate[t[0].at[2].candidate] == 1);
    CHECK_EQ(t[0].at[3].candidates, 0); /* nobody else sent with its tag */
    CHECK_EQ(t[0].at[4].candidates, 0);
    free_all(t, 1);
}

/* The nearest come first, and no more than so many. */
TEST(candidates_are_bounded)
{
    struct rp_timeline t[1] = {0};

    for (int32_t i = 0; i < 100; i++)
        append(&t[0], RP_RECV, 0, i, 7, 0, 0);
    connect(t, 1, false);
    CHECK_EQ(t[0].at[0].candidates, RP_CANDIDATES);
    for (int i = 0; i < RP_CANDIDATES; i++)
        CHECK_EQ(t[0].candidate[t[0].at[0].candidate + (uint32_t)i], i + 1);
    CHECK_EQ(t[0].at[98].candidates, 1);
    free_all(t, 1);
}

/* Programs of ranks that send and receive at random, by Lamport's rules. */

enum { RANKS = 5, STEPS = 4000, UNDER_WAY = 64 };

struct letter {
    uint32_t sender;
    uint64_t clock;
    size_t position;      /* events of the sender before it was sent */
    uint32_t past[RANKS]; /* receives of each rank that the sender knew of */
};

struct model {
    uint64_t clock[RANKS];
    uint32_t known[RANKS][RANKS];
    struct letter under_way[RANKS][UNDER_WAY];
    size_t count[RANKS];
    struct letter taken[RANKS][STEPS];
    size_t taken_count[RANKS];
};

static void send_one(struct model *m, struct rp_timeline *t, uint32_t from, uint32_t to)
{
    if (m->count[to] == UNDER_WAY)
        return;
    struct letter *letter = &m->under_way[to][m->count[to]++];
    *letter = (struct letter){from, m->clock[from]++, t[from].count, {0}};
    memcpy(letter->past, m->known[from], sizeof letter->past);
}

static void take_one(struct model *m, struct rp_timeline *t, uint32_t rank, size_t which)
{
    struct letter letter = m->under_way[rank][which];

    m->under_way[rank][which] = m->under_way[rank][--m->count[rank]];
    m->clock[rank] = (letter.clock > m->clock[rank] ? letter.clock : m->clock[rank]) + 1;
    for (int i = 0; i < RANKS; i++)
        if (letter.past[i] > m->known[rank][i])
            m->known[rank][i] = letter.past[i];
    m->known[rank][rank]++;
    m->taken[rank][m->taken_count[rank]++] = letter;
    received(&t[rank], (int32_t)letter.sender, letter.clock);
}

static void run_model(struct model *m, struct rp_timeline *t, uint64_t seed)
{
    for (int i = 0; i < STEPS; i++) {
        uint32_t rank = (uint32_t)unit_below(&seed, RANKS);
        if (unit_below(&seed, 2) || m->count[rank] == 0)
            send_one(m, t, rank, (uint32_t)unit_below(&seed, RANKS));
        else
            take_one(m, t, rank, unit_below(&seed, m->count[rank]));
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) /* else some sends are known to nobody */
        while (m->count[rank] > 0)
            take_one(m, t, rank, 0);
}

/* A candidate's next message must have been sent without knowledge of the receive. */
static void check_candidates(const struct model *m, const struct rp_timeline *t, uint32_t rank,
                             size_t receive)
{
    const struct rp_moment *moment = &t[rank].at[2 * receive];

    for (uint8_t i = 0; i < moment->candidates; i++) {
        uint32_t sender = (uint32_t)t[rank].candidate[moment->candidate + i];
        size_t next = receive + 1;
        while (next < m->taken_count[rank] && m->taken[rank][next].sender != sender)
            next++;
        CHECK(next < m->taken_count[rank] && sender != m->taken[rank][receive].sender);
        if (next < m->taken_count[rank])
            CHECK(m->taken[rank][next].past[rank] <= receive);
    }
}

TEST(sends_of_random_programs_are_found_where_they_were)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rp_timeline t[RANKS] = {0};
        struct model *m = calloc(1, sizeof *m);
        size_t candidates = 0;
        run_model(m, t, seed);
        connect(t, RANKS, true);
        for (uint32_t rank = 0; rank < RANKS; rank++)
            for (size_t i = 0; i < m->taken_count[rank]; i++) {
                CHECK_EQ(t[rank].at[2 * i + 1].send, (int64_t)m->taken[rank][i].position);
                CHECK_EQ(t[rank].at[2 * i].send, (int64_t)m->taken[rank][i].position);
                candidates += t[rank].at[2 * i].candidates;
                check_candidates(m, t, rank, i);
            }
        CHECK(candidates > 0);
        free_all(t, RANKS);
        free(m);
    }
}
