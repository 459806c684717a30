/* SPDX-License-Identifier: MIT */
/*
 * Every event that the program makes in a replay is held against the recorded one: kind, MPI
 * function and place, number of receives posted since the event before, communicator or number of
 * requests, and outcome. The first difference ends all ranks.
 *
 * A rank that comes to the end of its record (a crash, a kill) parks: it swallows messages, so that
 * no sender hangs on it, until every other rank is at its end too, or can no longer move.
 */
#include "engine/crash_replay.h"
#include "engine/end_of_record.h"
#include "engine/replay_follow.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "engine/wakeup.h"
#include "engine/standstill.h"
#include "engine/gdb_hooks.h"
#include "event/describe.h"
#include "event/naming.h"
#include "event/site.h"
#include "log/logreader.h"
#include "interpose/capture.h"
#include "preload/constants.h"
#include "interpose/debugger.h"
#include "entry/life.h"
#include "entry/thread_state.h"
#include "entry/threads.h"
#include "reprise.h"

/* A group of NO events: each is used up in the program's own order, so they are all at the front
 * together. */
struct poll_run {
    const char *function; /* ours once it was found the same, else the record's */
    struct rp_event event;
    uint64_t left;
};

struct poll_group {
    uint32_t count; /* 0: the front is no such group, or it has not been looked at */
    uint32_t open;  /* runs with polls left */
    uint32_t chosen;
    struct poll_run run[RP_OPEN_RUNS];
};

/* With threads: polls of one thread that are to be answered no. */
struct poll_balance {
    const char *function;
    int32_t thread;
    uint32_t scope;
    uint64_t left;
};

static struct {
    struct rp_log *log;
    struct rp_matcher *matcher;
    struct rp_site_table sites; /* of this run */
    uint32_t *same; /* by site of this run: the recorded site last found the same, + 1 */
    size_t same_room;
    struct rp_call last_call; /* that was found at the place of this recorded site */
    uint32_t last_site;
    uint64_t last_posts;
    struct poll_group polls; /* the NO events at the front */
    int32_t thread;          /* whose turn it is */
    uint64_t turns;          /* that it has taken */
    struct rp_event turn;    /* that made it this thread's turn */
    bool turn_is_fresh;      /* nothing was done since */
    uint64_t *identities;    /* of the threads from number 1 on, as the record introduces them */
    int32_t identity_count;
    struct poll_balance *balances;
    size_t balance_count, balance_room;
    bool finished;
    uint64_t digest;
    int32_t cores;
    bool free;
    bool released; /* receives whose match is unknown were posted as asked */
    struct rp_follow_options options;
    struct rp_session session;
    struct rp_replay_state *state;
    struct rp_rank_slot *slot;
    char *state_path;
    void (*release)(void);
    void (*sink)(void);
} follow;

#define U64(x) ((unsigned long long)(x))

enum { SPINS = 20, YIELDS = 10, SLEEP_US = 100, LONG_SLEEP_US = 500 };

static int64_t milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Ending */

__attribute__((noreturn)) static void give_up(uint32_t state, int exit_status)
{
    if (follow.slot)
        follow.slot->state = state;
    rp_end_job(exit_status);
}

static void log_failed(const struct rp_problem *why)
{
    rp_error("%s", why->text);
    give_up(RP_RANK_FAILED, REPRISE_EXIT_DAMAGED);
}

/* The first rank that reports speaks for all; the others wait to be ended by it. */
static bool may_report(void)
{
    return atomic_exchange(&follow.state->reported, 1) == 0;
}

__attribute__((noreturn)) static void wait_for_the_end(void)
{
    sleep(10);
    _exit(REPRISE_EXIT_DIVERGED);
}

/* Divergence */

static uint32_t site_of(const struct rp_call *call)
{
    return rp_site_find(&follow.sites, call->function, call->return_address, call->stack);
}

static void describe(const struct rp_event *event, struct rp_buffer *out)
{
    rp_event_put_words(event, out);
    rp_buffer_printf(out, ", %u receives posted since the event before\n", event->posts);
}

