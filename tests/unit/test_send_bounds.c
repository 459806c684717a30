/* SPDX-License-Identifier: MIT */
/*
 * The order rule: bounds, compared with the greatest fixpoint found in another way; and the whole
 * of src/det in a model of ranks (det_model.h), where every order of steps must give the same.
 */
#include "det_model.h"
#include "unit.h"

/* Bounds */

enum { MOST = 6 };

static uint64_t plus(uint64_t time, uint64_t latency)
{
    return time > RP_SEND_NEVER - latency ? RP_SEND_NEVER : time + latency;
}

/* What a rank's bound is if those of the others are these, from the definition. */
static uint64_t defined(const struct rp_send_bound_rank *ranks, size_t count, uint64_t latency,
                        size_t still, const uint64_t *bounds, size_t r)
{
    uint64_t least = ranks[r].candidate_time, most = ranks[r].candidate_time, wait = 0;

    for (size_t i = 0; i < count; i++) {
        if (i != r && bounds[i] < least)
            least = bounds[i];
        if (ranks[r].missing && ranks[r].missing[0] >> i & 1 && bounds[i] > most)
            most = bounds[i];
    }
    if (r == still)
        return RP_SEND_NEVER;
    if (ranks[r].kind == RP_SEND_ONE)
        wait = plus(bounds[ranks[r].target], latency);
    else if (ranks[r].kind == RP_SEND_ANY)
        wait = plus(least, latency);
    else if (ranks[r].kind == RP_SEND_ALL)
        wait = plus(most, latency);
    return wait > ranks[r].clock ? wait : ranks[r].clock;
}

/* All values that a bound can have: a clock or candidate, some latencies later; or never. */
static size_t find_values(const struct rp_send_bound_rank *ranks, size_t count, uint64_t latency,
                          uint64_t *values)
{
    size_t number = 0;

    for (size_t i = 0; i < count; i++)
        for (uint64_t k = 0; k <= count; k++) {
            values[number++] = plus(ranks[i].clock, k * latency);
            values[number++] = plus(ranks[i].candidate_time, k * latency);
        }
    values[number++] = RP_SEND_NEVER;
    return number;
}

/* The largest of all solutions, found by trying every choice of values. */
static void by_trying(const struct rp_send_bound_rank *ranks, size_t count, uint64_t latency,
                      size_t still, uint64_t *best)
{
    uint64_t values[2 * MOST * (MOST + 1) + 1], tried[MOST];
    size_t number = find_values(ranks, count, latency, values), choice[MOST] = {0};

    memset(best, 0, count * sizeof *best);
    for (;;) {
        bool solves = true;
        for (size_t i = 0; i < count; i++)
            tried[i] = values[choice[i]];
        for (size_t i = 0; i < count && solves; i++)
            solves = defined(ranks, count, latency, still, tried, i) == tried[i];
        for (size_t i = 0; i < count && solves; i++)
            best[i] = tried[i] > best[i] ? tried[i] : best[i];
        size_t at = 0;
        while (at < count && ++choice[at] == number)
            choice[at++] = 0;
        if (at == count)
            return;
    }
}

/* Step by step: all go down from `never` together. */
static void by_iteration(const struct rp_send_bound_rank *ranks, size_t count, uint64_t latency,
                         size_t still, uint64_t *bounds)
{
    uint64_t next[MOST];
    bool changed = true;

    for (size_t i = 0; i < count; i++)
        bounds[i] = RP_SEND_NEVER;
    while (changed) {
        for (size_t i = 0; i < count; i++)
            next[i] = defined(ranks, count, latency, still, bounds, i);
        changed = memcmp(next, bounds, count * sizeof *bounds) != 0;
        memcpy(bounds, next, count * sizeof *bounds);
    }
}

static uint64_t random_time(uint64_t *seed)
{
    uint64_t choice = unit_below(seed, 12);

    return choice == 0   ? RP_SEND_NEVER
           : choice == 1 ? RP_SEND_NEVER - unit_below(seed, 12)
                         : unit_below(seed, 10);
}

