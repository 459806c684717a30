/* SPDX-License-Identifier: MIT */
/*
 * Every event that the program makes in a replay is held against the recorded one: kind, MPI
 * function and place, number of receives posted since the event before, communicator or number of
 * requests, and outcome. The first difference ends all ranks.
 */
#include "engine/replay_follow.h"

#include "engine/gdb_hooks.h"
#include "engine/replay_cursor.h"
#include "engine/replay_divergence.h"
#include "engine/replay_end.h"
#include "engine/replay_polls.h"
#include "engine/replay_turns.h"
#include "entry/thread_state.h"
#include "entry/threads.h"

static const struct rp_event *expect_no(const struct rp_call *call, uint32_t scope, uint32_t kinds)
{
    const struct rp_event *event = RP_KIND(RP_NO) & kinds ? rp_polls_find(call, scope) : NULL;

    if (!event)
        rp_diverge(call, rp_polls_first_open(), NULL,
                   "polls that the record has were not made, or others were");
    return event;
}

const struct rp_event *rp_follow_expect(const struct rp_call *call, uint32_t scope, uint32_t kinds)
{
    if (rp_replay_is_free())
        return NULL;
    reprise_return_address = call->return_address;
    if (rp_threads_on) {
        const struct rp_event *answer = rp_turns_await_event(call, scope, RP_KIND(RP_NO) & kinds);
        if (answer && answer->kind == RP_NO)
            return answer;
        if (rp_replay_is_free() || rp_replay_end.is_finished)
            return NULL;
    }
    const struct rp_event *event = rp_cursor_whole_front();
    if (!event) {
        rp_replay_end_of_record(call);
        return NULL;
    }
    if (event->kind == RP_NO)
        return expect_no(call, scope, kinds);
    const char *what = rp_divergence_find(call, event, scope);
    if (!what && !(RP_KIND(event->kind) & kinds))
        what = "another kind of event";
    if (what)
        rp_diverge(call, event, NULL, what);
    return event;
}

bool rp_follow_is_next(const struct rp_call *call, uint32_t kind)
{
    bool is_own = !rp_threads_on || rp_turns_is_own();
    const struct rp_event *event = rp_replay_is_free() ? NULL : rp_cursor_front();

    return event && event->kind == kind && is_own &&
           event->yes.waitalls == rp_thread_state.waitalls &&
           rp_divergence_same_function(call, event->site);
}

static void take(const struct rp_event *event)
{
    rp_cursor_take(event);
    if (rp_threads_on)
        rp_turns_took_event();
}

bool rp_follow_take_no(void)
{
    if (rp_threads_on)
        return rp_turns_take_no();
    rp_polls_take();
    return true;
}

void rp_follow_take(void)
{
    take(rp_cursor_front());
}

void rp_follow_observe(const struct rp_call *call, uint32_t kind, uint32_t scope, int32_t a,
                       int32_t b, uint64_t c)
{
    if (rp_replay_is_free())
        return;
    reprise_return_address = call->return_address;
    if (rp_threads_on)
        rp_turns_await_event(call, scope, false);
    const struct rp_event *event = rp_cursor_front();
    struct rp_event seen = RP_EVENT(kind, 0, (uint32_t)rp_cursor_posts(), scope, a, b, c);
    if (!event)
        return; /* the record was cut off inside this call */
    const char *what = rp_divergence_find(call, event, scope);
    if (!what &&
        (event->kind != kind || event->any.a != a || event->any.b != b || event->any.c != c))
        what = "another outcome";
    if (what)
        rp_diverge(call, event, &seen, what);
    take(event);
}

void rp_follow_diverge(const struct rp_call *call, const char *what)
{
    rp_diverge(call, rp_cursor_front(), NULL, what);
}