static void say_divergence(const struct rp_call *call, const struct rp_event *recorded,
                           const struct rp_event *seen, const char *what)
{
    struct rp_naming *naming = rp_naming_open(follow.session.wrappers);
    struct rp_buffer text = {0};
    uint32_t site = site_of(call);

    rp_naming_learn(naming, rp_log_site_table(follow.log));
    rp_naming_learn(naming, &follow.sites);

    rp_buffer_printf(&text, "the replay left the record at event %llu of %llu: %s\n  recorded: ",
                     U64(rp_matcher_position(follow.matcher)), U64(follow.slot->total), what);
    if (recorded) {
        describe(recorded, &text);
        rp_naming_print_site(naming, rp_log_site_table(follow.log), recorded->site, "    ", &text);
    } else {
        rp_buffer_printf(&text, "MPI_Finalize\n");
    }
    if (seen) {
        rp_buffer_printf(&text, "  seen: ");
        describe(seen, &text);
    } else {
        rp_buffer_printf(&text, "  seen: %s, %llu receives posted since the event before\n",
                         call->function, U64(rp_state.posts - follow.last_posts));
    }
    rp_naming_print_site(naming, &follow.sites, site, "    ", &text);
    rp_naming_close(naming);
    if (rp_threads_are_left())
        rp_buffer_printf(&text, "  this rank has threads whose order was not recorded: does its "
                                "path depend on them? 'reprise record --threads' records it\n");
    rp_buffer_byte(&text, 0);
    if (!text.failed)
        rp_error("%s", (char *)text.bytes);
    rp_buffer_free(&text);
}

__attribute__((noreturn)) static void diverge(const struct rp_call *call,
                                              const struct rp_event *recorded,
                                              const struct rp_event *seen, const char *what)
{
    if (!may_report()) {
        follow.slot->state = RP_RANK_DIVERGED;
        wait_for_the_end();
    }
    say_divergence(call, recorded, seen, what);
    give_up(RP_RANK_DIVERGED, REPRISE_EXIT_DIVERGED);
}

/* Whether the call comes from where the recorded one came from. */
static bool same_place(const struct rp_call *call, uint32_t recorded)
{
    uint32_t here = site_of(call);

    if (here < follow.same_room && follow.same[here] == recorded + 1)
        return true;
    if (!rp_site_same(&follow.sites, here, rp_log_site_table(follow.log), recorded))
        return false;
    if (here >= follow.same_room) {
        size_t room = (here + 1u) * 2;
        uint32_t *same = realloc(follow.same, room * sizeof *same);
        if (!same)
            return true;
        memset(same + follow.same_room, 0, (room - follow.same_room) * sizeof *same);
        follow.same = same;
        follow.same_room = room;
    }
    follow.same[here] = recorded + 1;
    return true;
}

static bool same_function(const struct rp_call *call, uint32_t recorded)
{
    const struct rp_site_table *sites = rp_log_site_table(follow.log);

    return recorded < sites->site_count &&
           strcmp(sites->sites[recorded].function, call->function) == 0;
}

static const char *difference_of_place(const struct rp_call *call, uint32_t recorded)
{
    const struct rp_call *last = &follow.last_call;

    if (recorded == follow.last_site && call->function == last->function &&
        call->return_address == last->return_address && call->stack == last->stack)
        return NULL;
    if (!same_function(call, recorded))
        return "another MPI function";
    if (follow.options.check_places && !same_place(call, recorded))
        return "another place in the program";
    follow.last_call = *call;
    follow.last_site = recorded;
    return NULL;
}

static const char *difference(const struct rp_call *call, const struct rp_event *event,
                              uint32_t scope)
{
    const char *what = difference_of_place(call, event->site);

    if (what)
        return what;
    if (event->posts != (uint32_t)(rp_state.posts - follow.last_posts))
        return "another number of receives posted before";
    if (event->scope != scope && event->kind != RP_ERROR)
        return "another communicator or number of requests";
    return NULL;
}

/* The front of the record */

static const struct rp_event *front(void)
{
    const struct rp_event *event;
    struct rp_problem why;

    if (rp_matcher_peek(follow.matcher, &event, &why) != RP_OK)
        log_failed(&why);
    return event;
}

static void tell_place(void)
{
    const struct rp_event *next = rp_matcher_look(follow.matcher, 0);

    rp_gdb_hook_place(rp_matcher_position(follow.matcher), next,
                      next ? rp_log_site_table(follow.log)->sites[next->site].function : NULL);
}

static void count_event(const struct rp_event *event)
{
    follow.turn_is_fresh = false;
    follow.digest = rp_digest(follow.digest, event);
    rp_matcher_take(follow.matcher);
    atomic_store_explicit(&follow.slot->done, rp_matcher_position(follow.matcher),
                          memory_order_relaxed);
    tell_place();
    reprise_event();
}

/* What was found out about receives between two calls has no call of its own: it is passed over,
 * but for the posts that it counts. So are the clocks of messages. */
static void pass_over(void)
{
    for (const struct rp_event *event = front();
         event && (event->kind == RP_FREED || event->kind == RP_CLOCK); event = front()) {
        follow.last_posts += event->posts;
        count_event(event);
    }
}

static void drop_balances(void);

static void take_front(const struct rp_event *event)
{
    follow.last_posts = rp_state.posts;
    count_event(event);
    pass_over();
    if (rp_threads_on)
        drop_balances();
}

/* Polls */

