/* SPDX-License-Identifier: MIT */
/*
 * A rank that waits in the engine says so. In a blocking call of MPI that the engine does not make
 * of polls (a send, a collective, MPI_Comm_dup, ...) it cannot: libreprise-blocking.so notes the
 * call, and this thread publishes it, if it finds the rank in the same call at two looks.
 *
 * A rank whose threads are followed waits if each of its threads does: in the engine, for a lock
 * that the engine has it take in turn, in a blocking call of MPI, or asleep in the system until
 * another thread wakes it (it is joined, or signalled), without having run since the look before.
 *
 * All threads look at all ranks. The replay stands still when each rank waits or has ended, and
 * none did anything from look to look. A call may be in the middle of a long transfer, and so may a
 * receive that has
 * begun: that gets half as much time again as --stall. Time is counted in looks, and a rank that
 * does not look (it is stopped, perhaps by a debugger) is not one that waits.
 */
#include "engine/standstill.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "peers/peer_blocking.h"
#include "engine/asleep.h"
#include "engine/end_of_record.h"
#include "engine/rank.h"
#include "preload/constants.h"
#include "entry/thread_state.h"
#include "entry/threads.h"
#include "reprise.h"

enum {
    LOOKS_A_SECOND = 4,
    MISSED = 5 * LOOKS_A_SECOND, /* looks: a rank that has made none meanwhile is stopped */
    AT_END = 4 * LOOKS_A_SECOND, /* after which a replay at the end of its record hangs */
    LEFT_TO_POLLS = 1 * LOOKS_A_SECOND,
    LEFT_TO_OTHERS = 10 * LOOKS_A_SECOND, /* after which a rank ends by itself, if another that gave
                                             up did not end the job */
};

/* What was last seen of a rank. */
struct seen {
    uint32_t beats;
    long missed; /* looks since */
};

static struct {
    struct rp_standstill options;
    const struct rp_blocked
        *blocked;   /* of the thread that initialised MPI; NULL: it is not noted */
    uint64_t calls; /* that it had made at the last look; 0: it was in none */
    const struct rp_blocked *in_threads; /* of one that is in a call now; NULL: none is */
    uint64_t thread_calls;               /* of all that are */
    _Atomic uint64_t waits;
    struct rp_thread owner;
    struct seen *seen;
    uint64_t moves; /* of all ranks, at the last look */
    long quiet;     /* looks since something moved */
    long given_up;  /* looks since some rank gave up */
    atomic_bool found;
} watch;

static const char *name_of(const struct rp_blocked *b)
{
    return b->comm == rp_constant.world  ? "MPI_COMM_WORLD"
           : b->comm == rp_constant.self ? "MPI_COMM_SELF"
                                         : "another communicator";
}

static void put_call(const struct rp_blocked *b, const char *function, struct rp_state_text *to)
{
    char peer[48] = "any rank", tag[32] = "any tag";

    if (b->peer != MPI_ANY_SOURCE)
        snprintf(peer, sizeof peer, "rank %d", b->peer);
    if (b->tag != MPI_ANY_TAG)
        snprintf(tag, sizeof tag, "tag %d", b->tag);
    if (b->peer_is != RP_PEER_NONE)
        rp_state_set_text(to, "%s %s %s with %s on %s", function,
                          b->peer_is == RP_PEER_TO ? "to" : "for a message from", peer, tag,
                          name_of(b));
    else if (b->has_comm)
        rp_state_set_text(to, "%s on %s", function, name_of(b));
    else
        rp_state_set_text(to, "%s", function);
}

static int64_t seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec;
}

/* With threads: those that are in a call, or asleep, as they were at the look before. `note` is of
 * this thread's own call. */
static bool does_thread_wait(const struct rp_thread *thread)
{
    const struct rp_blocked *b = thread->note;
    const char *function = b ? b->function : NULL;

    if (function) {
        watch.in_threads = b;
        watch.thread_calls += b->calls;
    }
    return function || thread->self->rested + 2 > rp_threads_look || rp_asleep_is(thread->process);
}

/* Whether no thread does anything; what they are in changes at no look. */
static bool do_threads_wait(void)
{
    uint64_t before = watch.thread_calls;

    watch.thread_calls = 0;
    watch.in_threads = NULL;
    atomic_fetch_add(&rp_threads_look, 1);
    return rp_threads_all_are(does_thread_wait) && watch.thread_calls == before;
}

static bool does_rank_wait(void)
{
    const struct rp_blocked *b = watch.blocked;
    uint64_t before = watch.calls;

    watch.in_threads = b && b->function ? b : NULL;
    watch.calls = watch.in_threads ? b->calls : 0;
    if (rp_threads_on)
        return do_threads_wait();
    return watch.in_threads && watch.calls == before;
}

