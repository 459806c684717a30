/* SPDX-License-Identifier: MIT */
/*
 * Tasks in a model of processes (task_model.h): any order of messages and steps gives the same
 * result where the annotations are right; a replay follows its record; dead processes change
 * nothing. task_program.h has the program.
 */
#include "task_program.h"

#include "base/diagnostics.h"
#include "task/task_file.h"

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
