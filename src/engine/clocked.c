/* SPDX-License-Identifier: MIT */
/*
 * Replay by clocks (Clock Delta Compression, section 3.6 and 5), of records that hold rows. The record says of each call which message it gave to the program, by clock and sender, or by its place in the order of
 * clocks; not by which receive. So all messages are taken in by ourselves (clocked_pool.c), and given out as the rows say.
 *
 * A receive of the program is posted on a communicator of our own, where nothing comes but what we send ourselves: the payload of its message, when its turn has come. So requests are real ones: they are
 * persistent, cancelled, freed and completed by MPI itself, and only source and tag of a status are repaired. Waits poll, since nobody takes in messages meanwhile: those for sends and collective
 * calls too, by hooks of the envelope library.
 *
 * A message is given out when it is certain to be the one: then the clock moves on, and what the rank waits for, what it has, and its clock change together for the others (clocked_state.h).
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "base/settings.h"
#include "engine/clocked_pool.h"
#include "engine/crashes.h"
#include "engine/ending.h"
#include "engine/clocked_rows.h"
#include "engine/clocked_state.h"
#include "engine/outcome.h"
#include "engine/session.h"
#include "envelope/envelope.h"
#include "log/manifest.h"
#include "log/replaystate.h"
#include "log/rundir.h"
#include "match/bounds.h"
#include "mpi/comms.h"
#include "mpi/constants.h"
#include "mpi/engine.h"
#include "mpi/life.h"
#include "mpi/notes.h"
#include "mpi/self.h"
#include "mpi/yield.h"
#include "reprise.h"

/* A receive of the program, by its request. */
struct receipt {
    MPI_Comm comm;
    int source, tag; /* that it asked for */
    int own_tag;     /* by which we send to it */
    int given_source, given_tag;
    bool is_given;
    struct receipt *next, *previous; /* of those under way, in the order in which they were posted */
};

static struct {
    struct rp_session session;
    struct rp_replay_state *state;
    struct rp_rank_slot *slot;
    struct rp_log *log;
    char clocks_path[PATH_MAX], state_path[PATH_MAX];
    MPI_Comm own;
    int next_tag, largest_tag;
    long stall;
    struct receipt under_way; /* both ends of the list */
    unsigned polls;
    int64_t since, next_report;
    int32_t cores;
    enum rp_certainty certain; /* of what is waited for */
    uint64_t done_before;      /* by all ranks, at the last report of a wait */
    bool is_idle;              /* not counted as awake */
    bool is_published;
} clocked;

#define U64(x) ((unsigned long long)(x))

/* Ending */

static void give_up(uint32_t state, int exit_status) __attribute__((noreturn));
static void give_up(uint32_t state, int exit_status)
{
    clocked.slot->state = state;
    rp_end_job(exit_status);
}

static bool may_report(void)
{
    return atomic_exchange(&clocked.state->reported, 1) == 0;
}

static void diverge(const struct rp_call *call, const char *what) __attribute__((noreturn));
static void diverge(const struct rp_call *call, const char *what)
{
    struct rp_buffer text = {0};

    if (!may_report()) {
        clocked.slot->state = RP_RANK_DIVERGED;
        sleep(10);
        _exit(REPRISE_EXIT_DIVERGED);
    }
    rp_buffer_printf(&text, "the replay left the record after row %llu: %s\n", U64(rp_clocked_rows_done()), what);
    rp_clocked_rows_describe(call, &text);
    rp_buffer_byte(&text, 0);
    if (!text.failed)
        rp_error("%s", (char *)text.bytes);
    give_up(RP_RANK_DIVERGED, REPRISE_EXIT_DIVERGED);
}

static void refuse(const char *what) __attribute__((noreturn));
static void refuse(const char *what)
{
    rp_error("%s cannot be replayed by clocks", what);
    give_up(RP_RANK_FAILED, REPRISE_EXIT_UNSUPPORTED);
}

/* Waiting */

static int64_t milliseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void report_stall(bool stuck)
{
    struct rp_buffer text = {0};

    rp_buffer_printf(&text, stuck ? "all ranks wait for messages that do not come; they are here:\n" : "the replay has been waiting for long; the ranks are here:\n");
    rp_state_print(clocked.state, &text);
    rp_buffer_byte(&text, 0);
    if (!text.failed)
        rp_note("%s", (char *)text.bytes);
    rp_buffer_free(&text);
}

/* Whether all ranks wait, and did nothing since the last report. A rank at the end of its record ends the job itself. */
static bool is_stuck(void)
{
    uint64_t before = clocked.done_before, total;

    rp_state_sum(clocked.state, &clocked.done_before, &total);
    return clocked.done_before == before && rp_state_is_stuck(clocked.state, RP_CERTAIN_MESSAGE) && !rp_ending_somebody_is(clocked.state, RP_RANK_PARKED);
}

static void report_wait(void)
{
    bool stuck = is_stuck();

    if (!may_report())
        return;
    report_stall(stuck);
    if (stuck)
        give_up(RP_RANK_FAILED, REPRISE_EXIT_DIVERGED);
    clocked.state->reported = 0;
}

static void wait_long(const char *function, const char *what)
{
    int64_t waited = milliseconds() - clocked.since;

    if (!clocked.is_published && waited > 50) {
        snprintf(clocked.slot->what, sizeof clocked.slot->what, "%s for %s", function, what);
        clocked.slot->since = clocked.since / 1000;
        clocked.slot->certain = clocked.certain;
        clocked.slot->state = RP_RANK_WAITING;
        clocked.is_published = true;
    }
    if (clocked.stall > 0 && waited > clocked.next_report) {
        clocked.next_report = waited * 2;
        report_wait();
    }
}

