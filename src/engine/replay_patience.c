/* SPDX-License-Identifier: MIT */
/*
 * A wait polls a few times, then yields, then sleeps between its polls. Where more ranks are awake
 * than the host has cores it sleeps soon: to spin or to yield would take the core from the rank
 * that is to send, since the scheduler shares it fairly. Senders wake it (engine/wakeup.h).
 */
#include "engine/replay_patience.h"

#include <sched.h>
#include <unistd.h>

#include "engine/end_of_record.h"
#include "engine/rank.h"
#include "engine/replay_cursor.h"
#include "engine/replay_divergence.h"
#include "engine/replay_end.h"
#include "engine/standstill.h"
#include "engine/wakeup.h"
#include "entry/thread_state.h"
#include "entry/threads.h"

enum { SPINS = 20, YIELDS = 10, SLEEP_US = 100, LONG_SLEEP_US = 500 };

/* The end of a wait */

void rp_patience_stuck(void)
{
    rp_rank_stop_stalled("the replay cannot go on: no rank can move; the ranks are here");
}

/* Returns whether all ranks wait as they did when the recorded run was ended, with nothing left to
 * replay. A message that is under way at one look has arrived by a later one. */
static bool hangs_as_recorded(struct rp_patience *p, int64_t waited)
{
    enum { LOOK_MS = 250, MESSAGE_MS = 1500, RECEIVE_MS = 4000 };

    if (waited < p->next_look || rp_cursor_ends_in_finalize())
        return false;
    p->next_look = waited + LOOK_MS;
    uint64_t moves = rp_state_moves(rp_rank.state), before = p->moves;
    p->moves = moves;
    if (!rp_end_of_record_all_replayed() || !rp_state_is_stuck(rp_rank.state, RP_CERTAIN_CALL) ||
        moves != before) {
        p->hangs_since = 0;
        return false;
    }
    if (p->hangs_since == 0)
        p->hangs_since = waited;
    return waited - p->hangs_since >
           (rp_state_is_stuck(rp_rank.state, RP_CERTAIN_MESSAGE) ? MESSAGE_MS : RECEIVE_MS);
}

/* Saying what is waited for */

static void publish_wait(struct rp_patience *p, const struct rp_call *call, const char *what)
{
    rp_state_set_text(&rp_rank.slot->what, "%s for %s", call->function, what);
    rp_rank.slot->since = p->since / 1000;
    rp_rank.slot->certain =
        rp_threads_on ? RP_CERTAIN_NOT : p->certain; /* other threads may move */
    rp_standstill_moved();
    rp_rank.slot->state = RP_RANK_WAITING;
    p->is_published = true;
}

/* Before the wait is reported. */
static void publish_place(struct rp_patience *p, const struct rp_call *call, const char *what)
{
    struct rp_buffer text = {0};

    rp_divergence_put_place(call, &text);
    rp_buffer_byte(&text, 0);
    if (!text.failed && *text.bytes)
        rp_state_set_text(&rp_rank.slot->what, "%s for %s (%s)", call->function, what,
                          (char *)text.bytes);
    rp_buffer_free(&text);
    p->has_a_place = true;
}

/* Passing the time */

/* More ranks are awake than there are cores. */
static bool is_crowded(void)
{
    return atomic_load_explicit(&rp_rank.state->awake, memory_order_relaxed) > rp_rank.cores;
}

/* Other threads of this rank go on meanwhile. */
static void let_threads_run(bool sleeps)
{
    rp_threads_leave();
    if (sleeps) {
        rp_threads_rest();
        usleep(SLEEP_US);
    } else {
        sched_yield();
    }
    rp_threads_enter();
}

/* Between listening and sleeping, the caller looks once more. The message that a receive waits for
 * wakes it, but a long message takes longer to arrive. */
static void doze(struct rp_patience *p)
{
    p->listens = !p->listens;
    if (p->listens)
        rp_wakeup_listen();
    else
        rp_wakeup_sleep(p->certain <= RP_CERTAIN_CALL ? SLEEP_US : LONG_SLEEP_US);
}

static void give_way(struct rp_patience *p, bool sleeps)
{
    sleeps = sleeps || p->listens || (p->polls >= SPINS + YIELDS && is_crowded());
    if (rp_threads_on)
        let_threads_run(sleeps);
    else if (sleeps)
        doze(p);
    else
        sched_yield();
}

/* The wait is a long one: publishes it, and looks whether it can end at all. */
static void look_around(struct rp_patience *p, const struct rp_call *call, const char *what)
{
    enum { PUBLISH_MS = 50, RELEASE_MS = 1000 };
    int64_t waited = rp_rank_milliseconds() - p->since;

    if (!p->is_published && waited > PUBLISH_MS)
        publish_wait(p, call, what);
    if (rp_rank.stall > 0 && !p->has_a_place && waited > rp_rank.stall * 800)
        publish_place(p, call, what);
    if (waited > RELEASE_MS)
        rp_replay_release_unknown();
    if (rp_standstill_is_found())
        rp_patience_stuck();
    if (hangs_as_recorded(p, waited)) {
        rp_replay_end_of_record(call);
    } else if (rp_rank.stall > 0 && waited > p->next_report && p->hangs_since == 0) {
        p->next_report = waited * 2;
        rp_rank_report_stall();
    }
}

void rp_patience_poll(struct rp_patience *p, const struct rp_call *call, const char *what)
{
    if (++p->polls < SPINS && !rp_threads_on)
        return;
    if (p->polls < RP_PATIENCE_YIELDS) {
        give_way(p, false);
        return;
    }
    if (p->polls == RP_PATIENCE_YIELDS) {
        p->since = rp_rank_milliseconds();
        p->next_report = rp_rank.stall * 1000;
    }
    give_way(p, true);
    look_around(p, call, what);
}

void rp_patience_end(struct rp_patience *p)
{
    if (p->listens)
        rp_wakeup_stop_listening();
    if (p->is_published)
        rp_rank.slot->state = rp_replay_is_free() ? RP_RANK_FREE : RP_RANK_RUNNING;
}