static void load_polls(void)
{
    struct poll_group *polls = &follow.polls;
    uint32_t count = (uint32_t)front()->no.group_left + 1;

    for (uint32_t i = 0; i < count; i++) {
        const struct rp_event *event = rp_follow_ahead(i);
        if (!event || event->kind != RP_NO)
            break; /* cut off */
        polls->run[i] =
            (struct poll_run){rp_log_site_table(follow.log)->sites[event->site].function, *event,
                              event->no.times};
        polls->count = polls->open = i + 1;
    }
}

static bool is_same_poll(struct poll_run *run, const struct rp_call *call, uint32_t scope)
{
    if (run->event.scope != scope || run->left == 0)
        return false;
    if (run->function != call->function) {
        if (strcmp(run->function, call->function) != 0)
            return false;
        run->function = call->function;
    }
    return true;
}

/* The run of this poll in the group at the front; NULL: it has none, or none left. */
static struct poll_run *find_poll(const struct rp_call *call, uint32_t scope)
{
    struct poll_group *polls = &follow.polls;

    if (polls->count == 0)
        load_polls();
    for (uint32_t i = 0; i < polls->count; i++) {
        polls->chosen = (polls->chosen + 1) % polls->count;
        if (is_same_poll(&polls->run[polls->chosen], call, scope))
            return &polls->run[polls->chosen];
    }
    return NULL;
}

/* One that the program still has to ask, for a report. */
static const struct rp_event *first_open_poll(void)
{
    for (uint32_t i = 0; i < follow.polls.count; i++)
        if (follow.polls.run[i].left > 0)
            return &follow.polls.run[i].event;
    return front();
}

static void take_polls(void)
{
    uint32_t count = follow.polls.count;

    follow.polls.count = 0;
    for (uint32_t i = 0; i < count; i++)
        count_event(front());
    pass_over();
}

/* The front, if all events of its call are there. Looking ahead may move it. */
static const struct rp_event *whole_front(void)
{
    const struct rp_event *event = front();

    if (event && event->kind == RP_YES && event->yes.count > 1 &&
        !rp_follow_ahead((size_t)event->yes.count - 1))
        return NULL;
    return event ? front() : NULL;
}

/*
 * Threads. The events of all threads stand in one order, and TURN says whose are the next ones.
 * Sends and posts have no events; how many of them come before a TURN is said by it. So a thread
 * that wants to send, to post or to learn an outcome waits until the front is its own. Polls that
 * said no are not ordered: they are kept by thread. How often a thread polls may depend on what
 * others do; a poll too many is answered no, and one too few is not missed.
 */

static void *more_room(void *list, size_t bytes)
{
    void *more = realloc(list, bytes);

    if (!more)
        rp_bug(__FILE__, __LINE__, "out of memory for threads");
    return more;
}

static void add_balance(const struct rp_event *event)
{
    const char *function = rp_log_site_table(follow.log)->sites[event->site].function;

    for (size_t i = 0; i < follow.balance_count; i++) {
        struct poll_balance *b = &follow.balances[i];
        if (b->left == 0 || (b->thread == event->no.thread && b->scope == event->scope &&
                             strcmp(b->function, function) == 0)) {
            *b = (struct poll_balance){function, event->no.thread, event->scope,
                                       b->left + event->no.times};
            return;
        }
    }
    if (follow.balance_count == follow.balance_room) {
        follow.balance_room = follow.balance_room * 2 + 16;
        follow.balances = more_room(follow.balances, follow.balance_room * sizeof *follow.balances);
    }
    follow.balances[follow.balance_count++] =
        (struct poll_balance){function, event->no.thread, event->scope, event->no.times};
}

static struct poll_balance *find_balance(const struct rp_call *call, uint32_t scope)
{
    for (size_t i = 0; i < follow.balance_count; i++) {
        struct poll_balance *b = &follow.balances[i];
        if (b->left > 0 && b->thread == rp_thread_state.number && b->scope == scope &&
            strcmp(b->function, call->function) == 0)
            return b;
    }
    return NULL;
}

/* A thread has taken an event: the polls that the record has before it were made, or will not
 * be. */
static void drop_balances(void)
{
    for (size_t i = 0; i < follow.balance_count; i++)
        if (follow.balances[i].thread == rp_thread_state.number)
            follow.balances[i].left = 0;
}

static void introduce(const struct rp_event *event)
{
    if (event->thread.number != follow.identity_count + 1) {
        rp_error("%s: thread %d is introduced out of order", rp_log_name(follow.log),
                 event->thread.number);
        give_up(RP_RANK_FAILED, REPRISE_EXIT_DAMAGED);
    }
    follow.identities =
        more_room(follow.identities, (size_t)event->thread.number * sizeof *follow.identities);
    follow.identities[follow.identity_count++] = event->thread.identity;
}

static uint32_t posts_since(void)
{
    return (uint32_t)(rp_state.posts - follow.last_posts);
}