/* The wait is no longer short. */
static void begin_to_rest(void)
{
    clocked.since = milliseconds();
    clocked.next_report = clocked.stall * 1000;
    clocked.is_idle = true;
    atomic_fetch_sub_explicit(&clocked.state->awake, 1, memory_order_relaxed);
    rp_clocked_begin();
    rp_clocked_set_clock(reprise_envelope_clock()); /* a collective call may have moved it on */
    rp_clocked_end();
}

/* One round of a wait that found nothing to do. It spins, then yields; but a yield only gives way to ranks on the same core: while as many ranks compute as there are cores, it sleeps. */
static void rest(const char *function, const char *what)
{
    enum { SPINS = 20, YIELDS = 40, MOST_YIELDS = 2000, SLEEP_US = 100 };

    rp_pool_poll();
    if (++clocked.polls < SPINS)
        return;
    if (clocked.polls == SPINS)
        begin_to_rest();
    bool is_crowded = atomic_load_explicit(&clocked.state->awake, memory_order_relaxed) >= clocked.cores;
    if (clocked.polls < YIELDS || (clocked.polls < MOST_YIELDS && !is_crowded)) {
        sched_yield();
        return;
    }
    usleep(SLEEP_US);
    if (clocked.polls >= MOST_YIELDS)
        wait_long(function, what);
}

static void rested(void)
{
    clocked.polls = 0;
    clocked.certain = RP_CERTAIN_NOT;
    if (clocked.is_idle)
        atomic_fetch_add_explicit(&clocked.state->awake, 1, memory_order_relaxed);
    clocked.is_idle = false;
    if (clocked.is_published)
        clocked.slot->state = RP_RANK_RUNNING;
    clocked.is_published = false;
}

static void rest_in_send(void)
{
    rest("a send", "its receiver");
}

