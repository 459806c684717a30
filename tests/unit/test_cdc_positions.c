/* SPDX-License-Identifier: MIT */
/*
 * Places in the order of clocks, and a model of the whole replay by clocks. Random programs are run
 * once: each rank sends, receives any message that has come, or probes and receives what it found.
 * What it received makes tables, as codec cdc has them. Then the same programs are run by the
 * tables, with messages that come in other orders: every receive must get the message that it had,
 * and in no state may all ranks wait.
 */
#include "cdc/model/cdc_positions.h"

#include "cdc/model/cdc_lower_bound.h"
#include "unit.h"

enum { RANKS = 5, STEPS = 24, MESSAGES = RANKS * STEPS, TABLES = 3 };

enum action { SEND, RECEIVE, PROBE };

struct step {
    enum action action;
    int peer; /* receiver, or the sender that the probe found */
};

struct sent {
    uint64_t clock;
    int32_t rank;
};

struct rank {
    struct step steps[2 * MESSAGES + STEPS + 2];
    size_t step_count;
    struct sent received[MESSAGES]; /* as recorded */
    size_t received_count;
    struct rp_cdc_table tables[TABLES];
    struct rp_cdc_clock epochs[TABLES][RANKS], lates[TABLES][MESSAGES];
    uint32_t order[MESSAGES];
    /* while it runs */
    uint64_t clock;
    struct sent pool[MESSAGES]; /* in the order of arrival */
    size_t pool_count;
    size_t at, given, table, given_before; /* step; messages given; the table at the front, and
                                              messages given before it */
    struct rp_cdc_positions positions;
    bool waits;
};

static struct world {
    int ranks;
    struct rank rank[RANKS];
    struct sent under_way[RANKS][RANKS][MESSAGES]; /* from, to */
    size_t sent[RANKS][RANKS], arrived[RANKS][RANKS];
    uint64_t seed;
} world;

static void send(int from, int to)
{
    world.under_way[from][to][world.sent[from][to]++] =
        (struct sent){world.rank[from].clock++, from};
}

static void received(struct rank *rank, size_t at)
{
    uint64_t clock = rank->pool[at].clock;

    rank->clock = (clock > rank->clock ? clock : rank->clock) + 1;
    rank->pool_count--;
    memmove(&rank->pool[at], &rank->pool[at + 1], (rank->pool_count - at) * sizeof *rank->pool);
}

/* Takes the next message of the pair in; NULL: none is under way. */
static const struct sent *deliver(int from, int to)
{
    struct rank *rank = &world.rank[to];

    if (world.arrived[from][to] == world.sent[from][to])
        return NULL;
    rank->pool[rank->pool_count] = world.under_way[from][to][world.arrived[from][to]++];
    return &rank->pool[rank->pool_count++];
}

static size_t first_of(const struct rank *rank, int sender)
{
    size_t at = 0;

    while (at < rank->pool_count && rank->pool[at].rank != sender)
        at++;
    return at;
}

/* The record */

static void record_receive(struct rank *rank)
{
    size_t at = unit_below(&world.seed, rank->pool_count);

    if (unit_below(&world.seed, 2) == 0) {
        at = first_of(rank, rank->pool[at].rank);
        rank->steps[rank->step_count++] = (struct step){PROBE, rank->pool[at].rank};
    }
    rank->steps[rank->step_count++] = (struct step){RECEIVE, 0};
    rank->received[rank->received_count++] = rank->pool[at];
    received(rank, at);
}

static void record_step(int number)
{
    struct rank *rank = &world.rank[number];
    int to = (number + 1 + (int)unit_below(&world.seed, (uint64_t)world.ranks - 1)) % world.ranks;

    if (rank->pool_count > 0 && unit_below(&world.seed, 3) > 0) {
        record_receive(rank);
    } else {
        rank->steps[rank->step_count++] = (struct step){SEND, to};
        send(number, to);
    }
}

static void record_all(void)
{
    for (int i = 0; i < STEPS * world.ranks; i++) {
        int number = (int)unit_below(&world.seed, (uint64_t)world.ranks);
        deliver((int)unit_below(&world.seed, (uint64_t)world.ranks), number);
        if (world.rank[number].step_count < STEPS)
            record_step(number);
    }
    for (int to = 0; to < world.ranks; to++) { /* no message is left */
        for (int from = 0; from < world.ranks; from++)
            while (deliver(from, to))
                ;
        while (world.rank[to].pool_count > 0)
            record_receive(&world.rank[to]);
    }
}

/* Its tables */

static bool is_before(const struct sent *one, const struct sent *other)
{
    return one->clock < other->clock || (one->clock == other->clock && one->rank < other->rank);
}

