/* SPDX-License-Identifier: MIT */
/*
 * DMP 4.2.3: the wait-for dependency of all ranks. Each rank is looked at twice: those of this host
 * where they publish themselves, those of other hosts in the copies that the leader writes.
 * match/send_bounds.h finds from that how early each can still send.
 */
#include "det/shared_bounds.h"

#include <sched.h>
#include <stdlib.h>

#include "det/shared_collectives.h"
#include "det/shared_messages.h"
#include "match/send_bounds.h"

static struct {
    struct rp_send_bound_rank *ranks;
    uint64_t *bounds;
    struct rp_shared_look *looks;
    uint64_t *missing; /* of each rank, words for all */
    size_t words;
    char *copies; /* copies as last read, and when */
    uint64_t copied;
} others;

static struct rp_shared_copy *copy_of(uint32_t rank)
{
    return rp_shared_copy_in(others.copies, rank);
}

enum rp_status rp_shared_bounds_start(struct rp_problem *why)
{
    uint32_t ranks = rp_shared.room;

    others.words = rp_shared_words();
    others.ranks = calloc(ranks, sizeof *others.ranks);
    others.bounds = calloc(ranks, sizeof *others.bounds);
    others.looks = calloc(ranks, sizeof *others.looks);
    others.missing = calloc(ranks * others.words, sizeof *others.missing);
    others.copies = rp_shared.host_of ? calloc(ranks, rp_shared_copy_size()) : NULL;
    if (!others.ranks || !others.bounds || !others.looks || !others.missing ||
        (rp_shared.host_of && !others.copies))
        return rp_fail(why, RP_MEMORY, "out of memory");
    for (uint32_t i = 0; others.copies && i < ranks; i++)
        copy_of(i)->wait = RP_WAIT_NONE;
    return RP_OK;
}

/* Looking at ranks */

bool rp_shared_receives_nothing(uint32_t rank)
{
    const struct rp_shared_rank *state = &rp_shared.all[rank];

    return rp_shared_clock_of(rank) == RP_SEND_NEVER ||
           (atomic_load(&state->version) % 2 == 0 &&
            atomic_load(&state->wait) == RP_WAIT_INSIDE_MPI);
}

static void lower(uint64_t *time, uint64_t other)
{
    if (other < *time)
        *time = other;
}

static bool read_state(uint32_t rank, struct rp_shared_look *look)
{
    struct rp_shared_rank *state = &rp_shared.all[rank];
    uint64_t version = atomic_load(&state->version);

    look->version = version;
    if (version % 2 != 0)
        return false;
    look->wait = atomic_load(&state->wait);
    look->object = atomic_load(&state->object);
    look->target = atomic_load(&state->target);
    look->candidate = atomic_load(&state->candidate);
    return atomic_load(&state->version) == version;
}

/* The receiver is looked at before the message, so that what the message says is not older. */
static uint32_t read_matched(const struct rp_shared_message *message, bool *receives_nothing)
{
    *receives_nothing = rp_shared_receives_nothing(message->dest);
    return atomic_load(&message->matched);
}

/* Sets look->seen to how many ranks have arrived at the collective that the rank waits at, or to
 * whether the message that it waits for was taken. */
static void read_object(struct rp_shared_look *look)
{
    bool receives_nothing;

    if (look->wait == RP_WAIT_RECEIVER) {
        look->seen = read_matched(rp_shared_message_at(look->object), &receives_nothing);
        look->relies = look->seen == RP_MATCHED_UNSEEN && receives_nothing;
        look->may_go_on = look->seen != RP_MATCHED_NOT && !look->relies;
    } else if (look->wait == RP_WAIT_COLLECTIVE || look->wait == RP_WAIT_INSIDE_MPI) {
        look->seen = atomic_load(&rp_shared_collective_at(look->object)->count);
    }
}

void rp_shared_look(uint32_t rank, struct rp_shared_look *look)
{
    *look = (struct rp_shared_look){.clock = rp_shared_clock_of(rank), .fresh = RP_SEND_NEVER};
    look->waits = read_state(rank, look);
    if (look->waits)
        read_object(look);
}

/* When a synchronous message can have been taken: by a receive that was under way at its time.
 * Later receives are not earlier than the bound of their rank. */
