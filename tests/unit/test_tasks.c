/* SPDX-License-Identifier: MIT */
/*
 * Tasks in a model of processes (task_model.h): any order of messages and steps gives the same
 * result where the annotations are right; a replay follows its record; dead processes change
 * nothing.
 *
 * The program has every kind of entry: in each step a task tells its value to three others (a
 * commutative region), each of which passes a note on to a collector (sends inside a region, into
 * another one); the sum of all goes back by a reduction (ordered), and begins the next step. With
 * masters, tasks also ask for units of work, which are given out in the order of asking
 * (order-dependent), and tell a collector which they got.
 */
#include "unit.h"

#include "task_model.h"

#include "base/diagnostics.h"
#include "task/task_check.h"
#include "task/task_file.h"
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

TEST(any_order_gives_the_same)
{
    uint64_t digest = 0;

    has_masters = false;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        int processes = 1 + (int)(seed % 5);
        model_begin(RP_TASKS_PLAIN, processes, seed, declare);
        bool ended = model_run(program, NULL, NULL, 0);
        if (!ended)
            say("plain", seed);
        REQUIRE(ended);
        check_values();
        if (seed > 1)
            CHECK_EQ(model_count(RP_COUNT_DIGEST), digest);
        digest = model_count(RP_COUNT_DIGEST);
        model_end();
    }
}

TEST(tasks_move)
{
    has_masters = false;
    moves = true;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        model_begin(seed % 2 ? RP_TASKS_PLAIN : RP_TASKS_PARTIAL, 4, seed, declare);
        bool ended = model_run(program, NULL, NULL, 0);
        if (!ended)
            say("moves", seed);
        REQUIRE(ended);
        check_values();
        model_end();
    }
    moves = false;
}

/* Records of all processes, for a replay. */
static struct rp_buffer record[MODEL_PROCESSES];

static void keep_record(void)
{
    struct rp_problem why;

    for (int i = 0; i < model.processes; i++) {
        rp_buffer_clear(&record[i]);
        CHECK_OK(rp_task_file_make(&model.process[i].tasks, &record[i], &why), why);
    }
}

static void load_record(void)
{
    struct rp_problem why;

    for (int i = 0; i < model.processes; i++)
        for (int k = 0; k < model.processes; k++)
            CHECK_OK(rp_task_file_parse(&model.process[i].tasks, record[k].bytes, record[k].length,
                                        &why),
                     why);
}

TEST(a_replay_follows_its_record)
{
    uint64_t different = 0;

    has_masters = true;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        moves = seed % 3 == 0;
        counts = seed % 2;
        model_begin(RP_TASKS_RECORD, 4, seed, declare);
        REQUIRE(model_run(program, NULL, NULL, 0));
        uint64_t digest = model_count(RP_COUNT_DIGEST);
        check_units();
        /* Masters have nothing but order-dependent messages: one less than these, of each run if
         * their number is known. Nobody else needs any. */
        CHECK_EQ(model_count(RP_COUNT_DETERMINANTS), UNITS - MASTERS * (counts ? RUNS : 1));
        CHECK_EQ(model_count(RP_COUNT_ALGEBRA), UNITS - MASTERS * (counts ? RUNS : 1));
        keep_record();
        model_end();

        for (uint64_t again = 1; again <= 3; again++) {
            model_begin(RP_TASKS_REPLAY, 4, seed * 100 + again, declare);
            load_record();
            bool ended = model_run(program, NULL, NULL, 0);
            if (!ended)
                say("replay", seed);
            REQUIRE(ended);
            CHECK_EQ(model_count(RP_COUNT_DIFFERENCES), 0);
            CHECK_EQ(model_count(RP_COUNT_DIGEST), digest);
            model_end();
        }
        model_begin(RP_TASKS_PLAIN, 4, seed * 100 + 7, declare);
        REQUIRE(model_run(program, NULL, NULL, 0));
        different += model_count(RP_COUNT_DIGEST) != digest;
        model_end();
    }
    moves = counts = false;
    CHECK(different > 5); /* so that a replay had something to follow */
    for (int i = 0; i < MODEL_PROCESSES; i++)
        rp_buffer_free(&record[i]);
}

