/* SPDX-License-Identifier: MIT */
/*
 * A program of tasks, for test_tasks.c, and what it must compute. It has every kind of entry: in
 * each step a task tells its value to three others (a commutative region), each of which passes a
 * note on to a collector (sends inside a region, into another one); the sum of all goes back by a
 * reduction (ordered), and begins the next step. With masters, tasks also ask for units of work,
 * which are given out in the order of asking (order-dependent), and tell a collector which they
 * got.
 */
#ifndef RP_TASK_PROGRAM_H
#define RP_TASK_PROGRAM_H

#include "unit.h"

#include "task_model.h"

#include "task/task_check.h"
#include "task/task_moves.h"

enum { TASKS = 12, COLLECTORS = 2, STEPS = 4, RUNS = 3, MASTERS = 2, UNITS = TASKS * STEPS * RUNS };

struct cell {
    uint64_t value, sum, step, last, told, summed;
    double total;
    uint64_t works, unit[STEPS * RUNS], giver[STEPS * RUNS];
};

struct collector {
    uint64_t notes, units;
};

struct master {
    uint64_t given, to[UNITS];
};

enum { CELL_START, CELL_VALUE, CELL_TOTAL, CELL_WORK };
static int cells, collectors, masters, total, late;
static bool has_masters, commutes = true, counts,
                         has_late; /* masters know how many questions a run has; a collection is
                                      made after the first run */

static uint64_t mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return a ^ a >> 29;
}

static void tell_value(struct cell *cell)
{
    int self = reprise_self().x;
    static const int away[] = {1, 3, 5};

    cell->told = cell->step + 1;
    for (int i = 0; i < 3; i++)
        reprise_send(cells, (struct reprise_index){(self + away[i]) % TASKS, 0, 0}, CELL_VALUE,
                     cell->step, &cell->value, sizeof cell->value);
    uint64_t ask[2] = {(uint64_t)self, cell->step};
    if (has_masters)
        reprise_send(masters, (struct reprise_index){(self + (int)cell->step) % MASTERS, 0, 0}, 0,
                     0, ask, sizeof ask);
}

static void cell_start(void *state, const struct reprise_message *message)
{
    struct cell *cell = state;

    cell->last = message->ref * STEPS + STEPS;
    tell_value(cell);
}

static bool cell_is_at(const void *state, uint64_t ref)
{
    return ((const struct cell *)state)->step == ref;
}

/* Not before it has told its own, which the end of the region changes; and not after that end. */
static bool cell_takes(const void *state, uint64_t ref)
{
    return cell_is_at(state, ref) && ((const struct cell *)state)->told > ref &&
           ((const struct cell *)state)->summed <= ref;
}

/* Not before it has contributed. In a run without failures that cannot be; but a restored task
 * finds messages that were sent after what it has yet to do again. */
static bool cell_awaits_total(const void *state, uint64_t ref)
{
    return cell_is_at(state, ref) && ((const struct cell *)state)->summed > ref;
}

static size_t three(const void *state)
{
    (void)state;
    return 3;
}

static void cell_value(void *state, const struct reprise_message *message)
{
    struct cell *cell = state;
    uint64_t value;

    memcpy(&value, message->data, sizeof value);
    cell->sum = commutes ? cell->sum + value : mix(cell->sum, value);
    reprise_send(collectors, (struct reprise_index){(int)(value % COLLECTORS), 0, 0}, 0, 0, &value,
                 sizeof value);
}

static void cell_values(void *state)
{
    struct cell *cell = state;

    cell->value = mix(cell->value + cell->step, cell->sum);
    cell->sum = 0;
    cell->summed = cell->step + 1;
    reprise_contribute(total, cell->step, (double[]){(double)(cell->value >> 40)});
}

static void cell_total(void *state, const struct reprise_message *message)
{
    struct cell *cell = state;

    memcpy(&cell->total, message->data, sizeof cell->total);
    cell->value = mix(cell->value, (uint64_t)cell->total);
    if (++cell->step < cell->last)
        tell_value(cell);
}

