/* SPDX-License-Identifier: MIT */
#include "log/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "log/replaystate.h"
#include "unit.h"

static void make(const char *directory, const char *job, uint32_t ranks)
{
    struct rp_manifest m = {.run = 7, .ranks = ranks, .job = (char *)job};
    struct rp_problem why;

    m.mpi = m.mpi_version = m.program = m.build_id = m.directory = m.host = m.started = m.reprise =
        m.codec = m.clocks = (char *)"";
    mkdir(directory, 0700);
    CHECK_OK(rp_manifest_write(directory, &m, &why), why);
}

static char *make_record(void)
{
    struct rp_problem why;
    char *record = strdup(unit_path(unit_temporary(), "run"));
    static const char *const names[] = {"0.10", "0.2", "0.2.1.1"};

    make(record, "", 2);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *directory = rp_job_directory(record, names[i]);
        make(directory, names[i], (uint32_t)i + 1);
        CHECK_OK(rp_job_note(record, names[i], (uint32_t)i + 1, &why), why);
        free(directory);
    }
    CHECK_OK(rp_job_note(record, "1.1", 0, &why), why);
    return record;
}

TEST(jobs_of_a_record_have_an_order)
{
    struct rp_jobs jobs;
    struct rp_problem why;
    uint32_t rank;
    char *record = make_record();

    REQUIRE(rp_jobs_read(record, &jobs, &why) == RP_OK);
    CHECK(jobs.count == 4 && jobs.processes == 8);
    CHECK(strcmp(jobs.job[1].name, "0.2") == 0 && strcmp(jobs.job[2].name, "0.2.1.1") == 0 &&
          strcmp(jobs.job[3].name, "0.10") == 0);
    CHECK(rp_jobs_of(&jobs, 1, &rank) == &jobs.job[0] && rank == 1);
    CHECK(rp_jobs_of(&jobs, 6, &rank) == &jobs.job[2] && rank == 2);
    CHECK(rp_jobs_find(&jobs, "0.2.1.1.2") == 6 && rp_jobs_find(&jobs, "0.10.0") == 7 &&
          rp_jobs_find(&jobs, "0.10.1") == UINT32_MAX);
    CHECK(rp_job_failed(record, "1.1") && !rp_job_failed(record, "0.2"));
    rp_jobs_free(&jobs);
    free(record);
}

TEST(a_lost_or_strange_job_is_damage)
{
    struct rp_jobs jobs;
    struct rp_problem why;
    char *record = make_record(), *from = rp_job_directory(record, "0.10"),
         *to = rp_job_directory(record, "0.11");

    CHECK(rename(from, to) == 0);
    CHECK(rp_jobs_read(record, &jobs, &why) == RP_DAMAGED);
    CHECK_OK(rp_job_note(record, "0.12", 1, &why), why);
    CHECK(rename(to, from) == 0);
    CHECK(rp_jobs_read(record, &jobs, &why) == RP_DAMAGED && strstr(why.text, "0.12"));
    CHECK(rp_jobs_read(from, &jobs, &why) == RP_USAGE && strstr(why.text, "name the record"));
    free(from);
    free(to);
    free(record);
}

TEST(a_state_has_slots_of_children)
{
    struct rp_jobs jobs;
    struct rp_problem why;
    struct rp_replay_state *state;
    char *record = make_record();
    const char *path = unit_path(record, "state");

    REQUIRE(rp_jobs_read(record, &jobs, &why) == RP_OK);
    CHECK_OK(rp_state_create_for(path, &jobs, &why), why);
    REQUIRE(rp_state_map(path, 0, &state, &why) == RP_OK);
    CHECK(state->ranks == 8 && rp_state_children(state) == 6);
    CHECK(rp_state_find(state, "0.2.1") == 3 && rp_state_find(state, "0.3.0") == 8);
    CHECK(rp_state_job_size(state, "0.2") == 2 && rp_state_job_size(state, "0.2.1.1") == 3 &&
          rp_state_job_size(state, "0.1") == 0);
    state->rank[0].state = state->rank[1].state = RP_RANK_FINISHED;
    CHECK(rp_state_is_stuck(state, RP_CERTAIN_CALL)); /* nobody will spawn the rest */
    rp_state_set_job(state, "0.2", RP_RANK_ABSENT);
    CHECK(state->rank[3].state == RP_RANK_ABSENT && state->rank[4].state == RP_RANK_UNSPAWNED);
    CHECK(!rp_state_is_stuck(state, RP_CERTAIN_CALL));
    rp_state_unmap(state);
    rp_jobs_free(&jobs);
    free(record);
}