/* What a run left that ended in the middle: its order is followed, and then it goes on. */
TEST(a_record_that_was_cut_off)
{
    struct rp_problem why;
    char directory[] = "/tmp/reprise-tasks.XXXXXX";
    uint64_t known = 0;

    has_masters = true;
    REQUIRE(mkdtemp(directory));
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct master before[MASTERS] = {{0}};
        moves = seed % 3 == 0;
        counts = seed % 2;
        model_begin(RP_TASKS_RECORD, 4, seed, declare);
        model.limit = 200 + seed * 150;
        for (int i = 0; i < 4; i++) {
            model.process[i].tasks.directory = directory;
            CHECK_OK(rp_task_file_begin(&model.process[i].tasks, &why), why);
        }
        REQUIRE(!model_run(program, NULL, NULL, 0));
        for (int m = 0; m < MASTERS; m++) {
            const struct master *master = model_state(masters, m);
            if (master) /* else it is on its way */
                before[m] = *master;
            known += before[m].given;
        }
        model_end();
        model_begin(RP_TASKS_REPLAY, 4, seed * 100 + 7, declare);
        for (int i = 0; i < 4; i++) {
            model.process[i].tasks.directory = directory;
            CHECK_OK(rp_task_file_read(&model.process[i].tasks, &why), why);
        }
        bool ended = model_run(program, NULL, NULL, 0);
        if (!ended)
            say("cut off", seed);
        REQUIRE(ended);
        CHECK_EQ(model_count(RP_COUNT_DIFFERENCES), 0);
        check_units();
        for (int m = 0; m < MASTERS; m++) {
            const struct master *master = model_state(masters, m);
            REQUIRE(master);
            CHECK(memcmp(master->to, before[m].to, before[m].given * sizeof *master->to) == 0);
        }
        model_end();
        for (int i = 0; i < 4; i++) {
            char path[100];
            snprintf(path, sizeof path, "%s/tasks-%05d.journal", directory, i);
            CHECK_EQ(unlink(path), 0);
        }
    }
    rmdir(directory);
    moves = counts = false;
    CHECK(known > 100);
}

TEST(regions_that_do_not_commute_are_found)
{
    int found = 0;

    has_masters = false;
    commutes = false;
    fflush(stdout);
    int kept = dup(2);
    REQUIRE(freopen("/dev/null", "w", stderr));
    for (uint64_t seed = 1; seed <= 6; seed++) {
        model_begin(RP_TASKS_RECORD, 3, seed, declare);
        REQUIRE(model_run(program, NULL, NULL, 0));
        keep_record();
        model_end();
        model_begin(RP_TASKS_REPLAY, 3, seed + 1000, declare);
        load_record();
        REQUIRE(model_run(program, NULL, NULL, 0));
        bool named = false;
        for (int i = 0; i < 3; i++)
            named |= model.process[i]
                         .tasks.difference_reported[(unsigned)cells * RP_TASK_ENTRIES + CELL_VALUE];
        found += named && model_count(RP_COUNT_DIFFERENCES) > 0;
        model_end();
    }
    dup2(kept, 2);
    CHECK(found == 6);
    commutes = true;
    for (int i = 0; i < MODEL_PROCESSES; i++)
        rp_buffer_free(&record[i]);
}

/* Damaged records are refused, whatever byte it is. */
TEST(damaged_records_are_refused)
{
    struct rp_problem why;

    has_masters = true;
    model_begin(RP_TASKS_RECORD, 2, 5, declare);
    REQUIRE(model_run(program, NULL, NULL, 0));
    keep_record();
    model_end();
    for (size_t i = 0; i < record[0].length; i += 1 + i / 40) {
        model_begin(RP_TASKS_REPLAY, 2, 5, declare);
        record[0].bytes[i] ^= 0x10;
        CHECK(rp_task_file_parse(&model.process[0].tasks, record[0].bytes, record[0].length,
                                 &why) != RP_OK);
        record[0].bytes[i] ^= 0x10;
        CHECK(rp_task_file_parse(&model.process[0].tasks, record[0].bytes, i, &why) != RP_OK);
        model_end();
    }
    model_begin(RP_TASKS_REPLAY, 3, 5, declare);
    CHECK_EQ(rp_task_file_parse(&model.process[0].tasks, record[0].bytes, record[0].length, &why),
             RP_USAGE);
    CHECK_HAS(why.text, "on 2 processes");
    model_end();
    for (int i = 0; i < MODEL_PROCESSES; i++)
        rp_buffer_free(&record[i]);
}

