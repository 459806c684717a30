/* SPDX-License-Identifier: MIT */
#include "job/job_names.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

TEST(names_are_made_of_root_number_and_rank)
{
    char process[RP_PROCESS_NAME], job[RP_JOB_NAME];

    CHECK(strcmp(rp_process_name("", 3, process), "3") == 0);
    CHECK(rp_job_of_spawn(process, 2, job) && strcmp(job, "3.2") == 0);
    CHECK(strcmp(rp_process_name(job, 0, process), "3.2.0") == 0);
    CHECK(rp_job_of_spawn(process, 1, job) && strcmp(job, "3.2.0.1") == 0);
    CHECK(rp_job_is_name(job) && rp_job_is_name("0.1") && !rp_job_is_name("") &&
          !rp_job_is_name("0") && !rp_job_is_name("0.1.2") && !rp_job_is_name("0.1.") &&
          !rp_job_is_name("a.1") && !rp_job_is_name("..") && !rp_job_is_name("1234567890.1"));
}

TEST(names_do_not_grow_for_ever)
{
    char process[RP_PROCESS_NAME] = "0", job[RP_JOB_NAME];
    int depth = 0;

    while (rp_job_of_spawn(process, 1, job) && ++depth < 1000)
        rp_process_name(job, 0, process);
    CHECK(depth > 10 && depth < 100);
}

TEST(names_are_in_the_order_of_their_numbers)
{
    CHECK(rp_job_compare("0.2", "0.10") < 0 && rp_job_compare("0.10", "0.2") > 0);
    CHECK(rp_job_compare("0.1", "0.1.0.1") < 0 && rp_job_compare("0.1.0.1", "0.2") < 0);
    CHECK(rp_job_compare("1.1", "1.1") == 0);
}

TEST(a_job_of_the_environment_is_checked)
{
    setenv("REPRISE_JOB", "0.1", 1);
    CHECK(strcmp(rp_job_own(), "0.1") == 0);
    setenv("REPRISE_JOB", "../..", 1);
    CHECK(strcmp(rp_job_own(), "") == 0);
    unsetenv("REPRISE_JOB");
    CHECK(strcmp(rp_job_own(), "") == 0);
}

TEST(ranks_and_children_have_words)
{
    char text[RP_RANKS_WORDS];

    CHECK(strcmp(rp_ranks_words(4, 0, text), "4 ranks") == 0);
    CHECK(strcmp(rp_ranks_words(4, 1, text), "4 ranks and 1 child") == 0);
    CHECK(strcmp(rp_ranks_words(4, 2, text), "4 ranks and 2 children") == 0);
}