static void draw_epoch(struct rp_cdc_table *table, struct rp_cdc_clock *epoch,
                       const struct sent *messages)
{
    table->epoch = epoch;
    for (int32_t sender = 0; sender < RANKS; sender++) {
        struct rp_cdc_clock point = {sender, 0};
        bool has = false;
        for (size_t i = 0; i < table->message_count; i++)
            if (messages[i].rank == sender && (!has || messages[i].clock > point.clock)) {
                point.clock = messages[i].clock;
                has = true;
            }
        if (has)
            epoch[table->epoch_count++] = point;
    }
}

static bool is_below(const struct rp_cdc_table *table, const struct sent *message)
{
    for (size_t i = 0; i < table->epoch_count; i++)
        if (table->epoch[i].rank == message->rank && message->clock <= table->epoch[i].clock)
            return true;
    return false;
}

static void make_table(struct rank *rank, size_t number, size_t first, size_t count)
{
    struct rp_cdc_table *table = &rank->tables[number];
    const struct sent *messages = &rank->received[first];

    table->message_count = (uint32_t)count;
    table->order = &rank->order[first];
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            table->order[i] += is_before(&messages[k], &messages[i]);
    draw_epoch(table, rank->epochs[number], messages);
    table->late = rank->lates[number];
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < number; k++)
            if (is_below(&rank->tables[k], &messages[i])) {
                table->late[table->late_count++] =
                    (struct rp_cdc_clock){messages[i].rank, messages[i].clock};
                break;
            }
}

static void make_tables(struct rank *rank)
{
    size_t first = 0;

    for (size_t i = 0; i < TABLES; i++) {
        size_t left = rank->received_count - first,
               count = i == TABLES - 1 ? left : unit_below(&world.seed, left + 1);
        make_table(rank, i, first, count);
        first += count;
    }
}

/* The replay */

static bool is_late(const struct rank *rank, const struct sent *message)
{
    for (size_t i = rank->table + 1; i < TABLES; i++)
        for (size_t k = 0; k < rank->tables[i].late_count; k++)
            if (rank->tables[i].late[k].rank == message->rank &&
                rank->tables[i].late[k].clock == message->clock)
                return true;
    return false;
}

static void consider(struct rank *rank, const struct sent *message)
{
    if (rp_cdc_positions_within_epoch_line(&rank->positions, message->clock, message->rank) &&
        !is_late(rank, message))
        rp_cdc_positions_add(&rank->positions, message->clock, message->rank,
                             rank); /* any pointer */
}

static void begin_table(struct rank *rank)
{
    rp_cdc_positions_begin(&rank->positions, &rank->tables[rank->table]);
    for (size_t i = 0; i < rank->pool_count; i++)
        consider(rank, &rank->pool[i]);
}

static void look_at_table(struct rank *rank)
{
    while (rank->given - rank->given_before == rank->tables[rank->table].message_count &&
           rank->table < TABLES - 1) {
        rank->given_before = rank->given;
        rank->table++;
        begin_table(rank);
    }
}

static uint32_t wanted(const struct rank *rank)
{
    return rank->tables[rank->table].order[rank->given - rank->given_before];
}

static bool has_under_way(int to)
{
    bool found = false;

    for (int from = 0; from < world.ranks; from++)
        found |= world.sent[from][to] != world.arrived[from][to];
    return found;
}

static void find_bounds(int to, uint64_t *bounds, bool *under_way)
{
    struct rp_cdc_bound_rank seen[RANKS];

    for (int i = 0; i < world.ranks; i++) {
        const struct rank *rank = &world.rank[i];
        bool waits = rank->waits && !has_under_way(i), ended = rank->at == rank->step_count;
        seen[i] = (struct rp_cdc_bound_rank){
            ended ? RP_NEVER : rank->clock,
            waits ? rp_cdc_positions_clock(&rank->positions, wanted(rank)) : RP_NEVER, waits};
        under_way[i] = world.sent[i][to] != world.arrived[i][to];
    }
    rp_cdc_lower_bounds_find(seen, (size_t)world.ranks, bounds);
}

static bool replay_receive(int number)
{
    struct rank *rank = &world.rank[number];
    const struct sent *expected = &rank->received[rank->given];
    uint64_t bounds[RANKS];
    bool under_way[RANKS];

    rank->waits = true;
    find_bounds(number, bounds, under_way);
    uint32_t position = wanted(rank);
    if (!rp_cdc_positions_find(&rank->positions, position, bounds, under_way))
        return false;
    const struct rp_cdc_position found = rank->positions.at[position];
    CHECK(found.clock == expected->clock && found.rank == expected->rank);
    CHECK(!rank->positions.is_broken);
    rp_cdc_positions_deliver(&rank->positions, found.clock, found.rank);
    size_t at = 0;
    while (at + 1 < rank->pool_count &&
           (rank->pool[at].clock != found.clock || rank->pool[at].rank != found.rank))
        at++;
    received(rank, at);
    rank->given++;
    return true;
}