static void random_ranks(uint64_t *seed, size_t count, struct rp_send_bound_rank *ranks,
                         uint64_t *missing)
{
    for (size_t i = 0; i < count; i++) {
        enum rp_send_bound_kind kind = (enum rp_send_bound_kind)unit_below(seed, 4);
        uint64_t none = kind == RP_SEND_ALL ? 0 : RP_SEND_NEVER;
        missing[i] = unit_below(seed, 1u << count);
        ranks[i] =
            (struct rp_send_bound_rank){random_time(seed), kind, (uint32_t)unit_below(seed, count),
                                        unit_below(seed, 2) ? none : random_time(seed),
                                        kind == RP_SEND_ALL ? &missing[i] : NULL};
    }
}

TEST(bounds_are_the_greatest_fixpoint)
{
    uint64_t seed = 7, missing[MOST], found[MOST], expected[MOST];
    struct rp_send_bound_rank ranks[MOST];

    for (int i = 0; i < 200000; i++) {
        size_t count = 1 + unit_below(&seed, MOST), still = unit_below(&seed, count + 1);
        uint64_t latency = 1 + unit_below(&seed, 4);
        random_ranks(&seed, count, ranks, missing);
        rp_send_bounds(ranks, count, latency, still, found);
        by_iteration(ranks, count, latency, still, expected);
        for (size_t r = 0; r < count; r++)
            CHECK_EQ(found[r], expected[r]);
    }
}

TEST(no_other_solution_is_larger)
{
    uint64_t seed = 8, missing[MOST], found[MOST], expected[MOST];
    struct rp_send_bound_rank ranks[MOST];

    for (int i = 0; i < 3000; i++) {
        size_t count = 1 + unit_below(&seed, 3), still = unit_below(&seed, count + 1);
        uint64_t latency = 1 + unit_below(&seed, 3);
        random_ranks(&seed, count, ranks, missing);
        rp_send_bounds(ranks, count, latency, still, found);
        by_trying(ranks, count, latency, still, expected);
        for (size_t r = 0; r < count; r++)
            CHECK_EQ(found[r], expected[r]);
    }
}

TEST(a_ring_of_ranks_that_wait_never_sends)
{
    struct rp_send_bound_rank ranks[4] = {{3, RP_SEND_ONE, 1, 0, NULL},
                                          {5, RP_SEND_ONE, 2, 0, NULL},
                                          {4, RP_SEND_ONE, 0, 0, NULL},
                                          {9, RP_SEND_RUNS, 0, 0, NULL}};
    uint64_t bounds[4];

    rp_send_bounds(ranks, 4, 10, 4, bounds);
    CHECK_EQ(bounds[0], RP_SEND_NEVER);
    CHECK_EQ(bounds[1], RP_SEND_NEVER);
    CHECK_EQ(bounds[2], RP_SEND_NEVER);
    CHECK_EQ(bounds[3], 9);
    ranks[2].kind = RP_SEND_ANY; /* the fourth may wake it */
    ranks[2].candidate_time = RP_SEND_NEVER;
    rp_send_bounds(ranks, 4, 10, 4, bounds);
    CHECK_EQ(bounds[2], 19);
    CHECK_EQ(bounds[1], 29);
    CHECK_EQ(bounds[0], 39);
}

TEST(a_chain_of_ranks_that_wait_adds_up)
{
    struct rp_send_bound_rank ranks[4] = {{0, RP_SEND_ONE, 1, 0, NULL},
                                          {500, RP_SEND_ONE, 2, 0, NULL},
                                          {0, RP_SEND_ONE, 3, 0, NULL},
                                          {7, RP_SEND_RUNS, 0, 0, NULL}};
    uint64_t bounds[4];

    rp_send_bounds(ranks, 4, 10, 4, bounds);
    CHECK_EQ(bounds[2], 17);
    CHECK_EQ(bounds[1], 500);
    CHECK_EQ(bounds[0], 510);
    rp_send_bounds(ranks, 4, 10, 3, bounds); /* as long as the last stays */
    CHECK_EQ(bounds[0], RP_SEND_NEVER);
    CHECK_EQ(bounds[3], RP_SEND_NEVER);
}

