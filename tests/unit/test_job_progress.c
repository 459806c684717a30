/* SPDX-License-Identifier: MIT */
#include "job/job_progress.h"

#include "unit.h"

TEST(lines_are_shared)
{
    struct rp_process_progress *all = rp_job_progress_make(unit_directory, 3);

    REQUIRE(all != NULL);
    CHECK(rp_job_progress_make(unit_directory, 3) == NULL);
    for (size_t i = 0; i < 3; i++) {
        struct rp_process_progress *one = rp_job_progress_open(unit_directory, i);
        REQUIRE(one != NULL);
        CHECK_EQ(one->state, RP_PROCESS_UNSEEN);
        one->process = (int32_t)(100 + i);
        one->state = RP_PROCESS_ENTERS;
        CHECK_EQ(all[i].process, 100 + i);
        CHECK_EQ(all[i].state, RP_PROCESS_ENTERS);
    }
    CHECK(rp_job_progress_open(unit_directory, 3) == NULL);
}

static struct rp_process_progress *other(const char *name, char path[4200])
{
    snprintf(path, 4200, "%s/%s", unit_directory, name);
    return mkdir(path, 0700) == 0 ? rp_job_progress_make(path, 2) : NULL;
}

TEST(the_first_decides_on_the_gate)
{
    char path[4200];
    struct rp_process_progress *all = other("open", path);
    REQUIRE(all != NULL);
    struct rp_process_progress *second = rp_job_progress_open(path, 1);
    REQUIRE(second != NULL);
    CHECK(!rp_job_progress_gate_is_open(all, 0));
    CHECK(rp_job_progress_open_gate(second, 1));
    CHECK(rp_job_progress_gate_is_open(all, 0));
    CHECK(!rp_job_progress_close_gate(all, 0));
    CHECK(rp_job_progress_open_gate(all + 1, 1));

    all = other("closed", path);
    REQUIRE(all != NULL);
    second = rp_job_progress_open(path, 1);
    REQUIRE(second != NULL);
    CHECK(rp_job_progress_close_gate(all, 0));
    CHECK(rp_job_progress_close_gate(all, 0));
    CHECK(!rp_job_progress_open_gate(second, 1));
    CHECK(!rp_job_progress_gate_is_open(second, 1));
}