static void publish_wait(struct rp_rank_slot *slot)
{
    const char *function = watch.in_threads ? watch.in_threads->function : NULL;

    if (function)
        put_call(watch.in_threads, function, &slot->call);
    else
        rp_state_set_text(&slot->call, "all its threads wait for each other");
    slot->call_since = seconds();
}

static void look_at_self(void)
{
    struct rp_rank_slot *slot = rp_rank.slot;
    const struct rp_blocked *b = watch.blocked;
    bool waits = does_rank_wait();

    if (waits && !slot->in_call)
        publish_wait(slot);
    slot->in_call = waits;
    slot->open_end = watch.options.is_open_end && slot->done == slot->total;
    slot->moves = (b ? b->calls : 0) + slot->done + watch.waits + watch.thread_calls;
    atomic_fetch_add(&slot->beats, 1);
}

/* Whether each rank that waits has looked of late. */
static bool all_look(void)
{
    bool all = true;

    for (uint32_t i = 0; i < rp_rank.state->ranks; i++) {
        struct seen *seen = &watch.seen[i];
        uint32_t beats = rp_rank.state->rank[i].beats;
        seen->missed = beats == seen->beats ? seen->missed + 1 : 0;
        seen->beats = beats;
        if (rp_state_now(&rp_rank.state->rank[i]) == RP_RANK_WAITING && seen->missed > MISSED)
            all = false;
    }
    return all;
}

static void count_quiet(void)
{
    uint64_t moves = rp_state_moves(rp_rank.state);
    bool still = all_look() && rp_state_is_stuck(rp_rank.state, RP_CERTAIN_CALL);

    watch.quiet = still && moves == watch.moves ? watch.quiet + 1 : 0;
    watch.moves = moves;
}

/* Nothing is left to replay, and each record ends as the replay stands now. */
static bool is_at_end(void)
{

    for (uint32_t i = 0; i < rp_rank.state->ranks; i++)
        if (rp_state_now(&rp_rank.state->rank[i]) == RP_RANK_WAITING &&
            !rp_rank.state->rank[i].open_end)
            return false;
    return rp_end_of_record_all_replayed();
}

/* A rank at the end of its record ends the job itself. */
static bool is_stuck(void)
{
    long patience = rp_rank.stall * LOOKS_A_SECOND;

    if (patience == 0 || rp_end_of_record_somebody_is(RP_RANK_PARKED))
        return false;
    return watch.quiet > (rp_state_is_stuck(rp_rank.state, RP_CERTAIN_MESSAGE)
                              ? patience
                              : patience + patience / 2);
}

static bool is_under_way(void)
{
    uint32_t now = rp_rank.slot->state;

    return now == RP_RANK_RUNNING || now == RP_RANK_WAITING || now == RP_RANK_PARKED ||
           now == RP_RANK_FREE;
}

static void look_at_all(void)
{
    static long found_since;
    bool given_up = rp_end_of_record_somebody_is(RP_RANK_FAILED) ||
                    rp_end_of_record_somebody_is(RP_RANK_DIVERGED);

    watch.given_up = given_up ? watch.given_up + 1 : 0;
    if (watch.given_up > LEFT_TO_OTHERS)
        _exit(REPRISE_EXIT_DIVERGED);
    count_quiet();
    if (is_at_end()) {
        if (watch.quiet > AT_END + LEFT_TO_POLLS && watch.options.stops_at_end &&
            rp_rank.slot->in_call)
            watch.options.at_end(watch.blocked->function);
        return;
    }
    watch.found = is_stuck();
    found_since = watch.found ? found_since + 1 : 0;
    if (found_since > LEFT_TO_POLLS)
        watch.options.stuck();
}

static void *look(void *unused)
{
    struct timespec pause = {0, 1000000000 / LOOKS_A_SECOND};

    (void)unused;
    while (is_under_way()) {
        look_at_self();
        look_at_all();
        nanosleep(&pause, NULL);
    }
    return NULL;
}

void rp_standstill_moved(void)
{
    atomic_fetch_add_explicit(&watch.waits, 1, memory_order_relaxed);
}

bool rp_standstill_is_found(void)
{
    return atomic_load_explicit(&watch.found, memory_order_relaxed);
}

static const void *note_of_thread(void)
{
    return reprise_blocking_self ? reprise_blocking_self() : NULL;
}

void rp_standstill_open(const struct rp_standstill *options)
{
    enum { STACK = 512 * 1024 };
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;

    watch.options = *options;
    watch.blocked = reprise_blocking_self ? reprise_blocking_self() : NULL;
    rp_threads_note = note_of_thread;
    rp_threads_enrol(&watch.owner);
    watch.seen = calloc(rp_rank.state->ranks, sizeof *watch.seen);
    if (!watch.seen)
        return;
    sigfillset(&all); /* signals are the application's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attributes, look, NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
