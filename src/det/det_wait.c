/* SPDX-License-Identifier: MIT */
/*
 * A rank that waits says so beside MPI, for what, and looks for what has changed: its inbox, and
 * what others say. It goes on running (its version is odd) only to read its inbox or to go on, so
 * that others who look at it twice find it unchanged.
 *
 * Who waits inside MPI cannot look: the last rank to stop or end does so for all.
 *
 * Nobody waits by time: if the bound of a rank that waits is `never`, nothing can come to it any
 * more. That is a deadlock of the program's own, since ours resolve themselves: of all ranks that
 * wait, the one with the earliest message always may take it.
 */
#include <sched.h>
#include <unistd.h>

#include "det/det.h"
#include "det/det_status.h"
#include "match/send_bounds.h"
#include "reprise.h"

static const struct rp_det_wait *waiting;

static void end_by_deadlock(void)
{
    rp_det_tell_wait(waiting);
    if (!rp_shared_may_report()) {
        sleep(10); /* the rank that speaks ends the job */
        _exit(REPRISE_EXIT_DEADLOCK);
    }
    rp_det_say_deadlock();
    rp_det_end_job(REPRISE_EXIT_DEADLOCK);
}

/* Who speaks for all may know of a deadlock that we cannot see any more. */
static void check_deadlock(void)
{
    if (rp_shared_is_reported())
        rp_det_tell_wait(waiting);
    if (rp_shared_is_blocked() && rp_shared_bounds(NULL)[rp_shared_side.rank] == RP_SEND_NEVER &&
        !rp_shared_has_mail())
        end_by_deadlock();
}

static bool has_stopped(uint32_t rank)
{
    return rp_shared_clock_of(rank) == RP_SEND_NEVER ||
           atomic_load(&rp_shared_side.all[rank].version) % 2 == 0;
}

/* From the next rank on: so that not all look at the same one. */
static bool others_have_stopped(void)
{
    uint32_t i = 1;

    while (i < rp_shared_side.ranks &&
           has_stopped((rp_shared_side.rank + i) % rp_shared_side.ranks))
        i++;
    return i == rp_shared_side.ranks;
}

void rp_det_last_look(void)
{
    if (rp_shared_side.host_of || !others_have_stopped())
        return;
    const uint64_t *bounds = rp_shared_bounds(NULL);
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        if (bounds[i] == RP_SEND_NEVER && rp_shared_clock_of(i) != RP_SEND_NEVER)
            end_by_deadlock();
}

/* The launcher may not know yet. */
static void check_connection(void)
{
    if (rp_shared_is_cut_off())
        _exit(REPRISE_EXIT_INTERNAL);
}

/* At a meeting without receives under way, others have to come, and how they are tells only of a
 * deadlock. */
static bool needs_only_others(void)
{
    return waiting->kind == RP_SHARED_MEETING && !waiting->runs && !waiting->requests &&
           !rp_det_has_receives();
}

/* One round of a wait that found nothing to do. To sleep earlier, as a replay does, was slower:
 * most waits are short, and clocks do not ring. */
static void rest(unsigned round, bool *listens)
{
    enum { SPINS = 4, YIELDS = 2000, PROGRESS = 4, CHECK = 256, SLEEP_US = 100 };

    if (round < SPINS)
        return;
    if (round == (needs_only_others() ? YIELDS : SPINS))
        rp_shared_hunger();
    if (round % PROGRESS == 0)
        rp_det_progress();
    if (round % CHECK == 0) {
        check_connection();
        rp_det_check_mismatch();
        check_deadlock();
    }
    if (*listens) {
        rp_shared_sleep(SLEEP_US);
        *listens = false;
    } else if (round >= YIELDS) {
        rp_det_status_waits(waiting);
        rp_shared_listen();
        *listens = true;
    } else {
        sched_yield();
    }
}

static bool is_worth_trying(bool (*ready)(void *data, bool only_whether), void *data)
{
    rp_det_forget_bounds();
    return rp_shared_has_mail() || ready(data, true) || rp_det_would_resolve();
}

static void rest_until_worth_trying(bool (*ready)(void *data, bool only_whether), void *data)
{
    bool listens = false;

    for (unsigned round = 0; !is_worth_trying(ready, data); round++)
        rest(round, &listens);
    if (listens)
        rp_shared_stop_listening();
    rp_det_status_goes_on();
}

/* What a probe waits for may be here already, but wanted by receives before it. */
static enum rp_shared_wait kind_of(const struct rp_det_wait *wait, uint64_t candidate)
{
    return wait->probe && (candidate != RP_SEND_NEVER || rp_det_has_delayed()) ? RP_SHARED_ANY
                                                                               : wait->kind;
}

bool rp_det_plan(struct rp_shared_plan *plan)
{
    const struct rp_det_wait *wait = waiting;

    if (!wait || wait->runs)
        return false;
    uint64_t candidate =
        wait->kind == RP_SHARED_ANY || wait->probe ? rp_det_candidate(wait->probe) : RP_SEND_NEVER;
    if (wait->candidate < candidate)
        candidate = wait->candidate;
    *plan =
        (struct rp_shared_plan){kind_of(wait, candidate), wait->target, candidate, wait->object};
    return true;
}

bool rp_det_awaits(const struct rp_det_receive *receive)
{
    return waiting && waiting->receive == receive;
}

static void stop(void)
{
    struct rp_shared_plan plan;

    if (rp_det_plan(&plan))
        rp_shared_block(&plan, waiting->what);
    else
        atomic_store(&rp_shared_side.own->is_idle, 1);
}

static void go_on(void)
{
    if (waiting->runs)
        atomic_store(&rp_shared_side.own->is_idle, 0);
    else
        rp_shared_unblock();
}

void rp_det_wait(bool (*ready)(void *data, bool only_whether), void *data,
                 const struct rp_det_wait *wait)
{
    rp_det_forget_bounds();
    waiting = wait;
    while (!ready(data, false)) {
        rp_det_read_mail();
        if (ready(data, false))
            break;
        rp_det_resolve();
        if (ready(data, false))
            break;
        stop();
        rest_until_worth_trying(ready, data);
        rp_shared_sate();
        go_on();
    }
    waiting = NULL;
    rp_det_forget_bounds();
}
