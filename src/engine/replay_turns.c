/* SPDX-License-Identifier: MIT */
/*
 * The events of all threads stand in one order, and TURN says which thread has the next ones. Sends
 * and posts have no events; TURN says how many of them precede it. So a thread that wants to send,
 * to post or to learn an outcome waits until the front is its own. Polls that said no are not
 * ordered: they are kept by thread. How often a thread polls may depend on what others do; a poll
 * too many is answered no, and one too few is not missed.
 */
#include "engine/replay_turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "engine/rank.h"
#include "engine/replay_cursor.h"
#include "engine/replay_divergence.h"
#include "engine/replay_end.h"
#include "engine/replay_patience.h"
#include "entry/thread_state.h"
#include "entry/threads.h"
#include "reprise.h"

/* Polls of one thread that are to be answered no. */
struct poll_balance {
    const char *function;
    int32_t thread;
    uint32_t scope;
    uint64_t left;
};

static struct {
    int32_t thread;       /* whose turn it is */
    uint64_t taken;       /* turns that it has taken */
    struct rp_event turn; /* that made it this thread's turn */
    bool is_fresh;        /* nothing was done since */
    uint64_t *identities; /* of the threads from number 1 on, as the record introduces them */
    int32_t identity_count;
    struct poll_balance *balances;
    size_t balance_count, balance_room;
} turns;

static const struct rp_event answered_no = {.kind = RP_NO};
static __thread struct poll_balance *chosen; /* valid until the lock is freed; NULL: one too many */

static void *more_room(void *list, size_t bytes)
{
    void *more = realloc(list, bytes);

    if (!more)
        rp_bug(__FILE__, __LINE__, "out of memory for threads");
    return more;
}

/* Polls */

static void add_balance(const struct rp_event *event)
{
    const char *function = rp_cursor_function(event);

    for (size_t i = 0; i < turns.balance_count; i++) {
        struct poll_balance *b = &turns.balances[i];
        if (b->left == 0 || (b->thread == event->no.thread && b->scope == event->scope &&
                             strcmp(b->function, function) == 0)) {
            *b = (struct poll_balance){function, event->no.thread, event->scope,
                                       b->left + event->no.times};
            return;
        }
    }
    if (turns.balance_count == turns.balance_room) {
        turns.balance_room = turns.balance_room * 2 + 16;
        turns.balances = more_room(turns.balances, turns.balance_room * sizeof *turns.balances);
    }
    turns.balances[turns.balance_count++] =
        (struct poll_balance){function, event->no.thread, event->scope, event->no.times};
}

static struct poll_balance *find_balance(const struct rp_call *call, uint32_t scope)
{
    for (size_t i = 0; i < turns.balance_count; i++) {
        struct poll_balance *b = &turns.balances[i];
        if (b->left > 0 && b->thread == rp_thread_state.number && b->scope == scope &&
            strcmp(b->function, call->function) == 0)
            return b;
    }
    return NULL;
}

/* The polls that the record has before the event were made, or will not be. */
void rp_turns_took_event(void)
{
    turns.is_fresh = false;
    for (size_t i = 0; i < turns.balance_count; i++)
        if (turns.balances[i].thread == rp_thread_state.number)
            turns.balances[i].left = 0;
}

bool rp_turns_take_no(void)
{
    if (chosen)
        chosen->left--;
    return chosen;
}

/* Whose turn it is */

static void introduce(const struct rp_event *event)
{
    if (event->thread.number != turns.identity_count + 1) {
        rp_error("%s: thread %d is introduced out of order", rp_cursor_log_name(),
                 event->thread.number);
        rp_rank_give_up(RP_RANK_FAILED, REPRISE_EXIT_DAMAGED);
    }
    turns.identities =
        more_room(turns.identities, (size_t)event->thread.number * sizeof *turns.identities);
    turns.identities[turns.identity_count++] = event->thread.identity;
}

static bool is_used_up(const struct rp_event *turn)
{
    return turn->posts == (uint32_t)rp_cursor_posts() && turn->turn.turns == turns.taken;
}

static void begin_turn(const struct rp_event *event)
{
    turns.thread = event->turn.thread;
    turns.taken = 0;
    turns.turn = *event;
    rp_cursor_use_event(event);
}

/* Passes over what needs no call: polls are noted, a turn that was used up goes to the next
 * thread. */
