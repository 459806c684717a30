/* SPDX-License-Identifier: MIT */
/* Where a replay by clocks waits, for messages or others, and how it follows the rows of its
 * record. */
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "cdc/replay/cdc_replay_calls.h"
#include "cdc/replay/cdc_replay_state.h"
#include "engine/end_of_record.h"
#include "engine/standstill.h"
#include "cdc/model/cdc_lower_bound.h"
#include "preload/constants.h"
#include "preload/family.h"
#include "preload/yield.h"
#include "reprise.h"

#define U64(x) ((unsigned long long)(x))

static struct {
    unsigned polls;
    int64_t since, next_report; /* milliseconds */
    bool is_idle;               /* not counted as awake */
    bool is_published;
} resting;

/* Ending */

void rp_cdc_replay_diverge(const struct rp_call *call, const char *what)
{
    struct rp_buffer text = {0};

    if (!rp_rank_may_report()) {
        rp_rank.slot->state = RP_RANK_DIVERGED;
        rp_rank_wait_to_be_ended();
    }
    rp_buffer_printf(&text, "the replay left the record after row %llu: %s\n",
                     U64(rp_cdc_replay_rows_done()), what);
    rp_cdc_replay_rows_describe(call, &text);
    rp_buffer_byte(&text, 0);
    if (!text.failed)
        rp_error("%s", (char *)text.bytes);
    rp_rank_give_up(RP_RANK_DIVERGED, REPRISE_EXIT_DIVERGED);
}

void rp_cdc_replay_refuse(const char *what)
{
    rp_error("%s cannot be replayed by clocks", what);
    rp_rank_give_up(RP_RANK_FAILED, REPRISE_EXIT_UNSUPPORTED);
}

/* Waiting */

void rp_cdc_replay_stuck(void)
{
    rp_rank_stop_stalled("all ranks wait for messages that do not come; they are here");
}

void rp_cdc_replay_hangs_at_end(const char *function)
{
    struct rp_log_end end = rp_log_end(rp_cdc_replay.log);

    rp_end_of_record_hangs(&end, function);
}

static void wait_long(const char *function, const char *what)
{
    int64_t waited = rp_rank_milliseconds() - resting.since;

    if (!resting.is_published && waited > 50) {
        rp_state_set_text(&rp_rank.slot->what, "%s for %s", function, what);
        rp_rank.slot->since = resting.since / 1000;
        rp_rank.slot->certain =
            rp_cdc_replay.certain > RP_CERTAIN_CALL ? rp_cdc_replay.certain : RP_CERTAIN_CALL;
        rp_standstill_moved();
        rp_rank.slot->state = RP_RANK_WAITING;
        resting.is_published = true;
    }
    if (rp_standstill_is_found())
        rp_cdc_replay_stuck();
    if (rp_rank.stall > 0 && waited > resting.next_report) {
        resting.next_report = waited * 2;
        rp_rank_report_stall();
    }
}

/* The wait is no longer short. */
static void begin_to_rest(void)
{
    resting.since = rp_rank_milliseconds();
    resting.next_report = rp_rank.stall * 1000;
    resting.is_idle = true;
    atomic_fetch_sub_explicit(&rp_rank.state->awake, 1, memory_order_relaxed);
    rp_cdc_replay_begin();
    rp_cdc_replay_set_clock(reprise_piggyback_clock()); /* a collective call may have moved it on */
    rp_cdc_replay_end();
}

/* One round of a wait that found nothing to do. It spins, then yields; but a yield only helps
 * ranks on the same core: while as many ranks compute as there are cores, it sleeps. */
void rp_cdc_replay_rest(const char *function, const char *what)
{
    enum { SPINS = 20, YIELDS = 40, MOST_YIELDS = 2000, SLEEP_US = 100 };

    rp_pool_poll();
    if (++resting.polls < SPINS)
        return;
    if (resting.polls == SPINS)
        begin_to_rest();
    bool is_crowded =
        atomic_load_explicit(&rp_rank.state->awake, memory_order_relaxed) >= rp_rank.cores;
    if (resting.polls < YIELDS || (resting.polls < MOST_YIELDS && !is_crowded)) {
        sched_yield();
        return;
    }
    usleep(SLEEP_US);
    if (resting.polls >= MOST_YIELDS)
        wait_long(function, what);
}

void rp_cdc_replay_rested(void)
{
    resting.polls = 0;
    rp_cdc_replay.certain = RP_CERTAIN_NOT;
    if (resting.is_idle)
        atomic_fetch_add_explicit(&rp_rank.state->awake, 1, memory_order_relaxed);
    resting.is_idle = false;
    if (resting.is_published)
        rp_rank.slot->state = RP_RANK_RUNNING;
    resting.is_published = false;
}

static void rest_in_send(void)
{
    rp_cdc_replay_rest("a send", "its receiver");
}