/* Passes over what needs no call: polls are noted, a turn that was used up goes to the next
 * thread. */
static void settle(void)
{
    for (const struct rp_event *event = front(); event; event = front()) {
        if (event->kind == RP_NO)
            add_balance(event);
        else if (event->kind == RP_THREAD)
            introduce(event);
        else if (event->kind == RP_FREED)
            follow.last_posts += event->posts;
        else if (event->kind != RP_TURN || event->posts != posts_since() ||
                 event->turn.turns != follow.turns)
            return;
        bool is_turn = event->kind == RP_TURN;
        if (is_turn) {
            follow.last_posts = rp_state.posts;
            follow.thread = event->turn.thread;
            follow.turns = 0;
            follow.turn = *event;
        }
        count_event(event);
        follow.turn_is_fresh = is_turn;
    }
}

/* Whether the turn is the calling thread's. */
static bool is_mine(void)
{
    for (int32_t i = 0; rp_thread_state.number < 0 && i < follow.identity_count; i++)
        if (follow.identities[i] == rp_thread_state.identity)
            rp_thread_state.number = i + 1;
    return follow.thread == rp_thread_state.number;
}

static bool may_take_turn(bool is_post)
{
    settle();
    const struct rp_event *event = front();
    bool mine = is_mine();

    if (!event)
        return mine || rp_log_end(follow.log).reason != RP_END_FINALIZE;
    if (!mine || event->kind != RP_TURN)
        return mine;
    return is_post ? (int32_t)(event->posts - posts_since()) > 0
                   : follow.turns <
                         event->turn.turns; /* FREED may count posts that are still to come */
}

/* The first turn of a thread is by the call that the record has: else how often the threads took
 * locks depends on more than their order. */
static void check_turn(const struct rp_call *call)
{
    const char *what = "a thread of this rank took its turn by another call (do threads read, "
                       "without a lock, what others write?)";

    if (!same_function(call, follow.turn.site) ||
        (follow.options.check_places && !same_place(call, follow.turn.site)))
        diverge(call, &follow.turn, NULL, what);
}

/* Of mutexes nothing is said: a thread may wait for work all its life. */
void rp_follow_await_turn(const struct rp_call *call, int is_post)
{
    struct rp_patience patience = {0};
    unsigned tries = 0;
    bool is_said = strncmp(call->function, "MPI_", 4) == 0;

    while (!follow.free && !follow.finished && !may_take_turn(is_post))
        if (is_said)
            rp_patience_poll(&patience, call, "its turn among the threads of this rank");
        else
            rp_threads_give_way(&tries);
    rp_patience_end(&patience);
    if (!follow.free && !follow.finished && follow.turn_is_fresh)
        check_turn(call);
    follow.turn_is_fresh = false;
}

bool rp_follow_is_over(void)
{
    settle();
    return !front();
}

void rp_follow_take_turn(void)
{
    follow.turns++;
}

static const struct rp_event answered_no = {.kind = RP_NO};
static __thread struct poll_balance *chosen; /* valid until the lock is freed; NULL: one too many */

/* The next event of the calling thread, as far as it is loaded; NULL: none. Nothing is moved:
 * another thread may look at the front. */
static const struct rp_event *own_next(void)
{
    bool mine = is_mine();
    const struct rp_event *event;

    for (size_t i = 0; (event = rp_matcher_look(follow.matcher, i)) != NULL; i++) {
        if (event->kind == RP_TURN)
            mine = event->turn.thread == rp_thread_state.number;
        else if (mine && event->kind != RP_NO && event->kind != RP_THREAD &&
                 event->kind != RP_FREED)
            return event;
    }
    return NULL;
}

/* A poll that the record does not have is answered no: the thread's next event is none of this
 * function. */
static const struct rp_event *answer_poll(const struct rp_call *call, uint32_t scope)
{
    const struct rp_event *event = front();

    chosen = find_balance(call, scope);
    if (chosen)
        return &answered_no;
    if (!event && rp_log_end(follow.log).reason != RP_END_FINALIZE)
        return NULL; /* the record ends here */
    event = event ? own_next() : NULL;
    return event && same_function(call, event->site) ? NULL : &answered_no;
}

/* The front, when it is an event of the calling thread; NULL at the end of the record, or an answer
 * for a poll. */
static const struct rp_event *await_front(const struct rp_call *call, uint32_t scope, bool polls)
{
    struct rp_patience patience = {0};
    const struct rp_event *event;

    for (;;) {
        settle();
        event = polls ? answer_poll(call, scope) : NULL;
        if (event || follow.free)
            break;
        event = front();
        bool mine = is_mine();
        if (!event || (mine && event->kind != RP_TURN))
            break;
        if (mine && !polls)
            diverge(call, event, NULL,
                    "sends or receives that the record has were not made by this thread");
        rp_patience_poll(&patience, call, "its turn among the threads of this rank");
    }
    rp_patience_end(&patience);
    return event;
}