static void settle(void)
{
    for (const struct rp_event *event = rp_cursor_front(); event; event = rp_cursor_front()) {
        bool is_turn = event->kind == RP_TURN;
        if (event->kind == RP_NO || event->kind == RP_THREAD) {
            event->kind == RP_NO ? add_balance(event) : introduce(event);
            rp_cursor_use(event);
        } else if (event->kind == RP_FREED) {
            rp_cursor_use_note(event);
        } else if (is_turn && is_used_up(event)) {
            begin_turn(event);
        } else {
            return;
        }
        turns.is_fresh = is_turn;
    }
}

/* Whether the turn is the calling thread's. */
static bool is_own_turn(void)
{
    for (int32_t i = 0; rp_thread_state.number < 0 && i < turns.identity_count; i++)
        if (turns.identities[i] == rp_thread_state.identity)
            rp_thread_state.number = i + 1;
    return turns.thread == rp_thread_state.number;
}

bool rp_turns_is_own(void)
{
    settle();
    return is_own_turn();
}

bool rp_turns_are_over(void)
{
    settle();
    return !rp_cursor_front();
}

/* Turns */

static bool may_take_turn(bool is_post)
{
    settle();
    const struct rp_event *event = rp_cursor_front();
    bool is_own = is_own_turn();

    if (!event)
        return is_own || !rp_cursor_ends_in_finalize();
    if (!is_own || event->kind != RP_TURN)
        return is_own;
    return is_post
               ? (int32_t)(event->posts - (uint32_t)rp_cursor_posts()) > 0
               : turns.taken < event->turn.turns; /* FREED may count posts that are not made yet */
}

/* The first turn of a thread is by the call that the record has: else how often the threads took
 * locks depends on more than their order. */
static void check_turn(const struct rp_call *call)
{
    const char *what = "a thread of this rank took its turn by another call (do threads read, "
                       "without a lock, what others write?)";

    if (!rp_divergence_same_place(call, turns.turn.site))
        rp_diverge(call, &turns.turn, NULL, what);
}

static bool is_left_to_itself(void)
{
    return rp_replay_end.is_free || rp_replay_end.is_finished;
}

/* Of mutexes nothing is said: a thread may wait for work all its life. */
void rp_turns_await(const struct rp_call *call, int is_post)
{
    struct rp_patience patience = {0};
    unsigned tries = 0;
    bool is_said = strncmp(call->function, "MPI_", 4) == 0;

    while (!is_left_to_itself() && !may_take_turn(is_post))
        if (is_said)
            rp_patience_poll(&patience, call, "its turn among the threads of this rank");
        else
            rp_threads_give_way(&tries);
    rp_patience_end(&patience);
    if (!is_left_to_itself() && turns.is_fresh)
        check_turn(call);
    turns.is_fresh = false;
}

void rp_turns_take(void)
{
    turns.taken++;
}

/* Events */

/* The next event of the calling thread, as far as it is loaded; NULL: none. Nothing is moved:
 * another thread may look at the front. */
static const struct rp_event *own_next(void)
{
    bool is_own = is_own_turn();
    const struct rp_event *event;

    for (size_t i = 0; (event = rp_cursor_loaded(i)) != NULL; i++) {
        if (event->kind == RP_TURN)
            is_own = event->turn.thread == rp_thread_state.number;
        else if (is_own && event->kind != RP_NO && event->kind != RP_THREAD &&
                 event->kind != RP_FREED)
            return event;
    }
    return NULL;
}

/* A poll that the record does not have is answered no: the thread's next event is none of this
 * function. */
static const struct rp_event *answer_poll(const struct rp_call *call, uint32_t scope)
{
    const struct rp_event *event = rp_cursor_front();

    chosen = find_balance(call, scope);
    if (chosen)
        return &answered_no;
    if (!event && !rp_cursor_ends_in_finalize())
        return NULL; /* the record ends here */
    event = event ? own_next() : NULL;
    return event && rp_divergence_same_function(call, event->site) ? NULL : &answered_no;
}

const struct rp_event *rp_turns_await_event(const struct rp_call *call, uint32_t scope, bool polls)
{
    struct rp_patience patience = {0};
    const struct rp_event *event;

    for (;;) {
        settle();
        event = polls ? answer_poll(call, scope) : NULL;
        if (event || rp_replay_is_free())
            break;
        event = rp_cursor_front();
        bool is_own = is_own_turn();
        if (!event || (is_own && event->kind != RP_TURN))
            break;
        if (is_own && !polls)
            rp_diverge(call, event, NULL,
                       "sends or receives that the record has were not made by this thread");
        rp_patience_poll(&patience, call, "its turn among the threads of this rank");
    }
    rp_patience_end(&patience);
    return event;
}