/* Nobody takes in messages inside MPI's own wait, so all meet here first. */
static void enter_collective(MPI_Comm comm)
{
    MPI_Request request;
    int done = 0;

    rp_clocked_begin();
    rp_clocked_set_clock(reprise_envelope_clock());
    rp_clocked_end();
    rp_pool_enter(comm);
    reprise_envelope_pause(1);
    int rc = rp_pmpi.Ibarrier(comm, &request);
    clocked.certain = RP_CERTAIN_MESSAGE; /* only another rank can end it */
    while (rc == MPI_SUCCESS && (rc = rp_pmpi.Test(&request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !done) {
        reprise_envelope_pause(-1);
        rest("a collective call", "others");
        reprise_envelope_pause(1);
    }
    reprise_envelope_pause(-1);
    rested();
    rp_clocked_leave();
}

/* Where not all ranks of a communicator meet, or there is none yet. Open MPI does it by messages that a probe of the program's own would see, and so would ours. */
static void enter_unseen(int enters)
{
#ifdef OPEN_MPI
    refuse("MPI_Comm_create_group, MPI_Intercomm_create or MPI_Intercomm_merge with Open MPI");
#endif
    rp_clocked_begin();
    rp_clocked_set_clock(reprise_envelope_clock());
    rp_clocked_set_unseen(enters ? milliseconds() : 0);
    rp_clocked_end();
}

static const struct rp_envelope_hooks hooks = {rp_pool_sending, rest_in_send, rested, enter_collective, enter_unseen, rp_pool_made};

/* Rows */

/* Notes that say nothing to the call, but belong to it. */
static bool is_note(const struct rp_answer *answer)
{
    uint32_t kind = answer->kind == RP_ROW_OTHER ? answer->other.kind : 0;

    return kind == RP_MATCH || kind == RP_FREED || kind == RP_UNSENT || kind == RP_RECV;
}

/* The others need not wait for what this rank sends. */
static void stop_sending(void)
{
    atomic_fetch_sub(&clocked.state->awake, 1);
    rp_clocked_begin();
    rp_clocked_set_clock(RP_NEVER);
    rp_clocked_end();
}

static void at_end_of_record(const struct rp_call *call);

/* The next row that answers a call. Does not return at the end of the record. */
static struct rp_answer next_answer(const struct rp_call *call)
{
    for (;;) {
        struct rp_answer answer = rp_clocked_rows_next(call);
        if (answer.kind == 0)
            at_end_of_record(call);
        if (!is_note(&answer))
            return answer;
        rp_clocked_rows_pass(call, -1);
    }
}

/* In events, of which there are at least as many as rows: all of them when all rows came true. */
static void publish_done(void)
{
    uint64_t done = rp_clocked_rows_done(), total = rp_clocked_rows_total();

    atomic_store_explicit(&clocked.slot->done, done < total ? done : clocked.slot->total, memory_order_relaxed);
}

static void pass(const struct rp_call *call, int32_t rank)
{
    rp_clocked_rows_pass(call, rank);
    publish_done();
}

/* A poll that answers no needs no message; but who sends to a program that only polls must be able to go on. */
static void pass_no(const struct rp_call *call)
{
    enum { NOS = 16 };
    static unsigned nos;

    pass(call, -1);
    if (++nos % NOS == 0)
        rp_pool_poll();
    rp_needs_no_yield = true;
}

/* Waits for the message that the row tells, and takes it from the pool. *index is that of its request. */
static struct rp_pooled *hand_out(const struct rp_call *call, const struct rp_answer *answer, int32_t *index)
{
    struct rp_pooled *message;
    char what[96];

    rp_clocked_begin();
    rp_clocked_set_clock(reprise_envelope_clock());
    rp_pool_want(answer);
    rp_clocked_set_waits(true);
    rp_clocked_end();
    if (answer->is_told)
        snprintf(what, sizeof what, "the message of rank %d with clock %llu", answer->rank, U64(answer->clock));
    else
        snprintf(what, sizeof what, "the message that is number %u by its clock", answer->place);
    clocked.certain = RP_CERTAIN_MESSAGE;
    rp_pool_poll();
    while (!(message = answer->is_told ? rp_pool_find(answer->rank, answer->clock) : rp_pool_place(answer->place)))
        rest(call->function, what);
    rested();
    if (!answer->is_told && rp_pool_fault())
        diverge(call, rp_pool_fault());
    *index = rp_clocked_rows_index(answer, message->sender);
    rp_pool_remove(message);
    reprise_envelope_received(message->clock);
    rp_clocked_begin();
    rp_clocked_set_clock(reprise_envelope_clock());
    rp_clocked_set_waits(false);
    rp_clocked_end();
    pass(call, message->sender);
    return message;
}

/* Nothing more was recorded of this rank: it waits, taking in messages, until the others are at their ends, too. */
static void at_end_of_record(const struct rp_call *call)
{
    struct rp_log_end end = rp_log_end(clocked.log);

    if (end.reason == RP_END_FINALIZE)
        diverge(call, "more calls than were recorded");
    atomic_store(&clocked.slot->done, clocked.slot->total);
    stop_sending();
    rp_ending_say(&end, clocked.slot->total, call->function);
    clocked.slot->state = RP_RANK_PARKED;
    rp_ending_wait(clocked.state, clocked.slot, clocked.stall, rp_pool_poll);
    if (!may_report())
        sleep(10);
    rp_ending_stop(clocked.state);
}

static void begin(void)
{
    rp_self.depth++;
}

static void end(void)
{
    rp_self.depth--;
}

/* Giving a message */

static bool fits(const struct rp_pooled *message, MPI_Comm comm, int source, int tag)
{
    return message->comm == comm && (source == MPI_ANY_SOURCE || source == message->source) && (tag == MPI_ANY_TAG || tag == message->tag);
}

/* Into a buffer of the program, by MPI itself: so that types, counts and errors are right. */
static int deliver_now(const struct rp_call *call, struct rp_pooled *message, const struct rp_envelope *e, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;

    if (!fits(message, e->asked_comm, e->asked_source, e->asked_tag))
        diverge(call, "its message is not one that this receive can take");
    reprise_envelope_pause(1);
    int rc = rp_pmpi.Sendrecv(message->payload, (int)message->length, rp_constant.byte, 0, clocked.largest_tag, e->buf, (int)e->count, e->type, 0,
                              clocked.largest_tag, clocked.own, seen);
    reprise_envelope_pause(-1);
    seen->MPI_SOURCE = message->source;
    seen->MPI_TAG = message->tag;
    rp_pool_drop(message);
    return rc == MPI_SUCCESS ? rc : rp_pmpi.Comm_call_errhandler(e->asked_comm, rc) == MPI_SUCCESS ? rc : rc;
}

static struct receipt *receipt_of(MPI_Request request)
{
    struct rp_request *entry = request == rp_constant.request_null ? NULL : rp_requests_find(&rp_state.requests, request);

    return entry && entry->flags & RP_REQUEST_RECEIVE ? entry->note : NULL;
}

static void deliver(const struct rp_call *call, struct rp_pooled *message, MPI_Request request)
{
    struct receipt *receipt = receipt_of(request);
    MPI_Request sent;
    int done = 0;

    if (!receipt || receipt->is_given || !fits(message, receipt->comm, receipt->source, receipt->tag))
        diverge(call, "its message is not one that this request can take");
    receipt->is_given = true;
    receipt->given_source = message->source;
    receipt->given_tag = message->tag;
    reprise_envelope_pause(1);
    rp_pmpi.Isend(message->payload, (int)message->length, rp_constant.byte, 0, receipt->own_tag, clocked.own, &sent);
    while (rp_pmpi.Test(&sent, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        ;
    reprise_envelope_pause(-1);
    rp_pool_drop(message);
}

/* The receive is no longer under way. */
static void settle(MPI_Request request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, request);
    struct receipt *receipt = entry->note;

    receipt->next->previous = receipt->previous;
    receipt->previous->next = receipt->next;
    receipt->is_given = false;
    entry->flags &= RP_REQUEST_PERSISTENT;
    if (!entry->flags) {
        free(receipt);
        entry->note = NULL;
    }
}

static void open_receipt(struct receipt *receipt)
{
    receipt->previous = clocked.under_way.previous;
    receipt->next = &clocked.under_way;
    receipt->previous->next = receipt;
    clocked.under_way.previous = receipt;
}

/* Completes one request, which is certain to complete: a receive that was given its message, or anything else. */
static int complete(const struct rp_call *call, MPI_Request *request, MPI_Status *status)
{
    MPI_Request before = *request;
    struct receipt *receipt = receipt_of(before);
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int done = 0, rc;

    while ((rc = rp_pmpi.Test(request, &done, seen)) == MPI_SUCCESS && !done)
        rest(call->function, "a request of its own (a send, or a collective)");
    rested();
    if (!receipt)
        return rc;
    if (receipt->is_given) {
        seen->MPI_SOURCE = receipt->given_source;
        seen->MPI_TAG = receipt->given_tag;
    }
    if (rc != MPI_SUCCESS)
        rp_pmpi.Comm_call_errhandler(receipt->comm, rc);
    settle(before);
    return rc;
}

/* Receives */

static bool is_wrong(const struct rp_envelope *e)
{
    int peers, is_inter = 0;

    if (e->comm == rp_constant.comm_null || (e->tag < 0 && e->tag != MPI_ANY_TAG) || e->tag > clocked.largest_tag)
        return true;
    rp_pmpi.Comm_test_inter(e->comm, &is_inter);
    is_inter ? rp_pmpi.Comm_remote_size(e->comm, &peers) : rp_pmpi.Comm_size(e->comm, &peers);
    return e->source != MPI_ANY_SOURCE && (e->source < 0 || e->source >= peers);
}

static void note_asked(struct rp_envelope *e)
{
    e->asked_source = e->source;
    e->asked_tag = e->tag;
    e->asked_comm = e->comm;
    e->note = NULL;
}

/* The message of a blocking receive; NULL: it failed, and the real call is to fail again. */
static struct rp_pooled *receive_message(const struct rp_call *call)
{
    struct rp_answer answer = next_answer(call);
    int32_t index;

    if (answer.kind == RP_ROW_OTHER && answer.other.kind == RP_ERROR) {
        pass(call, -1);
        return NULL;
    }
    if (answer.kind != RP_ROW_MESSAGE)
        diverge(call, "a receive");
    return hand_out(call, &answer, &index);
}

static int clocked_receive(const struct rp_call *call, struct rp_envelope *e, const struct rp_buffer_args *b)
{
    struct rp_pooled *message = NULL;

    begin();
    note_asked(e);
    e->buf = b->buf;
    e->count = b->count;
    e->type = b->type;
    if (e->source != MPI_PROC_NULL && !is_wrong(e)) {
        rp_pool_know(e->comm);
        message = receive_message(call);
    }
    int rc = message ? deliver_now(call, message, e, e->status) : call->next->Recv(b->buf, (int)b->count, b->type, e->source, e->tag, e->comm, e->status);
    end();
    return rc;
}

/* The real call only sends: as if nobody was to be received from. */
static void clocked_receive_begin(const struct rp_call *call, struct rp_envelope *e)
{
    (void)call;
    begin();
    note_asked(e);
    if (e->source == MPI_PROC_NULL || is_wrong(e))
        return;
    rp_pool_know(e->comm);
    e->source = MPI_PROC_NULL;
    e->note = e;
}

static void clocked_receive_end(const struct rp_call *call, struct rp_envelope *e, int rc)
{
    struct rp_pooled *message = e->note && rc == MPI_SUCCESS ? receive_message(call) : NULL;

    if (message)
        deliver_now(call, message, e, e->status);
    end();
}

/* Posts it where only we send to. */
static void redirect(struct rp_envelope *e)
{
    struct receipt *receipt = calloc(1, sizeof *receipt);

    if (!receipt)
        rp_bug(__FILE__, __LINE__, "out of memory for a receive");
    rp_pool_know(e->comm);
    clocked.next_tag = clocked.next_tag + 1 < clocked.largest_tag ? clocked.next_tag + 1 : 0;
    *receipt = (struct receipt){.comm = e->comm, .source = e->source, .tag = e->tag, .own_tag = clocked.next_tag};
    e->note = receipt;
    e->comm = clocked.own;
    e->source = 0;
    e->tag = receipt->own_tag;
    reprise_envelope_pause(1);
}

static void clocked_post_begin(const struct rp_call *call, struct rp_envelope *e, const struct rp_buffer_args *b)
{
    (void)call;
    (void)b;
    begin();
    note_asked(e);
    e->post = rp_state.posts++;
    if (e->source != MPI_PROC_NULL && !is_wrong(e))
        redirect(e);
}

/* The handle's entry; NULL: it is not ours, or there is none. */
static struct rp_request *redirected(struct rp_envelope *e, int rc, MPI_Request *request)
{
    if (e->note)
        reprise_envelope_pause(-1);
    end();
    if (rc != MPI_SUCCESS) {
        free(e->note);
        return NULL;
    }
    struct rp_request *entry = rp_requests_entry(&rp_state.requests, *request);
    entry->flags = 0;
    entry->note = e->note;
    entry->post = e->post;
    return e->note ? entry : NULL;
}

static void clocked_post_end(const struct rp_call *call, struct rp_envelope *e, int rc, MPI_Request *request)
{
    (void)call;
    struct rp_request *entry = redirected(e, rc, request);

    if (!entry)
        return;
    entry->flags = RP_REQUEST_RECEIVE;
    open_receipt(entry->note);
}

static void clocked_persistent_begin(const struct rp_call *call, struct rp_envelope *e, const struct rp_buffer_args *b)
{
    (void)call;
    (void)b;
    begin();
    note_asked(e);
    if (e->source != MPI_PROC_NULL && !is_wrong(e))
        redirect(e);
}

static void clocked_persistent_end(const struct rp_call *call, struct rp_envelope *e, int rc, MPI_Request *request)
{
    (void)call;
    struct rp_request *entry = redirected(e, rc, request);

    if (!entry)
        return;
    entry->flags = RP_REQUEST_PERSISTENT;
    rp_state.persistent++;
}

static int clocked_start(const struct rp_call *call, MPI_Request *request)
{
    begin();
    int rc = call->next->Start(request);
    struct rp_request *entry = rc == MPI_SUCCESS ? rp_requests_find(&rp_state.requests, *request) : NULL;
    if (entry && entry->flags & RP_REQUEST_PERSISTENT) {
        entry->post = rp_state.posts++;
        entry->flags = RP_REQUEST_PERSISTENT | RP_REQUEST_RECEIVE;
        open_receipt(entry->note);
    }
    end();
    return rc;
}

static int clocked_startall(const struct rp_call *call, int count, MPI_Request *requests)
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = clocked_start(call, &requests[i]);
    return rc;
}

/* Probes */

static void fill_status(const struct rp_pooled *message, MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    memset(status, 0, sizeof *status);
    status->MPI_SOURCE = message->source;
    status->MPI_TAG = message->tag;
    rp_pmpi.Status_set_elements_x(status, rp_constant.byte, (MPI_Count)message->length);
}

/* Receives under way that would take the message before a probe sees it. */
static const struct rp_pooled *first_unclaimed(int source, int tag, MPI_Comm comm)
{
    const struct rp_pooled *message = rp_pool_after(NULL, source, tag, comm);

    for (struct receipt *r = clocked.under_way.next; r != &clocked.under_way; r = r->next) {
        if (r->is_given || r->comm != comm || (r->source != MPI_ANY_SOURCE && source != MPI_ANY_SOURCE && r->source != source) ||
            (r->tag != MPI_ANY_TAG && tag != MPI_ANY_TAG && r->tag != tag))
            continue;
        if (RP_IS_WILD(r->source, r->tag) || r->source != source || r->tag != tag)
            refuse("a probe while a receive is under way that could take its message");
        message = message ? rp_pool_after(message, source, tag, comm) : NULL;
    }
    return message;
}

/*
 * A probe does not move the clock on, so that what the rank sends between it and the receive has a clock that nobody can bound from below. Programs do not usually send there: the others may take it that the
 * message is received next. If not, rp_pool_fault finds out.
 *
 * So who waits in a probe waits, for the others, for the message that its record has next. Nothing less will do: a rank that only says which messages it has, of which the first is to be received later, keeps
 * those waiting whose messages it waits for.
 */
static void publish_probe(bool waits)
{
    struct rp_answer next = rp_clocked_rows_next_message();

    rp_clocked_begin();
    rp_clocked_set_clock(reprise_envelope_clock());
    rp_pool_want(&next);
    rp_clocked_set_waits(waits);
    rp_clocked_end();
}

static void probe_message(const struct rp_call *call, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    const struct rp_pooled *message;
    char what[96];

    snprintf(what, sizeof what, "a message from rank %d with tag %d", source, tag);
    rp_pool_know(comm);
    rp_pool_poll();
    publish_probe(true);
    clocked.certain = RP_CERTAIN_MESSAGE;
    while (!(message = first_unclaimed(source, tag, comm)))
        rest(call->function, what);
    rested();
    publish_probe(false);
    fill_status(message, status);
}

static int clocked_probe(const struct rp_call *call, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    begin();
    if (RP_IS_WILD(source, tag)) {
        struct rp_answer answer = next_answer(call);
        if (answer.kind != RP_ROW_OTHER || answer.other.kind != RP_PROBE)
            diverge(call, "a probe");
        pass(call, -1);
        source = answer.other.a;
        tag = answer.other.b;
    }
    int rc = MPI_SUCCESS;
    if (source == MPI_PROC_NULL)
        rc = call->next->Probe(source, tag, comm, status);
    else
        probe_message(call, source, tag, comm, status);
    end();
    return rc;
}

static int clocked_iprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    begin();
    struct rp_answer answer = next_answer(call);
    int rc = MPI_SUCCESS;
    bool found = answer.kind == RP_ROW_OTHER && answer.other.kind == RP_PROBE;

    if (answer.kind != RP_ROW_UNMATCHED && !found)
        diverge(call, "a probe");
    found ? pass(call, -1) : pass_no(call);
    *flag = found;
    if (found && answer.other.a == MPI_PROC_NULL)
        rc = call->next->Iprobe(source, tag, comm, flag, status);
    else if (found)
        probe_message(call, answer.other.a, answer.other.b, comm, status);
    end();
    return rc;
}

static int clocked_mprobe(const struct rp_call *call, int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    (void)call, (void)source, (void)tag, (void)comm, (void)message, (void)status;
    refuse("MPI_Mprobe");
}

static int clocked_improbe(const struct rp_call *call, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    (void)call, (void)source, (void)tag, (void)comm, (void)flag, (void)message, (void)status;
    refuse("MPI_Improbe");
}

static void clocked_received_matched(const struct rp_call *call)
{
    refuse(call->function);
}

/* Completion */

/* A receive whose cancel won in the record, if the next row says so: it is cancelled now. */
static bool take_cancelled(const struct rp_call *call, const struct rp_answer *answer, int count, MPI_Request *requests)
{
    if (answer->kind != RP_ROW_OTHER || answer->other.kind != RP_CANCELLED)
        return false;
    for (int i = 0; i < count; i++) {
        struct rp_request *entry = receipt_of(requests[i]) ? rp_requests_find(&rp_state.requests, requests[i]) : NULL;
        if (!entry || entry->post != answer->other.c)
            continue;
        rp_pmpi.Cancel(&requests[i]);
        ((struct receipt *)entry->note)->is_given = false;
        entry->flags |= RP_REQUEST_GHOST; /* needs no message any more */
        pass(call, -1);
        return true;
    }
    diverge(call, "another request was cancelled");
}

static bool needs_message(MPI_Request request)
{
    struct receipt *receipt = receipt_of(request);

    return receipt && !receipt->is_given && !(rp_requests_find(&rp_state.requests, request)->flags & RP_REQUEST_GHOST);
}

/* Gives its message to the request that the row names; `alone`: the call has only one. */
static int32_t give(const struct rp_call *call, const struct rp_answer *answer, int count, MPI_Request *requests, bool alone)
{
    int32_t index;
    struct rp_pooled *message = hand_out(call, answer, &index);

    index = alone ? 0 : index;
    if (index < 0 || index >= count)
        diverge(call, "an index that is not in the array of requests");
    deliver(call, message, requests[index]);
    return index;
}

/* All receives of the array get their messages. */
static void give_all(const struct rp_call *call, int count, MPI_Request *requests, bool alone)
{
    int left = 0;

    for (int i = 0; i < count; i++)
        left += needs_message(requests[i]);
    while (left > 0) {
        struct rp_answer answer = next_answer(call);
        left--;
        if (take_cancelled(call, &answer, count, requests))
            continue;
        if (answer.kind != RP_ROW_MESSAGE)
            diverge(call, "a wait for receives");
        give(call, &answer, count, requests, alone);
    }
}

static int clocked_wait(const struct rp_call *call, MPI_Request *request, MPI_Status *status)
{
    begin();
    if (request && *request != rp_constant.request_null)
        give_all(call, 1, request, true);
    int rc = request && *request != rp_constant.request_null ? complete(call, request, status) : call->next->Wait(request, status);
    end();
    return rc;
}

/* Completes those that are to be, and tells errors as calls on several requests do. */
static int complete_all(const struct rp_call *call, int count, MPI_Request *requests, MPI_Status *statuses)
{
    int worst = MPI_SUCCESS;

    for (int i = 0; i < count; i++) {
        MPI_Status own, *seen = statuses == MPI_STATUSES_IGNORE ? &own : &statuses[i];
        int rc = complete(call, &requests[i], seen);
        seen->MPI_ERROR = rc;
        worst = rc != MPI_SUCCESS ? MPI_ERR_IN_STATUS : worst;
    }
    return worst;
}

static int clocked_waitall(const struct rp_call *call, int count, MPI_Request *requests, MPI_Status *statuses)
{
    if (count < 0 || (count > 0 && !requests))
        return call->next->Waitall(count, requests, statuses);
    begin();
    give_all(call, count, requests, false);
    int rc = complete_all(call, count, requests, statuses);
    end();
    return rc;
}

/* The answer of a poll, or of a wait for one or some. False: no. */
static bool is_yes(const struct rp_call *call, int count, MPI_Request *requests, struct rp_answer *answer)
{
    do
        *answer = next_answer(call);
    while (take_cancelled(call, answer, count, requests));
    if (answer->kind != RP_ROW_UNMATCHED)
        return true;
    pass_no(call);
    return false;
}

static bool is_error(const struct rp_answer *answer)
{
    return answer->kind == RP_ROW_OTHER && answer->other.kind == RP_ERROR;
}

/* What a row of a completion call says: the index of a request, which can be completed now. -1: the call has none. */
static int32_t answered_index(const struct rp_call *call, const struct rp_answer *answer, int count, MPI_Request *requests, bool alone)
{
    if (answer->kind == RP_ROW_MESSAGE)
        return give(call, answer, count, requests, alone);
    if (answer->other.kind != RP_YES && answer->other.kind != RP_NEXT)
        diverge(call, "a completion call");
    int32_t index = answer->other.a;
    if (index >= count)
        diverge(call, "an index that is not in the array of requests");
    pass(call, -1);
    return index;
}

static int clocked_test(const struct rp_call *call, MPI_Request *request, int *flag, MPI_Status *status)
{
    struct rp_answer answer;

    if (!request || *request == rp_constant.request_null)
        return call->next->Test(request, flag, status);
    begin();
    int rc = MPI_SUCCESS;
    *flag = is_yes(call, 1, request, &answer);
    if (*flag && is_error(&answer)) {
        pass(call, -1);
        rc = call->next->Test(request, flag, status);
    } else if (*flag) {
        answered_index(call, &answer, 1, request, true);
        rc = complete(call, request, status);
    }
    end();
    return rc;
}

static int clocked_testall(const struct rp_call *call, int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    struct rp_answer answer;

    if (rp_outcome_all_null(count, requests))
        return call->next->Testall(count, requests, flag, statuses);
    begin();
    int rc = MPI_SUCCESS;
    *flag = is_yes(call, count, requests, &answer);
    if (*flag && answer.kind == RP_ROW_OTHER)
        pass(call, -1);
    if (*flag) {
        give_all(call, count, requests, false);
        rc = complete_all(call, count, requests, statuses);
    }
    end();
    return rc;
}

/* Waitany, and Testany that said yes. */
static int complete_any(const struct rp_call *call, const struct rp_answer *answer, int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    int32_t found = answered_index(call, answer, count, requests, false);

    int flag;

    *index = found;
    return found < 0 ? rp_pmpi.Testany(count, requests, index, &flag, status) : complete(call, &requests[found], status); /* none is active */
}

static int clocked_waitany(const struct rp_call *call, int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    struct rp_answer answer;

    if (rp_outcome_all_null(count, requests))
        return call->next->Waitany(count, requests, index, status);
    begin();
    if (!is_yes(call, count, requests, &answer))
        diverge(call, "a wait");
    int rc = complete_any(call, &answer, count, requests, index, status);
    end();
    return rc;
}

static int clocked_testany(const struct rp_call *call, int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    struct rp_answer answer;
    int rc = MPI_SUCCESS;

    if (rp_outcome_all_null(count, requests))
        return call->next->Testany(count, requests, index, flag, status);
    begin();
    *flag = is_yes(call, count, requests, &answer);
    *index = MPI_UNDEFINED;
    if (*flag)
        rc = complete_any(call, &answer, count, requests, index, status);
    end();
    return rc;
}

/* Waitsome, and Testsome that said yes. */
static int complete_some(const struct rp_call *call, struct rp_answer *answer, int count, MPI_Request *requests, int *outcount, int *indices,
                         MPI_Status *statuses)
{
    int worst = MPI_SUCCESS, done = 0;

    if (answer->kind == RP_ROW_OTHER && answer->other.a < 0) {
        pass(call, -1);
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    for (bool more = true; more && done < count; done++) {
        more = answer->with_next;
        indices[done] = answered_index(call, answer, count, requests, false);
        if (more)
            *answer = next_answer(call);
    }
    for (int i = 0; i < done; i++) {
        MPI_Status own, *seen = statuses == MPI_STATUSES_IGNORE ? &own : &statuses[i];
        int rc = complete(call, &requests[indices[i]], seen);
        seen->MPI_ERROR = rc;
        worst = rc != MPI_SUCCESS ? MPI_ERR_IN_STATUS : worst;
    }
    *outcount = done;
    return worst;
}

static int clocked_waitsome(const struct rp_call *call, int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    struct rp_answer answer;

    if (rp_outcome_all_null(count, requests))
        return call->next->Waitsome(count, requests, outcount, indices, statuses);
    begin();
    if (!is_yes(call, count, requests, &answer))
        diverge(call, "a wait");
    int rc = complete_some(call, &answer, count, requests, outcount, indices, statuses);
    end();
    return rc;
}

static int clocked_testsome(const struct rp_call *call, int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses)
{
    struct rp_answer answer;
    int rc = MPI_SUCCESS;

    if (rp_outcome_all_null(count, requests))
        return call->next->Testsome(count, requests, outcount, indices, statuses);
    begin();
    *outcount = 0;
    if (is_yes(call, count, requests, &answer))
        rc = complete_some(call, &answer, count, requests, outcount, indices, statuses);
    end();
    return rc;
}

static int clocked_request_get_status(const struct rp_call *call, MPI_Request request, int *flag, MPI_Status *status)
{
    struct rp_answer answer;
    int rc = MPI_SUCCESS;

    if (receipt_of(request))
        refuse("MPI_Request_get_status of a receive");
    begin();
    *flag = is_yes(call, 0, NULL, &answer);
    if (*flag) {
        pass(call, -1);
        *flag = 0;
        while ((rc = call->next->Request_get_status(request, flag, status)) == MPI_SUCCESS && !*flag)
            rest(call->function, "a request of its own");
        rested();
    }
    end();
    return rc;
}

static int clocked_parrived(const struct rp_call *call, MPI_Request request, int partition, int *flag)
{
    (void)call, (void)request, (void)partition, (void)flag;
    refuse("MPI_Parrived");
}

static int clocked_cancel(const struct rp_call *call, MPI_Request *request)
{
    struct rp_request *entry = request && receipt_of(*request) ? rp_requests_find(&rp_state.requests, *request) : NULL;

    if (!entry)
        refuse("MPI_Cancel of a send");
    (void)call;
    entry->flags |= RP_REQUEST_CANCELLING; /* whether it wins is in the record */
    return MPI_SUCCESS;
}

static int clocked_request_free(const struct rp_call *call, MPI_Request *request)
{
    struct rp_request *entry = rp_requests_find(&rp_state.requests, *request);

    if (entry && entry->flags & RP_REQUEST_RECEIVE)
        refuse("MPI_Request_free of a receive that is under way");
    begin();
    if (entry && entry->flags & RP_REQUEST_PERSISTENT) {
        rp_state.persistent--;
        free(entry->note);
        entry->flags = 0;
    }
    int rc = call->next->Request_free(request);
    end();
    return rc;
}

static int clocked_comm_free(const struct rp_call *call, MPI_Comm *comm)
{
    rp_pool_forget(*comm);
    return call->next->Comm_free(comm);
}

static int clocked_comm_disconnect(const struct rp_call *call, MPI_Comm *comm)
{
    rp_pool_forget(*comm);
    return call->next->Comm_disconnect(comm);
}

static void clocked_threads_begin(void)
{
    refuse("a program whose threads may all call MPI");
}

static int clocked_value(const struct rp_call *call, int32_t *a, uint64_t *c)
{
    (void)call, (void)a, (void)c;
    return 0;
}

static int clocked_leads(void)
{
    return 1;
}

/* The end */

static void finish(uint32_t state)
{
    struct rp_call nowhere = {.function = "MPI_Finalize"};

    if (!rp_clocked_rows_are_done())
        diverge(&nowhere, rp_pool_fault() ? rp_pool_fault() : "the program ended before the record did");
    atomic_store(&clocked.slot->done, clocked.slot->total);
    stop_sending();
    clocked.slot->state = state;
}

static void clocked_finalize(void)
{
    uint64_t mine[1] = {clocked.slot->total}, sum[1] = {0};
    MPI_Request request;
    int done = 0;

    finish(RP_RANK_FINISHED);
    for (int rc = rp_pmpi.Ibarrier(rp_constant.world, &request); rc == MPI_SUCCESS && !done; rp_pool_poll(), usleep(50))
        rc = rp_pmpi.Test(&request, &done, MPI_STATUS_IGNORE); /* others may still send to us */
    rp_session_sum(mine, sum, 1);
    rp_pmpi.Comm_free(&clocked.own);
    reprise_envelope_close();
    if (clocked.session.rank != 0)
        return;
    unlink(clocked.clocks_path);
    if (!rp_setting("REPRISE_PARENT")) {
        rp_message_rank(-1);
        rp_note("replayed %llu events on %d ranks: identical", U64(sum[0]), clocked.session.ranks);
        unlink(clocked.state_path);
    }
}

static void clocked_exit(int code)
{
    (void)code;
    finish(RP_RANK_ENDED);
    rp_ending_wait(clocked.state, clocked.slot, clocked.stall, rp_pool_poll); /* the job ends with us */
}

/* MPI may be in any state. */
static void wait_before_crash(void)
{
    stop_sending();
    clocked.slot->state = RP_RANK_ENDED;
    rp_ending_wait(clocked.state, clocked.slot, clocked.stall, NULL);
}

static void clocked_end_elsewhere(void)
{
}

static const struct rp_engine engine = {
    .name = "clocked",
    .refuses_threads = 1,
    .received_matched = clocked_received_matched,
    .receive = clocked_receive,
    .receive_begin = clocked_receive_begin,
    .receive_end = clocked_receive_end,
    .post_begin = clocked_post_begin,
    .post_end = clocked_post_end,
    .persistent_begin = clocked_persistent_begin,
    .persistent_end = clocked_persistent_end,
    .Start = clocked_start,
    .Startall = clocked_startall,
    .Probe = clocked_probe,
    .Mprobe = clocked_mprobe,
    .Iprobe = clocked_iprobe,
    .Improbe = clocked_improbe,
    .Wait = clocked_wait,
    .Waitall = clocked_waitall,
    .Waitany = clocked_waitany,
    .Waitsome = clocked_waitsome,
    .Test = clocked_test,
    .Testall = clocked_testall,
    .Testany = clocked_testany,
    .Testsome = clocked_testsome,
    .Request_get_status = clocked_request_get_status,
    .Parrived = clocked_parrived,
    .Cancel = clocked_cancel,
    .Request_free = clocked_request_free,
    .Comm_free = clocked_comm_free,
    .Comm_disconnect = clocked_comm_disconnect,
    .leads = clocked_leads,
    .threads_begin = clocked_threads_begin,
    .value = clocked_value,
    .finalize = clocked_finalize,
    .abort = clocked_exit,
    .exit = clocked_exit,
    .end_elsewhere = clocked_end_elsewhere,
};

/* The start */

static enum rp_status find_record(struct rp_problem *why)
{
    struct rp_manifest manifest;
    enum rp_status status = rp_session_find_record(&clocked.session, &manifest, why);

    if (status != RP_OK)
        return status;
    if (manifest.capture && *manifest.capture)
        status = rp_fail(why, RP_UNSUPPORTED, "%s has captured values (%s), which cannot be replayed by clocks", clocked.session.directory, manifest.capture);
    rp_manifest_free(&manifest);
    return status;
}

/* The state file is the command's, or one of our own. */
static enum rp_status make_files(struct rp_problem *why)
{
    const char *given = rp_setting("REPRISE_STATE");
    enum rp_status status = RP_OK;

    if (given)
        snprintf(clocked.state_path, PATH_MAX, "%s", given);
    else if (snprintf(clocked.state_path, PATH_MAX, "%s/replay-%d.state", clocked.session.directory, (int)getpid()) < PATH_MAX)
        status = rp_state_create(clocked.state_path, (uint32_t)clocked.session.ranks, why);
    if (status == RP_OK && snprintf(clocked.clocks_path, PATH_MAX, "%s.clocks", clocked.state_path) < PATH_MAX) {
        unlink(clocked.clocks_path);
        status = rp_clocked_create(clocked.clocks_path, (uint32_t)clocked.session.ranks, why);
    }
    return status;
}

static enum rp_status open_all(struct rp_problem *why)
{
    const struct rp_session *s = &clocked.session;

    if (!reprise_envelope_open || !reprise_envelope_hook)
        return rp_fail(why, RP_USAGE, "the record is one by clocks, but libreprise-envelope.so is not preloaded behind libreprise.so");
    enum rp_status status = rp_log_open(s->directory, s->run, (uint32_t)s->rank, (uint32_t)s->ranks, &clocked.log, why);
    if (status == RP_OK)
        status = rp_clocked_rows_open(clocked.log, rp_setting("REPRISE_FORCE") == NULL, why);
    if (status == RP_OK)
        status = rp_state_map(clocked.state_path, (uint32_t)s->ranks, &clocked.state, why);
    if (status == RP_OK)
        status = rp_clocked_map(clocked.clocks_path, (uint32_t)s->ranks, (uint32_t)s->rank, why);
    if (status == RP_OK)
        status = rp_setting_number("REPRISE_STALL", 0, 30, &clocked.stall, why);
    return status;
}

static void open_slot(void)
{
    int *largest = NULL, found = 0;

    clocked.slot = &clocked.state->rank[clocked.session.rank];
    clocked.slot->pid = (uint32_t)getpid();
    clocked.slot->total = rp_log_event_count(clocked.log);
    clocked.slot->state = RP_RANK_RUNNING;
    atomic_fetch_add(&clocked.state->awake, 1);
    clocked.cores = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
    clocked.under_way.next = clocked.under_way.previous = &clocked.under_way;
    rp_pmpi.Comm_get_attr(rp_constant.world, MPI_TAG_UB, &largest, &found);
    clocked.largest_tag = found ? *largest : 32767;
    rp_pmpi.Comm_dup(rp_constant.self, &clocked.own);
    rp_pmpi.Comm_set_errhandler(clocked.own, rp_constant.errors_return);
}

void rp_clocked_start(void)
{
    struct rp_problem why;
    enum rp_status status = RP_OK;

    rp_session_open(&clocked.session);
    if (clocked.session.rank == 0)
        status = find_record(&why);
    if (status == RP_OK && clocked.session.rank == 0)
        status = make_files(&why);
    if (status != RP_OK)
        rp_error("cannot replay: %s", why.text);
    rp_session_agree(status, NULL);
    rp_session_share(&clocked.session, RP_OK);
    rp_session_share_text(clocked.state_path);
    rp_session_share_text(clocked.clocks_path);
    status = open_all(&why);
    if (status != RP_OK)
        rp_error("cannot replay: %s", why.text);
    rp_session_agree(status, NULL);
    open_slot();
    rp_pool_open();
    rp_session_meet(); /* everybody's clock is there before anybody sends */
    reprise_envelope_open(clocked.session.rank);
    reprise_envelope_hook(&hooks);
    rp_comms_init();
    rp_always_set(RP_ALWAYS_ENGINE | RP_ALWAYS_CLOCKS);
    rp_state.watched = 1; /* always look */
    rp_engine = &engine;
    rp_crashes_handle(wait_before_crash);
}