static const struct {
    enum rp_task_mode mode;
    const char *name;
} schemes[] = {{RP_TASKS_PARTIAL, "partial"},
               {RP_TASKS_FULL, "full"},
               {RP_TASKS_RESTART, "restart"}};

static uint64_t steps_without(enum rp_task_mode mode, int processes)
{
    model_begin(mode, processes, 4711, declare);
    if (!model_run(program, NULL, NULL, 0))
        say("without failures", 4711);
    uint64_t steps = model.steps;
    model_end();
    return steps;
}

TEST(one_dead_process_changes_nothing)
{
    for (int scheme = 0; scheme < 3; scheme++)
        for (int kind = 0; kind < 3; kind++) {
            has_masters = kind > 0;
            counts = kind == 2;
            uint64_t steps = steps_without(schemes[scheme].mode, 5), random = 99 + (uint64_t)kind,
                     restored = 0;
            for (uint64_t seed = 1; seed <= 60; seed++) {
                uint64_t at = unit_below(&random, steps);
                int whom = (int)(seed % 5);
                model_begin(schemes[scheme].mode, 5, seed, declare);
                for (int i = 0; i < 5; i++)
                    model.process[i].tasks.spread = 1 + (int)(seed % 4);
                bool ended = model_run(program, &at, &whom, 1);
                if (!ended)
                    say(schemes[scheme].name, seed);
                REQUIRE(ended);
                has_masters ? check_units() : check_values();
                for (int i = 0; i < 5; i++)
                    restored += model.process[i].tasks.restored;
                model_end();
            }
            CHECK(restored > 60);
        }
    counts = false;
}

/* While tasks move, or shortly before and after: some know of it before they have begun to move
 * theirs, some after. */
TEST(deaths_while_tasks_move)
{
    int ended_well = 0, refused = 0;

    moves = has_late = true;
    for (int scheme = 0; scheme < 3; scheme++)
        for (uint64_t seed = 1; seed <= 90; seed++) {
            has_masters = seed % 3 == 0;
            model_begin(schemes[scheme].mode, 5, seed, declare);
            REQUIRE(model_run(program, NULL, NULL, 0));
            uint64_t random = seed, first = model.move_first - 40,
                     length = model.move_last - first + 60;
            model_end();
            uint64_t at[2] = {first + unit_below(&random, length),
                              first + unit_below(&random, length)};
            int whom[2] = {(int)unit_below(&random, 5), (int)unit_below(&random, 5)},
                kills = 1 + (seed % 2 == 0);
            model_begin(schemes[scheme].mode, 5, seed, declare);
            for (int i = 0; i < 5; i++)
                model.process[i].tasks.spread = 1 + (int)(seed % 4);
            if (model_run(program, at, whom, kills)) {
                has_masters ? check_units() : check_values();
                check_late();
                ended_well++;
            } else {
                bool expected = kills == 2 && (strstr(model.lost, "is lost: both processes") ||
                                               strstr(model.lost, "determinants are held by"));
                if (!expected)
                    say(schemes[scheme].name, seed);
                CHECK(expected);
                refused++;
            }
            model_end();
        }
    moves = has_late = false;
    CHECK(ended_well > 180);
    CHECK(refused > 0);
}

/* One process is so slow that it has not heard that the first checkpoint is complete, when another
 * dies that has given out units already. */
TEST(a_death_that_some_hear_of_a_run_late)
{
    has_masters = true;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        has_late = seed % 4 > 1;
        counts = seed % 3 == 0;
        int whom = seed % 2 ? 2 : 0; /* where masters are */
        uint64_t at = 0;
        for (int pass = 0; pass < 2; pass++) {
            model_begin(seed % 5 ? RP_TASKS_PARTIAL : RP_TASKS_FULL, 5, seed, declare);
            model.slow = 1 + (whom + 1) % 5; /* who takes the master over */
            bool ended = model_run(program, &at, &whom, pass);
            if (!ended)
                say("late", seed);
            REQUIRE(ended);
            at = model.second_run + 20 + seed * 11 % 300;
            check_units();
            if (has_late)
                check_late();
            model_end();
        }
    }
    has_late = counts = false;
}