TEST(who_waits_for_a_rank_that_has_ended_never_sends)
{
    uint64_t missing = 1, bounds[3];
    struct rp_send_bound_rank ranks[3] = {{RP_SEND_NEVER, RP_SEND_RUNS, 0, 0, NULL},
                                          {5, RP_SEND_ONE, 0, 0, NULL},
                                          {6, RP_SEND_ALL, 0, 4, &missing}};

    rp_send_bounds(ranks, 3, 1, 3, bounds);
    CHECK_EQ(bounds[1], RP_SEND_NEVER);
    CHECK_EQ(bounds[2], RP_SEND_NEVER);
    missing = 0; /* all have come */
    rp_send_bounds(ranks, 3, 10, 3, bounds);
    CHECK_EQ(bounds[2], 14);
}

TEST(times_near_the_end_do_not_wrap)
{
    struct rp_send_bound_rank ranks[3] = {{RP_SEND_NEVER - 5, RP_SEND_RUNS, 0, 0, NULL},
                                          {0, RP_SEND_ONE, 0, 0, NULL},
                                          {0, RP_SEND_ANY, 0, RP_SEND_NEVER - 3, NULL}};
    uint64_t bounds[3];

    rp_send_bounds(ranks, 3, 5, 3, bounds);
    CHECK_EQ(bounds[1], RP_SEND_NEVER);
    rp_send_bounds(ranks, 3, 4, 3, bounds);
    CHECK_EQ(bounds[1], RP_SEND_NEVER - 1);
    CHECK_EQ(bounds[2], RP_SEND_NEVER - 1);
    rp_send_bounds(ranks, 3, UINT64_MAX, 3, bounds);
    CHECK_EQ(bounds[2], RP_SEND_NEVER);
}

/* The model */

static struct model_result first_result, other_result;
static unsigned long ended, deadlocks, refused, facts;

static void say_difference(const struct model_program *program, uint64_t seed, int rank)
{
    unit_fail(__FILE__, __LINE__, "order %llu differs in rank %d:", (unsigned long long)seed, rank);
    if (unit_failures > 3)
        return;
    model_print(program);
    for (int i = 0; i < program->ranks; i++) {
        model_print_result(&first_result, i);
        model_print_result(&other_result, i);
    }
    fflush(stdout);
}

static void count_ends(const struct model_program *program)
{
    bool all_ended = true;

    for (int i = 0; i < program->ranks; i++) {
        all_ended &= first_result.ends[i] == MODEL_ENDED;
        facts += (unsigned long)first_result.counts[i];
    }
    if (all_ended)
        ended++;
    else
        deadlocks++;
}

/* Every order gives the same as the first. A run that is refused says nothing. */
static void check_program(const struct model_program *program, int orders, uint64_t seed)
{
    struct model_result *into = &first_result;

    for (int i = 0; i < orders; i++) {
        int fact, rank;
        model_run(program, seed + (uint64_t)i, into);
        unit_checks++;
        if (into->hangs) {
            unit_fail(__FILE__, __LINE__, "order %llu does not come to an end:",
                      (unsigned long long)(seed + (uint64_t)i));
            if (unit_failures <= 3)
                model_print(program);
            return;
        }
        if (into->is_wrong) {
            unit_fail(__FILE__, __LINE__, "order %llu: a rank goes on that had found a deadlock:",
                      (unsigned long long)(seed + (uint64_t)i));
            if (unit_failures <= 3)
                model_print(program);
            return;
        }
        if (into->is_refused) {
            refused++;
            continue;
        }
        if (into == &other_result &&
            (rank = model_compare(program, &first_result, &other_result, &fact)) >= 0) {
            say_difference(program, seed + (uint64_t)i, rank);
            return;
        }
        into = &other_result;
    }
    count_ends(program);
}

static void check_programs(int programs, int orders, uint64_t seed, bool cancels)
{
    static struct model_program program;
    uint8_t bytes[256];

    ended = deadlocks = refused = facts = 0;
    for (int i = 0; i < programs && unit_failures < 5; i++) {
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)unit_random(&seed);
        struct model_bytes from = {bytes, bytes + sizeof bytes};
        model_make(&program, &from, cancels);
        check_program(&program, orders, seed);
    }
    printf("%d programs in %d orders each: %lu end, %lu deadlock, %lu runs refused, %lu facts\n",
           programs, orders, ended, deadlocks, refused, facts);
}

/* Programs by hand: what a rank receives, the first or the next, in all orders. */

static struct model_program hand;

static void begin(int ranks)
{
    memset(&hand, 0, sizeof hand);
    hand.ranks = ranks;
    hand.latency = 4;
}