const struct rp_event *rp_follow_expect(const struct rp_call *call, uint32_t scope, uint32_t kinds)
{
    if (follow.free)
        return NULL;
    reprise_return_address = call->return_address;
    if (rp_threads_on) {
        const struct rp_event *answer = await_front(call, scope, RP_KIND(RP_NO) & kinds);
        if (answer && answer->kind == RP_NO)
            return answer;
        if (follow.free || follow.finished)
            return NULL;
    }
    const struct rp_event *event = whole_front();
    if (!event) {
        rp_follow_end_of_record(call);
        return NULL;
    }
    if (event->kind == RP_NO) {
        struct poll_run *run = RP_KIND(RP_NO) & kinds ? find_poll(call, scope) : NULL;
        if (!run)
            diverge(call, first_open_poll(), NULL,
                    "polls that the record has were not made, or others were");
        return &run->event;
    }
    const char *what = difference(call, event, scope);
    if (!what && !(RP_KIND(event->kind) & kinds))
        what = "another kind of event";
    if (what)
        diverge(call, event, NULL, what);
    return event;
}

bool rp_follow_is_next(const struct rp_call *call, uint32_t kind)
{
    if (rp_threads_on)
        settle();
    const struct rp_event *event = follow.free ? NULL : front();

    return event && event->kind == kind && (!rp_threads_on || is_mine()) &&
           event->yes.waitalls == rp_thread_state.waitalls && same_function(call, event->site);
}

bool rp_follow_take_no(void)
{
    struct poll_group *polls = &follow.polls;

    if (rp_threads_on) {
        if (chosen)
            chosen->left--;
        return chosen;
    }
    if (--polls->run[polls->chosen].left == 0 && --polls->open == 0)
        take_polls();
    return true;
}

void rp_follow_take(void)
{
    take_front(front());
}

uint64_t rp_follow_position(void)
{
    return rp_matcher_position(follow.matcher);
}

const struct rp_event *rp_follow_ahead(size_t k)
{
    const struct rp_event *event;
    struct rp_problem why;

    if (rp_matcher_ahead(follow.matcher, k, &event, &why) != RP_OK)
        log_failed(&why);
    return event;
}

void rp_follow_diverge(const struct rp_call *call, const char *what)
{
    diverge(call, front(), NULL, what);
}

void rp_follow_observe(const struct rp_call *call, uint32_t kind, uint32_t scope, int32_t a,
                       int32_t b, uint64_t c)
{
    if (follow.free)
        return;
    reprise_return_address = call->return_address;
    if (rp_threads_on)
        await_front(call, scope, false);
    const struct rp_event *event = front();
    struct rp_event seen =
        RP_EVENT(kind, 0, (uint32_t)(rp_state.posts - follow.last_posts), scope, a, b, c);
    if (!event)
        return; /* the record was cut off inside this call */
    const char *what = difference(call, event, scope);
    if (!what &&
        (event->kind != kind || event->any.a != a || event->any.b != b || event->any.c != c))
        what = "another outcome";
    if (what)
        diverge(call, event, &seen, what);
    take_front(event);
}

bool rp_follow_match(uint64_t post, struct rp_match *out)
{
    return !follow.free && rp_matcher_find(follow.matcher, post, out);
}

bool rp_follow_is_free(void)
{
    return follow.free;
}

/* Waiting */

static void report_stall(bool stuck)
{
    struct rp_buffer text = {0};

    rp_buffer_printf(&text, "%s; the ranks are here:\n",
                     stuck ? "the replay cannot go on: no rank can move"
                           : "the replay has been waiting for long");
    rp_state_print(follow.state, &text);
    rp_buffer_byte(&text, 0);
    if (!text.failed)
        rp_note("%s", (char *)text.bytes);
    rp_buffer_free(&text);
}

/* Whether all ranks wait as they did when the recorded run was ended, with nothing left to replay.
 * A message that is under way at one look has come by a later one. */
static bool hangs_as_recorded(struct rp_patience *p, int64_t waited)
{
    enum { LOOK_MS = 250, MESSAGE_MS = 1500, RECEIVE_MS = 4000 };

    if (waited < p->next_look || rp_log_end(follow.log).reason == RP_END_FINALIZE)
        return false;
    p->next_look = waited + LOOK_MS;
    uint64_t moves = rp_state_moves(follow.state), before = p->moves;
    p->moves = moves;
    if (!rp_end_of_record_all_replayed(follow.state) ||
        !rp_state_is_stuck(follow.state, RP_CERTAIN_CALL) || moves != before) {
        p->hangs_since = 0;
        return false;
    }
    if (p->hangs_since == 0)
        p->hangs_since = waited;
    return waited - p->hangs_since >
           (rp_state_is_stuck(follow.state, RP_CERTAIN_MESSAGE) ? MESSAGE_MS : RECEIVE_MS);
}