/* As many copies of determinants as processes die: nothing is lost but states that two neighbours
 * held. */
TEST(determinants_outlive_two_processes)
{
    int ended_well = 0;

    has_masters = true;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        counts = seed % 2;
        uint64_t random = seed * 7, at[2];
        int whom[2] = {
            (int)unit_below(&random, 2)}; /* where a master is, and somebody not beside it */
        whom[1] = (whom[0] + 2 + (int)unit_below(&random, 3)) % 6;
        at[0] = 300 + unit_below(&random, 2500);
        at[1] = at[0] + unit_below(&random, 60);
        model_begin(seed % 4 < 2 ? RP_TASKS_PARTIAL : RP_TASKS_FULL, 6, seed, declare);
        for (int i = 0; i < 6; i++)
            model.process[i].tasks.determinant_copies = 2;
        if (model_run(program, at, whom, 2)) {
            check_units();
            ended_well++;
        } else {
            bool expected = strstr(model.lost, "is lost: both processes");
            if (!expected)
                say("two copies", seed);
            CHECK(expected);
        }
        model_end();
    }
    counts = false;
    CHECK(ended_well > 40);
}

/* Several, one after the other or at once, also while others are recovered. Where both holders of a
 * state die, it is said so; nothing else ends badly. */
TEST(several_dead_processes_change_nothing_or_are_refused)
{
    int ended_well = 0, refused = 0;

    for (int scheme = 0; scheme < 3; scheme++) {
        has_masters = scheme == 2;
        uint64_t steps = steps_without(schemes[scheme].mode, 6), random = 5;
        for (uint64_t seed = 1; seed <= 100; seed++) {
            uint64_t at[3] = {unit_below(&random, steps)};
            int whom[3];
            at[1] = at[0] + (seed % 2 ? unit_below(&random, 40) : unit_below(&random, steps));
            at[2] = at[1] + unit_below(&random, steps);
            for (int i = 0; i < 3; i++)
                whom[i] = (int)unit_below(&random, 6);
            model_begin(schemes[scheme].mode, 6, seed, declare);
            if (model_run(program, at, whom, 2 + (int)(seed % 2))) {
                has_masters ? check_units() : check_values();
                ended_well++;
            } else {
                bool expected = strstr(model.lost, "is lost: both processes") ||
                                strstr(model.lost, "determinants are held by");
                if (!expected)
                    say(schemes[scheme].name, seed);
                CHECK(expected);
                refused++;
            }
            model_end();
        }
    }
    CHECK(ended_well > 150);
    CHECK(refused > 10);
}

/* Partial determinants where none is needed: any number of deaths can be survived, as long as no
 * two neighbours die between checkpoints. */
TEST(counts_of_determinants)
{
    has_masters = false;
    model_begin(RP_TASKS_PARTIAL, 4, 3, declare);
    REQUIRE(model_run(program, NULL, NULL, 0));
    CHECK_EQ(model_count(RP_COUNT_DETERMINANTS), 0);
    uint64_t messages = model_count(RP_COUNT_MESSAGES);
    model_end();
    model_begin(RP_TASKS_FULL, 4, 3, declare);
    REQUIRE(model_run(program, NULL, NULL, 0));
    CHECK_EQ(model_count(RP_COUNT_DETERMINANTS), messages);
    CHECK_EQ(model_count(RP_COUNT_MESSAGES), messages);
    model_end();
    has_masters = true;
    model_begin(RP_TASKS_PARTIAL, 4, 3, declare);
    REQUIRE(model_run(program, NULL, NULL, 0));
    CHECK_EQ(model_count(RP_COUNT_DETERMINANTS), UNITS);
    CHECK_EQ(model_count(RP_COUNT_ALGEBRA), UNITS);
    model_end();
    counts = true; /* each master in each run: one less */
    model_begin(RP_TASKS_PARTIAL, 4, 3, declare);
    REQUIRE(model_run(program, NULL, NULL, 0));
    CHECK_EQ(model_count(RP_COUNT_DETERMINANTS), UNITS - MASTERS * RUNS);
    CHECK_EQ(model_count(RP_COUNT_ALGEBRA), UNITS - MASTERS * RUNS);
    model_end();
    counts = false;
}