static void cell_work(void *state, const struct reprise_message *message)
{
    struct cell *cell = state;

    memcpy(&cell->unit[message->ref], message->data, sizeof *cell->unit);
    cell->giver[message->ref] = (uint64_t)(reprise_self().x + (int)message->ref) % MASTERS;
    cell->works++;
    uint64_t told = cell->giver[message->ref] * UNITS + cell->unit[message->ref];
    reprise_send(collectors, (struct reprise_index){(int)(told % COLLECTORS), 0, 0}, 1, 0, &told,
                 sizeof told);
}

/* Notes have no sizes of regions that are known: each is a region of its own, which commutes with
 * all others. */
static size_t one(const void *state)
{
    (void)state;
    return 1;
}

static void note(void *state, const struct reprise_message *message)
{
    uint64_t value;

    memcpy(&value, message->data, sizeof value);
    ((struct collector *)state)->notes += mix(value, 1);
}

static void told_unit(void *state, const struct reprise_message *message)
{
    uint64_t unit;

    memcpy(&unit, message->data, sizeof unit);
    ((struct collector *)state)->units += mix(unit, 3);
}

static void ask(void *state, const struct reprise_message *message)
{
    struct master *master = state;
    uint64_t ask[2];

    memcpy(ask, message->data, sizeof ask);
    master->to[master->given] = ask[0] * 1000 + ask[1];
    reprise_send(cells, (struct reprise_index){(int)ask[0], 0, 0}, CELL_WORK, ask[1],
                 &master->given, sizeof master->given);
    master->given++;
}

static size_t asks_of_a_run(const void *state)
{
    (void)state;
    return TASKS * STEPS / MASTERS;
}

static void make_cell(void *state, struct reprise_index index)
{
    ((struct cell *)state)->value = mix((uint64_t)index.x, 77);
}

static int scattered(struct reprise_index index, int processes)
{
    return index.x * 7 % processes;
}

static const struct reprise_entry cell_entries[] = {
    {"start", REPRISE_ORDERED, cell_start, NULL, NULL, NULL},
    {"value", REPRISE_COMMUTATIVE, cell_value, cell_takes, three, cell_values},
    {"total", REPRISE_ORDERED, cell_total, cell_awaits_total, NULL, NULL},
    {"work", REPRISE_COMMUTATIVE, cell_work, NULL, one, NULL},
    {0},
};
static const struct reprise_entry collector_entries[] = {{"note", REPRISE_COMMUTATIVE, note, NULL,
                                                          one, NULL},
                                                         {"unit", REPRISE_COMMUTATIVE, told_unit,
                                                          NULL, one, NULL},
                                                         {0}};
static const struct reprise_entry master_entries[] = {{"ask", REPRISE_ORDER_DEPENDENT, ask, NULL,
                                                       NULL, NULL},
                                                      {0}};
static const struct reprise_entry counted_entries[] = {{"ask", REPRISE_ORDER_DEPENDENT, ask, NULL,
                                                        asks_of_a_run, NULL},
                                                       {0}};

static void declare(void)
{
    cells = reprise_collection(&(struct reprise_collection_spec){.name = "cell",
                                                                 .size = {TASKS, 0, 0},
                                                                 .state_bytes = sizeof(struct cell),
                                                                 .entries = cell_entries,
                                                                 .make = make_cell});
    collectors = reprise_collection(
        &(struct reprise_collection_spec){.name = "collector",
                                          .size = {COLLECTORS, 0, 0},
                                          .state_bytes = sizeof(struct collector),
                                          .entries = collector_entries});
    masters = has_masters ? reprise_collection(&(struct reprise_collection_spec){
                                .name = "master",
                                .size = {MASTERS, 0, 0},
                                .state_bytes = sizeof(struct master),
                                .entries = counts ? counted_entries : master_entries,
                                .map = scattered})
                          : -1;
    total = reprise_reduction(cells, 1, REPRISE_SUM, CELL_TOTAL);
}