static void does(int rank, enum model_kind kind, int peer, int tag, int number)
{
    model_add(&hand, rank, kind, peer, tag, number, 1);
}

static int payload(int rank, int which)
{
    for (int i = 0; i < first_result.counts[rank]; i++)
        if (first_result.facts[rank][i].what == 'p' && which-- == 0)
            return first_result.facts[rank][i].value;
    return -1;
}

TEST(a_named_receive_behind_a_wildcard_takes_messages_in_their_order)
{
    begin(3);
    does(0, MODEL_COMPUTE, 0, 0, 3);
    does(0, MODEL_SEND, 2, 1, 0);
    does(1, MODEL_COMPUTE, 0, 0, 9);
    does(1, MODEL_SEND, 2, 1, 0);
    does(1, MODEL_SEND, 2, 0, 0);
    does(2, MODEL_IRECV, -1, 1, 0); /* of rank 0, but that is known late */
    does(2, MODEL_RECV, 1, -1, 0);
    does(2, MODEL_RECV, 1, -1, 0);
    check_program(&hand, 300, 1);
    CHECK_EQ(payload(2, 0), 1001);
    CHECK_EQ(payload(2, 1), 1002);
}

TEST(a_message_to_ourselves_may_come_first)
{
    begin(2);
    does(0, MODEL_IRECV, -1, 0, 0);
    does(0, MODEL_ISSEND, 1, 7, 0);
    does(0, MODEL_TEST, 0, 0,
         8); /* of the send; it waits until rank 1 has looked at its messages */
    does(0, MODEL_SEND, 0, 0, 0);
    does(1, MODEL_COMPUTE, 0, 0, 30);
    does(1, MODEL_SEND, 0, 0, 0);
    does(1, MODEL_RECV, 0, 7, 0);
    check_program(&hand, 300, 1);
    CHECK_EQ(payload(0, 0), 2);
}

TEST(an_answer_to_what_we_send_after_a_test_may_come_first)
{
    begin(3);
    does(0, MODEL_IRECV, -1, 0, 0);
    does(0, MODEL_TEST, 0, 0, 0);
    does(0, MODEL_SEND, 1, 1, 0);
    does(1, MODEL_RECV, 0, 1, 0);
    does(1, MODEL_SEND, 0, 0, 0);
    does(2, MODEL_COMPUTE, 0, 0, 90);
    does(2, MODEL_SEND, 0, 0, 0);
    check_program(&hand, 300, 1);
    CHECK_EQ(payload(0, 0), 1001);
}

TEST(a_receive_that_is_cancelled_leaves_its_message_to_the_next)
{
    begin(3);
    does(0, MODEL_IRECV, -1, -1, 0);
    does(0, MODEL_IRECV, 1, 0, 0);
    does(0, MODEL_CANCEL, 0, 0, 0);
    does(1, MODEL_COMPUTE, 0, 0, 30);
    does(1, MODEL_SEND, 0, 0, 0);
    does(2, MODEL_COMPUTE, 0, 0, 60);
    check_program(&hand, 300, 1);
    CHECK_EQ(first_result.ends[0], MODEL_ENDED);
    CHECK_EQ(payload(0, 0), 1001);
}

/* Rank 0 goes on at the time at which rank 1 took its message, or came to the meeting; that may be
 * found out when rank 1 is much later. Rank 3 must not think that it stays. */
static void wait_for_act(enum model_kind act, enum model_kind wait)
{
    begin(4);
    does(0, act, act == MODEL_ISSEND ? 1 : 3, 1, 0);
    does(0, MODEL_IRECV, 3, 5, 0);
    does(0, wait, 0, 0, 0);
    does(0, MODEL_SEND, 3, 0, 0);
    does(1, MODEL_IPROBE, 3, 5, 3); /* looks at its messages */
    if (act == MODEL_ISSEND)
        does(1, MODEL_IRECV, -1, 1, 0);
    else
        does(1, act, 3, 0, 0);
    does(1, MODEL_COMPUTE, 0, 0, 90);
    does(1, MODEL_RECV, 3, 5, 0);
    does(2, MODEL_COMPUTE, 0, 0, 60);
    does(2, MODEL_SEND, 3, 0, 0);
    does(3, MODEL_RECV, -1, 0, 0);
    does(3, MODEL_SEND, 0, 5, 0);
    does(3, MODEL_SEND, 1, 5, 0);
    check_program(&hand, 3000, 1);
    CHECK(payload(3, 0) < 1000);
}

