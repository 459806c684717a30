/* SPDX-License-Identifier: MIT */
/*
 * A rank that waits publishes for what, and looks for what has changed: its inbox, and what others
 * publish. It goes on running (its version is odd) only to read its inbox or to go on, so that
 * others who look at it twice find it unchanged.
 *
 * A rank that waits inside MPI cannot look: the last rank to stop or end does so for all.
 *
 * A deadlock is not found by time: if the send bound of a rank that waits is `never`, no message
 * can reach it any more. That is a deadlock of the program's own, since ours resolve themselves: of
 * all ranks that wait, the one with the earliest message always may take it.
 */
#include "det/det_wait.h"

#include <sched.h>
#include <unistd.h>

#include "det/det_copies.h"
#include "det/det_deadlock.h"
#include "det/det_mismatch.h"
#include "det/det_status.h"
#include "match/send_bounds.h"
#include "reprise.h"

enum { PATIENCE = 50, PATIENCE_US = 100000 };

static const struct rp_det_wait *waiting;

static void end_by_deadlock(void)
{
    rp_det_publish_wait(waiting);
    /* Another thread may be about to call MPI: then that is what is reported. */
    for (int i = 0; i < PATIENCE && rp_det.may_have_threads && !rp_shared_is_reported(); i++)
        usleep(PATIENCE_US);
    if (!rp_shared_may_report()) {
        sleep(10); /* the rank that speaks ends the job */
        _exit(REPRISE_EXIT_DEADLOCK);
    }
    rp_det_report_deadlock();
    rp_det_end_job(REPRISE_EXIT_DEADLOCK);
}

/* Who speaks for all may know of a deadlock that we cannot see any more. */
static void check_deadlock(void)
{
    if (rp_shared_is_reported())
        rp_det_publish_wait(waiting);
    if (rp_shared_is_blocked() && rp_shared_bounds(NULL)[rp_shared.rank] == RP_SEND_NEVER &&
        !rp_shared_has_inbox())
        end_by_deadlock();
}

static bool has_stopped(uint32_t rank)
{
    return rp_shared_clock_of(rank) == RP_SEND_NEVER ||
           atomic_load(&rp_shared.all[rank].version) % 2 == 0;
}

/* From the next rank on: so that not all look at the same one. */
static bool others_have_stopped(void)
{
    uint32_t i = 1;

    rp_shared_see_jobs();
    while (i < rp_shared.ranks && has_stopped((rp_shared.rank + i) % rp_shared.ranks))
        i++;
    return i == rp_shared.ranks;
}

void rp_det_look_for_deadlock(void)
{
    if (rp_shared.host_of || !others_have_stopped())
        return;
    const uint64_t *bounds = rp_shared_bounds(NULL);
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (bounds[i] == RP_SEND_NEVER && rp_shared_clock_of(i) != RP_SEND_NEVER)
            end_by_deadlock();
}

/* The launcher may not know yet. */
static void check_connection(void)
{
    if (rp_shared_is_cut_off())
        _exit(REPRISE_EXIT_INTERNAL);
}

/* A rank that is at a collective and has no receive under way waits for other ranks to arrive.
 * Their states matter only for finding a deadlock. */
static bool needs_only_others(void)
{
    return waiting->kind == RP_WAIT_COLLECTIVE && !waiting->runs && !waiting->requests &&
           !rp_det_has_receives();
}

static void show_wait(void)
{
    struct rp_buffer text = {0};

    if (!rp_det_status_wants_wait() || !waiting || waiting->runs)
        return;
    rp_det_put_wait(&text, waiting);
    rp_buffer_byte(&text, 0);
    rp_det_status_waits(waiting->what, text.failed ? "" : (char *)text.bytes);
    rp_buffer_free(&text);
}

/* One round of a wait that found nothing to do. To sleep earlier, as a replay does, was slower:
 * most waits are short, and clocks do not ring. */
static void back_off(unsigned round, bool *listens)
{
    enum { SPINS = 4, YIELDS = 2000, PROGRESS = 4, CHECK = 256, SLEEP_US = 100 };

    if (round < SPINS)
        return;
    if (round == (needs_only_others() ? YIELDS : SPINS))
        rp_shared_request_updates();
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
        show_wait();
        rp_shared_listen();
        *listens = true;
    } else {
        sched_yield();
    }
}

static bool is_worth_trying(bool (*ready)(void *data, bool only_whether), void *data)
{
    rp_det_forget_bounds();
    return rp_shared_has_inbox() || ready(data, true) || rp_det_would_resolve();
}

static void wait_for_news(bool (*ready)(void *data, bool only_whether), void *data)
{
    bool listens = false;

    for (unsigned round = 0; !is_worth_trying(ready, data); round++)
        back_off(round, &listens);
    if (listens)
        rp_shared_stop_listening();
    rp_det_status_goes_on();
}

static void publish_plan(void)
{
    struct rp_shared_plan plan;

    if (rp_det_plan(&plan))
        rp_shared_block(&plan, waiting->what);
    else
        atomic_store(&rp_shared.own->is_idle, 1);
}

static void go_on(void)
{
    if (waiting->runs)
        atomic_store(&rp_shared.own->is_idle, 0);
    else
        rp_shared_unblock();
}

void rp_det_wait(bool (*ready)(void *data, bool only_whether), void *data,
                 const struct rp_det_wait *wait)
{
    rp_det_forget_bounds();
    waiting = wait;
    rp_det_set_waiting(wait);
    while (!ready(data, false)) {
        rp_det_read_inbox();
        if (ready(data, false))
            break;
        rp_det_resolve();
        if (ready(data, false))
            break;
        publish_plan();
        wait_for_news(ready, data);
        rp_shared_stop_updates();
        go_on();
    }
    waiting = NULL;
    rp_det_set_waiting(NULL);
    rp_det_forget_bounds();
}