static void stalled(struct rp_patience *p, int64_t waited)
{
    p->next_report = waited * 2;
    if (!may_report())
        return;
    report_stall(false);
    follow.state->reported = 0;
}

/* Also by the thread that looks for it. */
static void stuck(void)
{
    if (!may_report())
        wait_for_the_end();
    report_stall(true);
    give_up(RP_RANK_FAILED, REPRISE_EXIT_DIVERGED);
}

/* By that thread: no rank polls, and all are in calls that the recorded run did not come out of
 * either. */
static void hangs_at_end(const char *function)
{
    struct rp_log_end end = rp_log_end(follow.log);

    if (!may_report())
        wait_for_the_end();
    rp_end_of_record_say(&end, follow.slot->done, function);
    rp_end_of_record_stop(follow.state, follow.session.directory);
}

/*
 * A rank that was killed may have had receives under way that were matched, though nobody learnt by
 * what. Where it has nothing left to replay and waits, they are posted as the program asked, so
 * that their senders can go on.
 */
static void release_unknown(void)
{
    if (follow.released || front() || rp_log_end(follow.log).reason == RP_END_FINALIZE)
        return;
    follow.released = true;
    follow.release();
}

static void publish_wait(struct rp_patience *p, const struct rp_call *call, const char *what)
{
    rp_state_set_text(&follow.slot->what, "%s for %s", call->function, what);
    follow.slot->since = p->since / 1000;
    follow.slot->certain = rp_threads_on ? RP_CERTAIN_NOT : p->certain; /* other threads may move */
    rp_standstill_moved();
    follow.slot->state = RP_RANK_WAITING;
    p->published = true;
}

/* Before it is reported: to find the line takes time and memory. */
static void publish_place(struct rp_patience *p, const struct rp_call *call, const char *what)
{
    struct rp_naming *naming = rp_naming_open(follow.session.wrappers);
    struct rp_site_place place;
    struct rp_buffer text = {0};
    uint32_t site = site_of(call);

    rp_naming_learn(naming, rp_log_site_table(follow.log));
    rp_naming_learn(naming, &follow.sites);
    rp_naming_find(naming, &follow.sites, site, &place);
    rp_site_place_put_short(&text, &place);
    rp_buffer_byte(&text, 0);
    if (!text.failed && *text.bytes)
        rp_state_set_text(&follow.slot->what, "%s for %s (%s)", call->function, what,
                          (char *)text.bytes);
    rp_buffer_free(&text);
    rp_naming_close(naming);
    p->placed = true;
}

/* More ranks are awake than there are cores: to spin or to yield would take the core from who is to
 * send, since the scheduler shares it fairly. */