/* Nobody takes in messages inside MPI's own wait, so all meet here first. */
static void enter_collective(MPI_Comm comm)
{
    MPI_Request request;
    int done = 0;

    rp_cdc_replay_begin();
    rp_cdc_replay_set_clock(reprise_piggyback_clock());
    rp_cdc_replay_end();
    rp_pool_enter(comm);
    reprise_piggyback_pause(1);
    int rc = rp_pmpi.Ibarrier(comm, &request);
    rp_cdc_replay.certain = RP_CERTAIN_MESSAGE; /* only another rank can end it */
    while (rc == MPI_SUCCESS &&
           (rc = rp_pmpi.Test(&request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !done) {
        reprise_piggyback_pause(-1);
        rp_cdc_replay_rest("a collective call", "others");
        reprise_piggyback_pause(1);
    }
    reprise_piggyback_pause(-1);
    rp_cdc_replay_rested();
    rp_cdc_replay_leave();
}

/* Where not all ranks of a communicator meet, or there is none yet. Open MPI does it by messages
 * that a probe of the program's own would see, and so would ours. */
static void enter_unseen(int enters)
{
    if (rp_is_openmpi())
        rp_cdc_replay_refuse(
            "MPI_Comm_create_group, MPI_Intercomm_create or MPI_Intercomm_merge with Open MPI");
    rp_cdc_replay_begin();
    rp_cdc_replay_set_clock(reprise_piggyback_clock());
    rp_cdc_replay_set_unseen(enters ? rp_rank_milliseconds() : 0);
    rp_cdc_replay_end();
}

const struct rp_piggyback_hooks rp_cdc_replay_hooks = {rp_pool_sending,      rest_in_send,
                                                       rp_cdc_replay_rested, enter_collective,
                                                       enter_unseen,         rp_pool_made};

/* Rows */

/* Notes that say nothing to the call, but belong to it. */
static bool is_note(const struct rp_answer *answer)
{
    uint32_t kind = answer->kind == RP_ROW_OTHER ? answer->other.kind : 0;

    return kind == RP_MATCH || kind == RP_FREED || kind == RP_UNSENT || kind == RP_RECV;
}

void rp_cdc_replay_stop_sending(void)
{
    atomic_fetch_sub(&rp_rank.state->awake, 1);
    rp_cdc_replay_begin();
    rp_cdc_replay_set_clock(RP_NEVER);
    rp_cdc_replay_end();
}

static void at_end_of_record(const struct rp_call *call);

struct rp_answer rp_cdc_replay_next(const struct rp_call *call)
{
    for (;;) {
        struct rp_answer answer = rp_cdc_replay_rows_next(call);
        if (answer.kind == 0)
            at_end_of_record(call);
        if (!is_note(&answer))
            return answer;
        rp_cdc_replay_rows_pass(call, -1);
    }
}

/* Progress in events, of which there are at least as many as rows: all of them when all rows were
 * replayed. */
static void publish_done(void)
{
    uint64_t done = rp_cdc_replay_rows_done(), total = rp_cdc_replay_rows_total();

    atomic_store_explicit(&rp_rank.slot->done, done < total ? done : rp_rank.slot->total,
                          memory_order_relaxed);
}

void rp_cdc_replay_pass(const struct rp_call *call, int32_t rank)
{
    rp_cdc_replay_rows_pass(call, rank);
    publish_done();
}

/* A poll that answers no needs no message; but who sends to a program that only polls must be able
 * to go on. */
void rp_cdc_replay_pass_no(const struct rp_call *call)
{
    enum { NOS = 16 };
    static unsigned nos;

    rp_cdc_replay_pass(call, -1);
    if (++nos % NOS == 0)
        rp_pool_poll();
    rp_needs_no_yield = true;
}

/* The Lamport clock moves as the record did: only so is the replay correct (theorem 2). */
struct rp_pooled *rp_cdc_replay_hand_out(const struct rp_call *call, const struct rp_answer *answer,
                                         int32_t *index)
{
    struct rp_pooled *message;
    char what[96];

    rp_cdc_replay_begin();
    rp_cdc_replay_set_clock(reprise_piggyback_clock());
    rp_pool_want(answer);
    rp_cdc_replay_set_waits(true);
    rp_cdc_replay_end();
    if (answer->is_named)
        snprintf(what, sizeof what, "the message of rank %d with clock %llu", answer->rank,
                 U64(answer->clock));
    else
        snprintf(what, sizeof what, "the message that is number %u by its clock", answer->position);
    rp_cdc_replay.certain = RP_CERTAIN_MESSAGE;
    rp_pool_poll();
    while (!(message = answer->is_named ? rp_pool_find(answer->rank, answer->clock)
                                        : rp_pool_at(answer->position)))
        rp_cdc_replay_rest(call->function, what);
    rp_cdc_replay_rested();
    if (!answer->is_named && rp_pool_fault())
        rp_cdc_replay_diverge(call, rp_pool_fault());
    *index = rp_cdc_replay_rows_index(answer, message->sender);
    rp_pool_remove(message);
    reprise_piggyback_received(message->clock);
    rp_cdc_replay_begin();
    rp_cdc_replay_set_clock(reprise_piggyback_clock());
    rp_cdc_replay_set_waits(false);
    rp_cdc_replay_end();
    rp_cdc_replay_pass(call, message->sender);
    return message;
}

/* Nothing more was recorded of this rank: it waits, taking in messages, until the others are at
 * their ends, too. */
static void at_end_of_record(const struct rp_call *call)
{
    struct rp_log_end end = rp_log_end(rp_cdc_replay.log);

    if (end.reason == RP_END_FINALIZE)
        rp_cdc_replay_diverge(call, "more calls than were recorded");
    atomic_store(&rp_rank.slot->done, rp_rank.slot->total);
    rp_cdc_replay_stop_sending();
    rp_end_of_record_say(&end, rp_rank.slot->total, call->function);
    rp_rank.slot->state = RP_RANK_PARKED;
    rp_end_of_record_wait(rp_pool_poll);
    if (!rp_rank_may_report())
        sleep(10);
    rp_end_of_record_stop();
}
