/* SPDX-License-Identifier: MIT */
/*
 * What can be known of the other ranks: each is looked at twice, those of other hosts in their
 * mirrors, and match/send_bounds.h finds from it how early each can still send.
 */
#include <sched.h>
#include <stdlib.h>

#include "det/shared_state_inner.h"
#include "match/deadlock_cycle.h"

static struct {
    struct rp_send_bound_rank *ranks;
    uint64_t *bounds;
    struct rp_shared_look *looks;
    uint64_t *missing; /* of each rank, words for all */
    size_t words;
    char *mirror; /* as last read, and when */
    uint64_t mirrored;
} others;

static struct rp_shared_copy *mirror_of(uint32_t rank)
{
    return rp_shared_copy_in(others.mirror, rank);
}

enum rp_status rp_shared_bounds_start(struct rp_problem *why)
{
    uint32_t ranks = rp_shared_side.ranks;

    others.words = rp_shared_words();
    others.ranks = calloc(ranks, sizeof *others.ranks);
    others.bounds = calloc(ranks, sizeof *others.bounds);
    others.looks = calloc(ranks, sizeof *others.looks);
    others.missing = calloc(ranks * others.words, sizeof *others.missing);
    others.mirror = rp_shared_side.host_of ? calloc(ranks, rp_shared_copy_size()) : NULL;
    if (!others.ranks || !others.bounds || !others.looks || !others.missing ||
        (rp_shared_side.host_of && !others.mirror))
        return rp_fail(why, RP_MEMORY, "out of memory");
    for (uint32_t i = 0; others.mirror && i < ranks; i++)
        mirror_of(i)->wait = RP_SHARED_RUNS;
    return RP_OK;
}

/* Looking at ranks */

bool rp_shared_is_deaf(uint32_t rank)
{
    const struct rp_shared_rank *state = &rp_shared_side.all[rank];

    return rp_shared_clock_of(rank) == RP_SEND_NEVER ||
           (atomic_load(&state->version) % 2 == 0 && atomic_load(&state->wait) == RP_SHARED_DEAF);
}

static void lower(uint64_t *time, uint64_t other)
{
    if (other < *time)
        *time = other;
}