static bool is_crowded(void)
{
    return atomic_load_explicit(&follow.state->awake, memory_order_relaxed) > follow.cores;
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

/* Between listening and sleeping, the caller looks once more. What a receive waits for rings, but a
 * long message takes more than that to come. */
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

void rp_patience_poll(struct rp_patience *p, const struct rp_call *call, const char *what)
{
    enum { PUBLISH_MS = 50, RELEASE_MS = 1000 };

    if (++p->polls < SPINS && !rp_threads_on)
        return;
    if (p->polls < RP_PATIENCE_YIELDS) {
        give_way(p, false);
        return;
    }
    if (p->polls == RP_PATIENCE_YIELDS) {
        p->since = milliseconds();
        p->next_report = follow.options.stall * 1000;
    }
    give_way(p, true);
    int64_t waited = milliseconds() - p->since;
    if (!p->published && waited > PUBLISH_MS)
        publish_wait(p, call, what);
    if (follow.options.stall > 0 && !p->placed && waited > follow.options.stall * 800)
        publish_place(p, call, what);
    if (waited > RELEASE_MS)
        release_unknown();
    if (rp_standstill_is_found())
        stuck();
    if (hangs_as_recorded(p, waited))
        rp_follow_end_of_record(call);
    else if (follow.options.stall > 0 && waited > p->next_report && p->hangs_since == 0)
        stalled(p, waited);
}

void rp_patience_end(struct rp_patience *p)
{
    if (p->listens)
        rp_wakeup_stop_listening();
    if (p->published)
        follow.slot->state = follow.free ? RP_RANK_FREE : RP_RANK_RUNNING;
}

/* The end of the record */

static void take_in(void)
{
    rp_threads_enter();
    follow.sink();
    rp_threads_leave();
}

static void wait_for_others(void (*sink)(void))
{
    rp_end_of_record_wait(follow.state, follow.slot, follow.options.stall, sink ? take_in : NULL);
}

/* The program is about to end the job, or its rank, as it did in the record. */
static void leave_it_to_end(void (*sink)(void))
{
    wait_for_others(sink);
    rp_end_of_record_say_verdict(follow.state, follow.session.directory);
}

static void park(void)
{
    atomic_fetch_sub(&follow.state->awake, 1);
    follow.slot->state = RP_RANK_PARKED;
    rp_threads_leave(); /* for good: other threads may still come to their own ends */
    wait_for_others(follow.sink);
    if (!may_report())
        wait_for_the_end();
    rp_end_of_record_stop(follow.state, follow.session.directory);
}

static void hand_over_to_gdb(const char *where, void (*sink)(void))
{
    struct timespec pause = {0, 20000000};

    rp_threads_leave();
    rp_note("process %d waits at %s: 'gdb -p %d' takes over", (int)getpid(), where, (int)getpid());
    follow.slot->state = RP_RANK_PARKED;
    while (!rp_debugger_is_here()) {
        if (sink)
            sink();
        nanosleep(&pause, NULL);
    }
    rp_threads_enter();
}

void rp_follow_end_of_record(const struct rp_call *call)
{
    if (follow.free)
        return;
    struct rp_log_end end = rp_log_end(follow.log);
    if (rp_threads_on &&
        end.reason ==
            RP_END_FINALIZE) { /* a thread that is still at work when another finalises MPI */
        int64_t since = milliseconds(),
                limit = (follow.options.stall > 0 ? follow.options.stall : 30) * 1000;
        for (unsigned tries = 0;
             !follow.finished && !follow.free && milliseconds() - since < limit;)
            rp_threads_give_way(&tries);
        if (follow.finished || follow.free)
            return;
    }
    const struct rp_event *left = whole_front();
    if (left)
        diverge(call, left, NULL, "a wait that never ended in the record");
    if (end.reason == RP_END_FINALIZE)
        diverge(call, NULL, NULL, "more events than were recorded");
    rp_end_of_record_say(&end, rp_matcher_position(follow.matcher), call->function);
    if (follow.options.at_end == RP_AT_END_STOP)
        park();
    if (follow.options.at_end == RP_AT_END_GDB) {
        hand_over_to_gdb("the end of its record", follow.sink);
        raise(SIGTRAP);
    }
    follow.free = true;
    follow.slot->state = RP_RANK_FREE;
    follow.release();
}

static void check_everything_was_replayed(void)
{
    const struct rp_event *left = front();
    struct rp_call nowhere = {.function = "the end of the program"};

    if (left)
        diverge(&nowhere, left, NULL, "the program ended before the record did");
}

/* Other threads may have turns and events left that the record has before this end. */
static void let_threads_finish(void)
{
    enum { PATIENCE_MS = 10000 };
    uint64_t position = UINT64_MAX;
    int64_t since = 0;
    unsigned tries = 0;

    while (!follow.free && !rp_follow_is_over()) {
        if (position != rp_matcher_position(follow.matcher)) {
            position = rp_matcher_position(follow.matcher);
            since = milliseconds();
        }
        if (milliseconds() - since > PATIENCE_MS)
            return;
        rp_threads_give_way(&tries);
    }
}

void rp_follow_finish(bool finalized)
{
    struct rp_log_end end = rp_log_end(follow.log);
    uint64_t mine[3] = {0}, sum[3] = {0};

    if (rp_threads_on)
        let_threads_finish();
    follow.finished = true;
    if (!follow.free)
        check_everything_was_replayed();
    bool same = follow.free || end.reason == RP_END_KILLED || end.reason == RP_END_STOPPED ||
                follow.digest == end.digest;
    atomic_fetch_sub(&follow.state->awake, 1);
    follow.slot->state = finalized ? RP_RANK_FINISHED : RP_RANK_ENDED;
    if (!same)
        rp_error("the digest of the replayed events is %016llx, that of the record %016llx",
                 U64(follow.digest), U64(end.digest));
    if (!finalized) {
        if (follow.options.at_end == RP_AT_END_GDB) {
            hand_over_to_gdb("its own end", follow.sink);
            raise(SIGTRAP);
        }
        leave_it_to_end(follow.sink);
        return;
    }
    mine[0] = rp_matcher_position(follow.matcher);
    mine[1] = !same;
    mine[2] = follow.free;
    rp_session_sum(mine, sum, 3);
    if (!same)
        follow.slot->state = RP_RANK_DIVERGED;
    if (follow.session.rank == 0 && !rp_setting("REPRISE_PARENT")) {
        rp_diagnostics_rank(-1);
        rp_note("replayed %llu events on %d ranks: %s", U64(sum[0]), follow.session.ranks,
                sum[1]   ? "NOT identical"
                : sum[2] ? "identical up to the end of the record"
                         : "identical");
        if (sum[0] == 0)
            rp_note(RP_NOTHING_OPEN);
        if (rp_setting("REPRISE_SHUFFLE"))
            rp_note("of this shuffled replay, what was received from whom was compared, and not "
                    "what was sent, computed or printed");
        unlink(follow.state_path);
    }
}

/* If the record has more, it is no record of this: what the refusal said is all. */
void rp_follow_refused(const char *function)
{
    if (follow.free || front())
        return;
    rp_state_set_text(&follow.slot->what, "%s", function);
    atomic_store(&follow.state->refused, (uint32_t)follow.session.rank + 1);
    atomic_fetch_sub(&follow.state->awake, 1);
    follow.slot->state = RP_RANK_ENDED;
    wait_for_others(follow.sink);
    rp_end_of_record_say_verdict(follow.state, follow.session.directory);
}

static void wait_before_crash(bool is_crash)
{
    if (follow.options.at_end == RP_AT_END_GDB) {
        hand_over_to_gdb(is_crash ? "its crash" : "its own end", NULL);
        if (!is_crash)
            raise(SIGTRAP);
    }
    atomic_fetch_sub(&follow.state->awake, 1);
    follow.slot->state = RP_RANK_ENDED;
    leave_it_to_end(NULL);
}

/* The start */

static enum rp_status next_block(void *owner, struct rp_event *events, size_t *count,
                                 struct rp_problem *why)
{
    return rp_log_next_block(owner, events, count, why);
}

static enum rp_status open_matcher(struct rp_problem *why)
{
    struct rp_late *late = NULL;
    struct rp_match *matches = NULL;
    size_t count = 0;
    struct rp_block_source source = {next_block, follow.log, RP_CHUNK_EVENTS_LIMIT};
    enum rp_status status = rp_log_late(follow.log, &late, &count, why);

    if (status != RP_OK)
        return status;
    matches = malloc((count + 1) * sizeof *matches);
    for (size_t i = 0; matches && i < count; i++)
        matches[i] = (struct rp_match){late[i].post, late[i].kind, late[i].source, late[i].tag};
    status = matches ? rp_matcher_create(source, matches, count, &follow.matcher, why)
                     : rp_fail(why, RP_MEMORY, "out of memory");
    free(late);
    free(matches);
    return status;
}

/* What was captured before MPI_Init has been told by now. */
static enum rp_status pass_over_early(struct rp_problem *why)
{
    uint64_t passed = 0;

    for (const struct rp_event *event = front();
         event && event->kind == RP_VALUE && event->scope == 1; event = front()) {
        count_event(event);
        passed++;
    }
    if (passed == rp_capture_early_told())
        return RP_OK;
    return rp_fail(why, RP_DIVERGED,
                   "the program asked for %llu captured values before MPI_Init, recorded are %llu",
                   U64(rp_capture_early_told()), U64(passed));
}

enum rp_status rp_follow_open(const struct rp_session *session,
                              const struct rp_follow_options *options, const char *state_path,
                              void (*release)(void), void (*sink)(void), struct rp_problem *why)
{
    follow.session = *session;
    follow.options = *options;
    follow.release = release;
    follow.sink = sink;
    follow.digest = RP_DIGEST_START;
    follow.state_path = strdup(state_path);
    enum rp_status status = rp_log_open(session->directory, session->run, (uint32_t)session->rank,
                                        (uint32_t)session->ranks, &follow.log, why);
    if (status == RP_OK)
        status = open_matcher(why);
    if (status == RP_OK && !rp_site_table_init(&follow.sites))
        status = rp_fail(why, RP_MEMORY, "out of memory");
    follow.sites.wrappers = *follow.session.wrappers ? follow.session.wrappers : NULL;
    if (status == RP_OK)
        status = rp_state_map(state_path, (uint32_t)session->ranks, &follow.state, why);
    if (status != RP_OK)
        return status;
    follow.slot = &follow.state->rank[session->rank];
    follow.slot->pid = (uint32_t)getpid();
    follow.slot->total = rp_log_event_count(follow.log);
    rp_gdb_hook_begin(session->rank, follow.slot->total);
    follow.slot->state = RP_RANK_RUNNING;
    rp_wakeup_open(follow.state, session->rank);
    atomic_fetch_add(&follow.state->awake, 1);
    follow.cores = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
    status = pass_over_early(why);
    if (status != RP_OK)
        return status;
    pass_over();
    rp_crash_replay_handle(wait_before_crash);
    rp_standstill_open(&(struct rp_standstill){follow.state, follow.slot, options->stall,
                                               rp_log_end(follow.log).reason != RP_END_FINALIZE,
                                               options->at_end == RP_AT_END_STOP, stuck,
                                               hangs_at_end});
    return RP_OK;
}