static bool replay_step(int number)
{
    struct rank *rank = &world.rank[number];
    const struct step *step = &rank->steps[rank->at];

    if (rank->at == rank->step_count)
        return false;
    if (step->action == SEND) {
        send(number, step->peer);
    } else {
        look_at_table(rank);
        rank->waits = true;
        if (step->action == PROBE ? first_of(rank, step->peer) == rank->pool_count
                                  : !replay_receive(number))
            return false;
    }
    rank->waits = false;
    rank->at++;
    return true;
}

static bool replay_arrival(int from, int to)
{
    const struct sent *message = deliver(from, to);

    if (message)
        consider(&world.rank[to], message);
    return message != NULL;
}

/* Something that can happen next, at random. False: nothing can. */
static bool replay_something(void)
{
    int things = world.ranks * world.ranks + world.ranks,
        first = (int)unit_below(&world.seed, (uint64_t)things);
    bool happened = false;

    for (int i = 0; i < 2 * things && !happened;
         i++) { /* twice: who begins to wait may let another go on */
        int thing = (first + i) % things, pair = thing - world.ranks;
        happened =
            pair < 0 ? replay_step(thing) : replay_arrival(pair / world.ranks, pair % world.ranks);
    }
    return happened;
}

static bool all_have_ended(void)
{
    bool ended = true;

    for (int i = 0; i < world.ranks; i++)
        ended &= world.rank[i].at == world.rank[i].step_count;
    return ended;
}

static void rewind_rank(struct rank *rank)
{
    rank->clock = 0;
    rank->pool_count = 0;
    rank->at = rank->given = rank->table = rank->given_before = 0;
    rank->waits = false;
    begin_table(rank);
}

TEST(no_replay_of_tables_stops)
{
    for (uint64_t run = 0; run < 20000; run++) {
        memset(&world, 0, sizeof world);
        world.seed = run + 1;
        world.ranks = 2 + (int)(run % (RANKS - 1));
        record_all();
        memset(world.sent, 0, sizeof world.sent);
        memset(world.arrived, 0, sizeof world.arrived);
        for (int i = 0; i < world.ranks; i++) {
            make_tables(&world.rank[i]);
            rewind_rank(&world.rank[i]);
        }
        while (replay_something())
            ;
        CHECK(all_have_ended());
        for (int i = 0; i < world.ranks; i++)
            rp_cdc_positions_free(&world.rank[i].positions);
    }
}

/* Places by themselves */

static const struct rp_cdc_clock line[] = {{0, 9}, {2, 7}};
static const struct rp_cdc_table table = {.message_count = 4,
                                          .epoch = (struct rp_cdc_clock *)line,
                                          .epoch_count = 2};

TEST(a_place_is_certain_when_nothing_smaller_can_come)
{
    struct rp_cdc_positions positions = {0};
    uint64_t bounds[3] = {5, 0, 5};
    bool under_way[3] = {false, false, false};
    int message;

    rp_cdc_positions_begin(&positions, &table);
    CHECK(rp_cdc_positions_within_epoch_line(&positions, 9, 0));
    CHECK(!rp_cdc_positions_within_epoch_line(&positions, 10, 0));
    CHECK(!rp_cdc_positions_within_epoch_line(&positions, 0, 1));
    CHECK(rp_cdc_positions_clock(&positions, 0) == RP_NEVER);
    rp_cdc_positions_add(&positions, 5, 0, &message);
    CHECK(rp_cdc_positions_find(&positions, 0, bounds, under_way) ==
          &message); /* of the same clock, rank 2 comes behind */
    bounds[2] = 4;
    CHECK(!rp_cdc_positions_find(&positions, 0, bounds, under_way));
    rp_cdc_positions_add(&positions, 7, 2, &message);
    CHECK(rp_cdc_positions_find(&positions, 0, bounds, under_way) ==
          &message); /* rank 2 has sent its last */
    under_way[2] = true;
    CHECK(!rp_cdc_positions_find(&positions, 0, bounds, under_way));
    rp_cdc_positions_free(&positions);
}

TEST(a_message_in_front_of_a_given_one_is_found_out)
{
    struct rp_cdc_positions positions = {0};
    int message;

    rp_cdc_positions_begin(&positions, &table);
    rp_cdc_positions_add(&positions, 5, 0, &message);
    rp_cdc_positions_deliver(&positions, 6, 0);
    rp_cdc_positions_add(&positions, 4, 0, &message);
    CHECK(!positions.is_broken);
    rp_cdc_positions_deliver(&positions, 5, 0);
    rp_cdc_positions_add(&positions, 6, 0, &message);
    CHECK(!positions.is_broken);
    rp_cdc_positions_add(&positions, 3, 2, &message);
    CHECK(positions.is_broken);
    CHECK(rp_cdc_positions_are_full(&positions));
    CHECK(!positions.is_crowded);
    rp_cdc_positions_add(&positions, 7, 2, &message);
    CHECK(positions.is_crowded); /* one of them was not received in the record */
    rp_cdc_positions_free(&positions);
}