static bool read_state(uint32_t rank, struct rp_shared_look *look)
{
    struct rp_shared_rank *state = &rp_shared_side.all[rank];
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

/* The receiver is asked before the note, so that what the note says is not older. */
static uint32_t read_taken(const struct rp_message_note *note, bool *is_deaf)
{
    *is_deaf = rp_shared_is_deaf(note->dest);
    return atomic_load(&note->taken);
}

/* What it waits for: how many had come, or whether it was taken. */
static void read_object(struct rp_shared_look *look)
{
    bool is_deaf;

    if (look->wait == RP_SHARED_TAKER) {
        look->seen = read_taken(rp_shared_note(look->object), &is_deaf);
        look->relies = look->seen == RP_TAKEN_NEW && is_deaf;
        look->may_go_on = look->seen != RP_TAKEN_NOT && !look->relies;
    } else if (look->wait == RP_SHARED_MEETING || look->wait == RP_SHARED_DEAF) {
        look->seen = atomic_load(&rp_shared_meeting_at(look->object)->count);
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
 * Those to come are not earlier than the bound of their rank. */
static void look_at_note(const struct rp_message_note *note, struct rp_shared_look *look,
                         uint64_t *relied)
{
    bool is_deaf;
    uint32_t taken = read_taken(note, &is_deaf);

    if (taken == RP_TAKEN) {
        lower(&look->candidate, atomic_load(&note->taken_at));
    } else if (taken == RP_TAKEN_NEW && is_deaf) {
        lower(&look->fresh, note->stamp);
        if (relied)
            relied[note->dest / 64] |= UINT64_C(1) << note->dest % 64;
    } else if (taken != RP_TAKEN_NOT) {
        lower(&look->candidate, note->stamp);
    }
}

/* The first of several acts that may have come to pass already. */
static void look_at_acts(struct rp_shared_look *look, uint64_t *relied)
{
    for (uint64_t place = look->object; place != 0;
         place = atomic_load(&rp_shared_note(place)->also)) {
        const struct rp_message_note *note = rp_shared_note(place);
        const struct rp_shared_collective *meeting = rp_shared_meeting_at(note->meeting);
        if (note->meeting == 0)
            look_at_note(note, look, relied);
        else if (rp_shared_is_complete(meeting))
            lower(&look->candidate, atomic_load(&meeting->latest));
        else
            look->meets = true;
    }
}

/* The version is asked last: until then the rank has waited, and taken nothing out of its inbox. */
bool rp_shared_look_again(uint32_t rank, struct rp_shared_look *look, uint64_t *relied)
{
    struct rp_shared_rank *state = &rp_shared_side.all[rank];
    bool is_same = look->wait == RP_SHARED_DEAF || atomic_load(&state->inbox) == 0;

    if (look->wait == RP_SHARED_DEAF || look->wait == RP_SHARED_MEETING)
        is_same &= atomic_load(&rp_shared_meeting_at(look->object)->count) == look->seen;
    else if (look->wait == RP_SHARED_TAKER)
        is_same &= atomic_load(&rp_shared_note(look->object)->taken) == look->seen;
    else if (look->wait == RP_SHARED_ANY)
        look_at_acts(look, relied);
    if (look->relies && relied)
        relied[look->target / 64] |= UINT64_C(1) << look->target % 64;
    return atomic_load(&state->version) == look->version && is_same;
}

/* Bounds */

static void look_at_missing(uint32_t rank, const struct rp_shared_collective *meeting)
{
    struct rp_send_bound_rank *r = &others.ranks[rank];
    uint64_t *missing = &others.missing[rank * others.words];

    for (size_t i = 0; i < others.words; i++)
        missing[i] =
            atomic_load(&meeting->bits[i]) & ~atomic_load(&meeting->bits[others.words + i]);
    r->kind = RP_SEND_ALL;
    r->missing = missing;
    r->candidate = atomic_load(&meeting->latest);
}

/* Our own, which nobody changes but we. */
static void look_at_plan(const struct rp_shared_plan *plan, struct rp_shared_look *look)
{
    *look = (struct rp_shared_look){.clock = rp_shared_clock_of(rp_shared_side.rank),
                                    .waits = true,
                                    .version = atomic_load(&rp_shared_side.own->version),
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

    if (plan && rank == rp_shared_side.rank)
        look_at_plan(plan, look);
    else
        rp_shared_look(rank, look);
    *r = (struct rp_send_bound_rank){.clock = look->clock,
                                     .kind = RP_SEND_RUNS,
                                     .target = look->target,
                                     .candidate = look->candidate};
    if (!look->waits || look->may_go_on)
        return;
    if (look->wait == RP_SHARED_MEETING || look->wait == RP_SHARED_DEAF)
        look_at_missing(rank, rp_shared_meeting_at(look->object));
    else
        r->kind = look->wait == RP_SHARED_ANY ? RP_SEND_ANY : RP_SEND_ONE;
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
        r->candidate = look->candidate;
}

/* Ranks of other hosts */

static void copy_mirrors(void)
{
    _Atomic uint64_t *from = (_Atomic uint64_t *)(void *)rp_shared_copy(0);
    uint64_t *into = (uint64_t *)(void *)others.mirror;

    for (size_t i = 0; i < rp_shared_side.ranks * rp_shared_copy_size() / sizeof *into; i++)
        into[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
}

static void read_mirrors(void)
{
    uint64_t before = atomic_load_explicit(&rp_shared_shared()->mirrored, memory_order_acquire);

    while (before != others.mirrored) {
        copy_mirrors();
        atomic_thread_fence(memory_order_acquire);
        uint64_t after = atomic_load_explicit(&rp_shared_shared()->mirrored, memory_order_acquire);
        if (before % 2 == 0 && before == after)
            others.mirrored = before;
        else
            sched_yield();
        before = after;
    }
}

static bool is_deaf_in_mirror(uint32_t rank)
{
    const struct rp_shared_copy *m = mirror_of(rank);

    return rp_shared_is_away(rank) ? m->wait == RP_SHARED_DEAF || m->clock == RP_SEND_NEVER
                                   : rp_shared_is_deaf(rank);
}

/* Whether all are deaf that it relies on. It is asked before what was sent: so a rank that is deaf
 * has not looked at anything that is not counted. */
static bool are_deaf(const struct rp_shared_copy *m)
{
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        if ((m->relied[i / 64] >> i % 64 & 1) && !is_deaf_in_mirror(i))
            return false;
    return true;
}

/* Whether a rank that waits knew all that was told to it by the moments at which we know the
 * others. */
static bool is_believed(uint32_t rank)
{
    const struct rp_shared_copy *m = mirror_of(rank);

    if (m->wait == RP_SHARED_DEAF)
        return true;
    if (!m->is_believed || m->received < atomic_load(rp_shared_sent(rank)))
        return false;
    return !m->meets || (m->has_heard && m->heard >= atomic_load(&rp_shared_shared()->arrivals));
}

static void look_at_meeting_of(uint32_t rank)
{
    const struct rp_shared_collective *meeting =
        rp_shared_hold_meeting(mirror_of(rank)->comm, mirror_of(rank)->number);

    if (!meeting) /* it is over */
        return;
    look_at_missing(rank, meeting);
    rp_shared_let_go(meeting);
}

/* After all ranks of this host: who is missing at a meeting here comes later than the clock that
 * was read. */
static void look_at_mirror(uint32_t rank)
{
    const struct rp_shared_copy *m = mirror_of(rank);
    struct rp_send_bound_rank *r = &others.ranks[rank];

    others.looks[rank].waits = false;
    *r = (struct rp_send_bound_rank){.clock = m->clock,
                                     .kind = RP_SEND_RUNS,
                                     .target = (uint32_t)m->target,
                                     .candidate = m->candidate};
    bool is_firm = m->wait != RP_SHARED_RUNS && are_deaf(m);
    if (m->wait == RP_SHARED_RUNS || !is_believed(rank))
        return;
    if (m->wait == RP_SHARED_MEETING || m->wait == RP_SHARED_DEAF)
        look_at_meeting_of(rank);
    else if (m->wait == RP_SHARED_ANY)
        r->kind = RP_SEND_ANY;
    else if (is_firm)
        r->kind = RP_SEND_ONE;
    if (m->wait == RP_SHARED_ANY && !is_firm)
        lower(&r->candidate, m->fresh);
}

static void look_at_mirrors(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        if (rp_shared_is_away(i))
            look_at_mirror(i);
}

const uint64_t *rp_shared_bounds(const struct rp_shared_plan *plan)
{
    if (rp_shared_side.host_of)
        read_mirrors();
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        if (!rp_shared_is_away(i))
            look_at(i, plan);
    if (rp_shared_side.host_of)
        look_at_mirrors();
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        look_at_again(i);
    rp_send_bounds(others.ranks, rp_shared_side.ranks, rp_shared_side.latency, rp_shared_side.ranks,
                   others.bounds);
    return others.bounds;
}

const uint64_t *rp_shared_knot(struct rp_deadlock_cycle *knot)
{
    rp_deadlock_cycle_find(others.ranks, rp_shared_side.ranks, others.bounds, knot);
    return others.bounds;
}
