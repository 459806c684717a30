/* SPDX-License-Identifier: MIT */
/*
 * A rank that comes to the end of its record (a crash, a kill) parks: it swallows messages, so that
 * no sender hangs on it, until every other rank is at its end too, or can no longer move. On
 * request it is handed over to a debugger there, or runs on freely.
 */
#include "engine/replay_end.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "engine/end_of_record.h"
#include "engine/rank.h"
#include "engine/replay_cursor.h"
#include "engine/replay_divergence.h"
#include "entry/threads.h"
#include "interpose/debugger.h"

struct rp_replay_end rp_replay_end;

static struct {
    enum rp_at_end at_end;
    bool is_released; /* receives whose match is unknown were posted as asked */
    void (*release)(void);
    void (*sink)(void);
} end;

void rp_replay_end_open(enum rp_at_end at_end, void (*release)(void), void (*sink)(void))
{
    end.at_end = at_end;
    end.release = release;
    end.sink = sink;
}

/* Waiting for the others */

static void take_in(void)
{
    rp_threads_enter();
    end.sink();
    rp_threads_leave();
}

static void wait_for_others(bool takes_in)
{
    rp_end_of_record_wait(takes_in ? take_in : NULL);
}

/* The program is about to end the job, or its rank, as it did in the record. */
static void leave_it_to_end(bool takes_in)
{
    wait_for_others(takes_in);
    rp_end_of_record_say_verdict();
}

__attribute__((noreturn)) static void park(void)
{
    atomic_fetch_sub(&rp_rank.state->awake, 1);
    rp_rank.slot->state = RP_RANK_PARKED;
    rp_threads_leave(); /* for good: other threads may still reach their own ends */
    wait_for_others(true);
    if (!rp_rank_may_report())
        rp_rank_wait_to_be_ended();
    rp_end_of_record_stop();
}

static void hand_over_to_gdb(const char *where, void (*sink)(void))
{
    struct timespec pause = {0, 20000000};

    rp_threads_leave();
    rp_note("process %d waits at %s: 'gdb -p %d' takes over", (int)getpid(), where, (int)getpid());
    rp_rank.slot->state = RP_RANK_PARKED;
    while (!rp_debugger_is_here()) {
        if (sink)
            sink();
        nanosleep(&pause, NULL);
    }
    rp_threads_enter();
}

/* The end of the record */

/* A thread may still be at work when another finalises MPI. */
static void wait_for_finalize(void)
{
    int64_t since = rp_rank_milliseconds(), limit = (rp_rank.stall > 0 ? rp_rank.stall : 30) * 1000;

    for (unsigned tries = 0; !rp_replay_end.is_finished && !rp_replay_end.is_free &&
                             rp_rank_milliseconds() - since < limit;)
        rp_threads_give_way(&tries);
}

void rp_replay_end_of_record(const struct rp_call *call)
{
    struct rp_log_end record = rp_cursor_end();

    if (rp_replay_end.is_free)
        return;
    if (rp_threads_on && record.reason == RP_END_FINALIZE) {
        wait_for_finalize();
        if (rp_replay_end.is_finished || rp_replay_end.is_free)
            return;
    }
    const struct rp_event *left = rp_cursor_whole_front();
    if (left)
        rp_diverge(call, left, NULL, "a wait that never ended in the record");
    if (record.reason == RP_END_FINALIZE)
        rp_diverge(call, NULL, NULL, "more events than were recorded");
    rp_end_of_record_say(&record, rp_cursor_position(), call->function);
    if (end.at_end == RP_AT_END_STOP)
        park();
    if (end.at_end == RP_AT_END_GDB) {
        hand_over_to_gdb("the end of its record", end.sink);
        raise(SIGTRAP);
    }
    rp_replay_end.is_free = true;
    rp_rank.slot->state = RP_RANK_FREE;
    end.release();
}

void rp_replay_release_unknown(void)
{
    if (end.is_released || rp_cursor_front() || rp_cursor_ends_in_finalize())
        return;
    end.is_released = true;
    end.release();
}

void rp_replay_hangs_at_end(const char *function)
{
    struct rp_log_end record = rp_cursor_end();

    rp_end_of_record_hangs(&record, function);
}

/* Other ends */

void rp_replay_leave(void)
{
    if (end.at_end == RP_AT_END_GDB) {
        hand_over_to_gdb("its own end", end.sink);
        raise(SIGTRAP);
    }
    leave_it_to_end(true);
}

/* If the record has more, it is no record of this: what the refusal said is all. */
void rp_replay_refused(const char *function)
{
    if (rp_replay_end.is_free || rp_cursor_front())
        return;
    rp_state_set_text(&rp_rank.slot->what, "%s", function);
    atomic_store(&rp_rank.state->refused, (uint32_t)(rp_rank.slot - rp_rank.state->rank) + 1);
    atomic_fetch_sub(&rp_rank.state->awake, 1);
    rp_rank.slot->state = RP_RANK_ENDED;
    leave_it_to_end(true);
}

void rp_replay_wait_before_crash(bool is_crash)
{
    if (end.at_end == RP_AT_END_GDB) {
        hand_over_to_gdb(is_crash ? "its crash" : "its own end", NULL);
        if (!is_crash)
            raise(SIGTRAP);
    }
    atomic_fetch_sub(&rp_rank.state->awake, 1);
    if (!rp_replay_end.is_free && !rp_replay_end.is_finished && rp_cursor_ends_in_finalize()) {
        rp_error("this rank %s before MPI_Finalize, which it called in the record: NOT identical",
                 is_crash ? "crashes" : "ends");
        rp_rank.slot->state = RP_RANK_FAILED;
        return;
    }
    rp_rank.slot->state = RP_RANK_ENDED;
    leave_it_to_end(false);
}
