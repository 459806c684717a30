/* SPDX-License-Identifier: MIT */
#include "engine/rank.h"

#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "entry/refuse.h"
#include "reprise.h"

struct rp_rank rp_rank;

enum rp_status rp_rank_open(uint64_t events, struct rp_problem *why)
{
    const struct rp_session *session = &rp_rank.session;
    enum rp_status status = rp_state_map(rp_rank.state_path, 0, &rp_rank.state, why);

    if (status != RP_OK)
        return status;
    uint32_t number = rp_state_find(rp_rank.state, session->name);
    if (number == rp_rank.state->ranks)
        return rp_fail(why, RP_USAGE, "%s is not the state of a replay that has a rank %s",
                       rp_rank.state_path, session->name);
    rp_rank.first = number - (uint32_t)session->rank;
    rp_rank.slot = &rp_rank.state->rank[number];
    rp_rank.slot->pid = (uint32_t)getpid();
    rp_rank.slot->total = events;
    rp_rank.slot->state = RP_RANK_RUNNING;
    atomic_fetch_add(&rp_rank.state->awake, 1);
    rp_rank.cores = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
    return RP_OK;
}

bool rp_rank_may_report(void)
{
    return atomic_exchange(&rp_rank.state->reported, 1) == 0;
}

void rp_rank_wait_to_be_ended(void)
{
    sleep(10);
    _exit(REPRISE_EXIT_DIVERGED);
}

void rp_rank_give_up(uint32_t state, int exit_status)
{
    if (rp_rank.slot)
        rp_rank.slot->state = state;
    rp_end_job(exit_status);
}

static void report_ranks(const char *what)
{
    struct rp_buffer text = {0};

    rp_buffer_printf(&text, "%s:\n", what);
    rp_state_print(rp_rank.state, &text);
    rp_buffer_byte(&text, 0);
    if (!text.failed)
        rp_note("%s", (char *)text.bytes);
    rp_buffer_free(&text);
}

void rp_rank_report_stall(void)
{
    if (!rp_rank_may_report())
        return;
    report_ranks("the replay has been waiting for long; the ranks are here");
    rp_rank.state->reported = 0;
}

void rp_rank_stop_stalled(const char *what)
{
    if (!rp_rank_may_report())
        rp_rank_wait_to_be_ended();
    report_ranks(what);
    rp_rank_give_up(RP_RANK_FAILED, REPRISE_EXIT_DIVERGED);
}

int64_t rp_rank_milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