static void look_at_message(const struct rp_shared_message *message, struct rp_shared_look *look,
                            uint64_t *relied)
{
    bool receives_nothing;
    uint32_t matched = read_matched(message, &receives_nothing);

    if (matched == RP_MATCHED) {
        lower(&look->candidate, atomic_load(&message->matched_at));
    } else if (matched == RP_MATCHED_UNSEEN && receives_nothing) {
        lower(&look->fresh, message->stamp);
        if (relied)
            relied[message->dest / 64] |= UINT64_C(1) << message->dest % 64;
    } else if (matched != RP_MATCHED_NOT) {
        lower(&look->candidate, message->stamp);
    }
}

/* The first of several operations, some of which may have completed already. */
static void look_at_operations(struct rp_shared_look *look, uint64_t *relied)
{
    for (uint64_t place = look->object; place != 0;
         place = atomic_load(&rp_shared_message_at(place)->also)) {
        const struct rp_shared_message *message = rp_shared_message_at(place);
        const struct rp_shared_collective *collective =
            rp_shared_collective_at(message->collective);
        if (message->collective == 0)
            look_at_message(message, look, relied);
        else if (rp_shared_collective_is_complete(collective))
            lower(&look->candidate, atomic_load(&collective->latest));
        else
            look->awaits_collectives = true;
    }
}

/* The version is asked last: until then the rank has waited, and taken nothing out of its inbox. */
bool rp_shared_look_again(uint32_t rank, struct rp_shared_look *look, uint64_t *relied)
{
    struct rp_shared_rank *state = &rp_shared.all[rank];
    bool is_same = look->wait == RP_WAIT_INSIDE_MPI || atomic_load(&state->inbox) == 0;

    if (look->wait == RP_WAIT_INSIDE_MPI || look->wait == RP_WAIT_COLLECTIVE)
        is_same &= atomic_load(&rp_shared_collective_at(look->object)->count) == look->seen;
    else if (look->wait == RP_WAIT_RECEIVER)
        is_same &= atomic_load(&rp_shared_message_at(look->object)->matched) == look->seen;
    else if (look->wait == RP_WAIT_ANY)
        look_at_operations(look, relied);
    if (look->relies && relied)
        relied[look->target / 64] |= UINT64_C(1) << look->target % 64;
    return atomic_load(&state->version) == look->version && is_same;
}

/* Bounds */

static void look_at_missing(uint32_t rank, const struct rp_shared_collective *collective)
{
    struct rp_send_bound_rank *r = &others.ranks[rank];
    uint64_t *missing = &others.missing[rank * others.words];

    for (size_t i = 0; i < others.words; i++)
        missing[i] =
            atomic_load(&collective->bits[i]) & ~atomic_load(&collective->bits[others.words + i]);
    r->kind = RP_SEND_ALL;
    r->missing = missing;
    r->candidate_time = atomic_load(&collective->latest);
}

/* Our own, which nobody changes but we. */
static void look_at_plan(const struct rp_shared_plan *plan, struct rp_shared_look *look)
{
    *look = (struct rp_shared_look){.clock = rp_shared_clock_of(rp_shared.rank),
                                    .waits = true,
                                    .version = atomic_load(&rp_shared.own->version),
                                    .wait = plan->wait,
                                    .target = plan->target,
                                    .candidate = plan->candidate,
                                    .object = plan->object,
                                    .fresh = RP_SEND_NEVER};
    read_object(look);
}

static void look_at(uint32_t rank, const struct rp_shared_plan *plan)
{
    struct rp_send_bound_rank *r = &others.ranks[rank];
    struct rp_shared_look *look = &others.looks[rank];

    if (plan && rank == rp_shared.rank)
        look_at_plan(plan, look);
    else
        rp_shared_look(rank, look);
    *r = (struct rp_send_bound_rank){.clock = look->clock,
                                     .kind = RP_SEND_RUNS,
                                     .target = look->target,
                                     .candidate_time = look->candidate};
    if (!look->waits || look->may_go_on)
        return;
    if (look->wait == RP_WAIT_COLLECTIVE || look->wait == RP_WAIT_INSIDE_MPI)
        look_at_missing(rank, rp_shared_collective_at(look->object));
    else
        r->kind = look->wait == RP_WAIT_ANY ? RP_SEND_ANY : RP_SEND_ONE;
}

static void look_at_again(uint32_t rank)
{
    struct rp_send_bound_rank *r = &others.ranks[rank];
    struct rp_shared_look *look = &others.looks[rank];

    if (!look->waits)
        return;
    if (!rp_shared_look_again(rank, look, NULL))
        r->kind = RP_SEND_RUNS;
    if (r->kind == RP_SEND_ANY)
        r->candidate_time = look->candidate;
}

/* Ranks of other hosts */