TEST(who_waits_for_a_send_goes_on_at_its_time)
{
    wait_for_act(MODEL_ISSEND, MODEL_WAIT);
    wait_for_act(MODEL_ISSEND, MODEL_WAITANY);
}

TEST(who_waits_for_a_meeting_goes_on_at_its_time)
{
    wait_for_act(MODEL_IBARRIER, MODEL_WAIT);
    wait_for_act(MODEL_IBARRIER, MODEL_WAITANY);
}

/* The same, but rank 1 waits inside MPI first, where it does not look at its messages. What is
 * known of that may be older than that it has gone on. */
static void wait_for_deaf(enum model_kind wait)
{
    begin(4);
    does(0, MODEL_RECV, 2, 3, 0);
    does(0, MODEL_ISSEND, 1, 1, 0);
    does(0, wait, 0, 0, 0);
    does(0, MODEL_SEND, 3, 0, 0);
    does(1, MODEL_BARRIER, 6, 0, 0);
    does(1, MODEL_IRECV, -1, 1, 0);
    does(1, MODEL_COMPUTE, 0, 0, 90);
    does(1, MODEL_RECV, 3, 5, 0);
    does(2, MODEL_SEND, 0, 3, 0);
    does(2, MODEL_IPROBE, 3, 7, 4); /* takes its time */
    does(2, MODEL_BARRIER, 6, 0, 0);
    does(2, MODEL_COMPUTE, 0, 0, 60);
    does(2, MODEL_SEND, 3, 0, 0);
    does(3, MODEL_RECV, -1, 0, 0);
    does(3, MODEL_SEND, 1, 5, 0);
    check_program(&hand, 6000, 1);
    CHECK(payload(3, 0) < 1000);
}

TEST(who_waits_for_a_send_to_one_in_a_barrier_goes_on_at_its_time)
{
    wait_for_deaf(MODEL_WAIT);
    wait_for_deaf(MODEL_WAITANY);
}

TEST(a_synchronous_message_to_a_rank_that_has_ended_is_a_deadlock)
{
    begin(2);
    does(0, MODEL_SSEND, 1, 0, 0);
    check_program(&hand, 50, 1);
    CHECK_EQ(first_result.ends[0], MODEL_DEADLOCK);
    CHECK_EQ(first_result.ends[1], MODEL_ENDED);
}

/* Whatever the order, and on one host or several. */
static void mismatch(enum model_kind one, enum model_kind other)
{
    begin(3);
    does(0, MODEL_BARRIER, 7, 0, 0);
    does(1, MODEL_BARRIER, 7, 0, 0);
    does(2, MODEL_BARRIER, 7, 0, 0);
    does(0, one, 7, 0, 0);
    does(1, other, 7, 0, 0);
    does(2, one, 7, 0, 0);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        model_run(&hand, seed, &first_result);
        CHECK(first_result.mismatches && !first_result.hangs);
    }
}

TEST(collective_calls_that_do_not_match_are_found)
{
    mismatch(MODEL_BARRIER, MODEL_COLLECTIVE);
    mismatch(MODEL_COLLECTIVE, MODEL_BARRIER);
    mismatch(MODEL_COLLECTIVE, MODEL_IBARRIER);
    mismatch(MODEL_IBARRIER, MODEL_BARRIER);
}

static int model_number(const char *name, int otherwise)
{
    return getenv(name) ? atoi(getenv(name)) : otherwise;
}

TEST(every_order_gives_the_same)
{
    check_programs(model_number("TEST_PROGRAMS", 300), model_number("TEST_ORDERS", 12),
                   (uint64_t)model_number("TEST_SEED", 1), false);
    CHECK(ended > 0 && deadlocks > 0);
}

TEST(every_order_gives_the_same_with_cancels)
{
    check_programs(model_number("TEST_PROGRAMS", 300) / 5, model_number("TEST_ORDERS", 12),
                   (uint64_t)model_number("TEST_SEED", 1) + 1000, true);
    CHECK(ended > 0);
}