static bool moves;

static bool program(int phase)
{
    if (moves && phase == 1) {
        rp_phase_begin(rp_tasks_now, RP_PHASE_MOVE);
        rp_moves_begin(rp_tasks_now, cells, scattered);
        return true;
    }
    phase -= moves && phase > 1;
    if (has_late && phase == 1)
        late = reprise_collection(
            &(struct reprise_collection_spec){.name = "late",
                                              .size = {TASKS, 0, 0},
                                              .state_bytes = sizeof(struct collector),
                                              .entries = collector_entries});
    if (phase < RUNS) {
        reprise_start(cells, CELL_START, (uint64_t)phase, NULL, 0);
        if (has_late && phase > 0)
            reprise_start(late, 0, 0, &(uint64_t){(uint64_t)phase}, sizeof(uint64_t));
        rp_phase_begin(rp_tasks_now, RP_PHASE_RUN);
    } else if (phase == RUNS) {
        rp_phase_begin(rp_tasks_now, RP_PHASE_END);
    } else {
        rp_tasks_check(rp_tasks_now);
        return false;
    }
    return true;
}

/* What the program computes, without the runtime. */
static uint64_t by_hand(int which)
{
    uint64_t value[TASKS], sum[TASKS];

    for (int i = 0; i < TASKS; i++)
        value[i] = mix((uint64_t)i, 77);
    for (uint64_t step = 0; step < STEPS * RUNS; step++) {
        double all = 0;
        memset(sum, 0, sizeof sum);
        for (int i = 0; i < TASKS; i++)
            for (int k = 1; k <= 5; k += 2)
                sum[(i + k) % TASKS] += value[i];
        for (int i = 0; i < TASKS; i++)
            all += (double)((value[i] = mix(value[i] + step, sum[i])) >> 40);
        for (int i = 0; i < TASKS; i++)
            value[i] = mix(value[i], (uint64_t)all);
    }
    return value[which];
}

static void check_values(void)
{
    for (int i = 0; i < TASKS; i++) {
        const struct cell *cell = model_state(cells, i);
        REQUIRE(cell);
        CHECK_EQ(cell->step, STEPS * RUNS);
        CHECK_EQ(cell->value, by_hand(i));
    }
}

/* Every unit was given out once, whoever has it is who it was given to, and the collectors heard of
 * each once. */
static void check_units(void)
{
    uint64_t heard = 0, expected = 0;

    for (int i = 0; i < COLLECTORS; i++) {
        const struct collector *collector = model_state(collectors, i);
        REQUIRE(collector);
        heard += collector->units;
    }
    for (uint64_t u = 0; u < UNITS; u++)
        expected += mix(u / (UNITS / MASTERS) * UNITS + u % (UNITS / MASTERS), 3);
    CHECK_EQ(heard, expected);
    for (int m = 0; m < MASTERS; m++) {
        const struct master *master = model_state(masters, m);
        REQUIRE(master);
        CHECK_EQ(master->given, UNITS / MASTERS);
        for (uint64_t u = 0; u < master->given && u < UNITS; u++) {
            uint64_t who = master->to[u] / 1000, step = master->to[u] % 1000;
            const struct cell *cell = model_state(cells, (int)who);
            REQUIRE(cell);
            CHECK_EQ(cell->unit[step], u);
            CHECK_EQ(cell->giver[step], m);
        }
    }
}

/* Each had a note in each run but the first. */
static void check_late(void)
{
    for (int i = 0; i < TASKS; i++) {
        const struct collector *state = model_state(late, i);
        REQUIRE(state);
        CHECK_EQ(state->notes, mix(1, 1) + mix(2, 1));
    }
}

static void say(const char *what, uint64_t seed)
{
    printf("  %s, seed %llu: %s\n", what, (unsigned long long)seed, model.lost);
}

#endif