static void read_copies_once(void)
{
    _Atomic uint64_t *from = (_Atomic uint64_t *)(void *)rp_shared_copy(0);
    uint64_t *into = (uint64_t *)(void *)others.copies;

    for (size_t i = 0; i < rp_shared.ranks * rp_shared_copy_size() / sizeof *into; i++)
        into[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
}

static void read_copies(void)
{
    uint64_t before = atomic_load_explicit(&rp_shared_common()->copied, memory_order_acquire);

    while (before != others.copied) {
        read_copies_once();
        atomic_thread_fence(memory_order_acquire);
        uint64_t after = atomic_load_explicit(&rp_shared_common()->copied, memory_order_acquire);
        if (before % 2 == 0 && before == after)
            others.copied = before;
        else
            sched_yield();
        before = after;
    }
}

static bool copy_receives_nothing(uint32_t rank)
{
    const struct rp_shared_copy *m = copy_of(rank);

    return rp_shared_is_remote(rank) ? m->wait == RP_WAIT_INSIDE_MPI || m->clock == RP_SEND_NEVER
                                     : rp_shared_receives_nothing(rank);
}

/* Whether all ranks receive nothing on whose receiving nothing it relies. That is looked at before
 * what was sent: so a rank that receives nothing has not looked at anything that is not counted. */
static bool receive_nothing(const struct rp_shared_copy *m)
{
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if ((m->relied[i / 64] >> i % 64 & 1) && !copy_receives_nothing(i))
            return false;
    return true;
}

/* Whether a rank that waits had got all that was sent to it until the moments at which we know the
 * others. */
static bool is_believed(uint32_t rank)
{
    const struct rp_shared_copy *m = copy_of(rank);

    if (m->wait == RP_WAIT_INSIDE_MPI)
        return true;
    if (!m->is_believed || m->received < atomic_load(rp_shared_sent(rank)))
        return false;
    return !m->awaits_collectives ||
           (m->knows_arrivals && m->arrivals_known >= atomic_load(&rp_shared_common()->arrivals));
}

static void look_at_collective_of(uint32_t rank)
{
    const struct rp_shared_collective *collective =
        rp_shared_collective_lock(copy_of(rank)->comm, copy_of(rank)->number);

    if (!collective) /* it is over */
        return;
    look_at_missing(rank, collective);
    rp_shared_collective_unlock(collective);
}

/* After all ranks of this host: who is missing at a collective here comes later than the clock that
 * was read. */
static void look_at_copy(uint32_t rank)
{
    const struct rp_shared_copy *m = copy_of(rank);
    struct rp_send_bound_rank *r = &others.ranks[rank];

    others.looks[rank].waits = false;
    *r = (struct rp_send_bound_rank){.clock = m->clock,
                                     .kind = RP_SEND_RUNS,
                                     .target = (uint32_t)m->target,
                                     .candidate_time = m->candidate};
    bool is_firm = m->wait != RP_WAIT_NONE && receive_nothing(m);
    if (m->wait == RP_WAIT_NONE || !is_believed(rank))
        return;
    if (m->wait == RP_WAIT_COLLECTIVE || m->wait == RP_WAIT_INSIDE_MPI)
        look_at_collective_of(rank);
    else if (m->wait == RP_WAIT_ANY)
        r->kind = RP_SEND_ANY;
    else if (is_firm)
        r->kind = RP_SEND_ONE;
    if (m->wait == RP_WAIT_ANY && !is_firm)
        lower(&r->candidate_time, m->fresh);
}

static void look_at_copies(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (rp_shared_is_remote(i))
            look_at_copy(i);
}

/* What a rank waits for may be a rank of a job that began meanwhile. */
static void look_at_all(const struct rp_shared_plan *plan)
{
    if (rp_shared.host_of)
        read_copies();
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        if (!rp_shared_is_remote(i))
            look_at(i, plan);
    if (rp_shared.host_of)
        look_at_copies();
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        look_at_again(i);
}

const uint64_t *rp_shared_bounds(const struct rp_shared_plan *plan)
{
    uint32_t ranks = rp_shared_see_jobs();

    look_at_all(plan);
    while (rp_shared_see_jobs() != ranks) {
        ranks = rp_shared.ranks;
        look_at_all(plan);
    }
    rp_send_bounds(others.ranks, rp_shared.ranks, rp_shared.latency, rp_shared.ranks,
                   others.bounds);
    return others.bounds;
}

const uint64_t *rp_shared_cycle(struct rp_deadlock_cycle *cycle)
{
    rp_deadlock_cycle_find(others.ranks, rp_shared.ranks, others.bounds, cycle);
    return others.bounds;
}
