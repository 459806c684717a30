/* SPDX-License-Identifier: MIT */
/*
 * The memory: a page of what all share, with a table of the meetings that have begun; a page for each rank's clock; the ranks' states; room for meetings; and for each rank room for the notes of its
 * messages. It is a sparse file: what was never used takes no memory. Notes go back to the rank that made them, so that it needs no more of them than were ever under way at once.
 */
#include "det/sideband.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/message.h"
#include "match/order.h"

enum { BUCKETS = 256 };
#define NOTES_ROOM (UINT64_C(256) << 20) /* for each rank */
#define MEETINGS_ROOM (UINT64_C(256) << 20)

struct shared {
    _Atomic uint32_t reported;
    struct {
        _Alignas(64) _Atomic uint32_t lock;
        uint64_t first;
    } bucket[BUCKETS];
    _Alignas(64) _Atomic uint32_t spare_lock;
    uint64_t spare, end; /* meetings that are over; how far the room was ever used */
};

/* What was found of a rank. */
struct look {
    bool waits;
    uint64_t version, object;
    uint32_t wait;
    uint32_t seen; /* how many had come to its meeting, or whether its message was taken */
};

struct rp_side rp_side;

static struct {
    struct shared *shared;
    uint64_t clocks, states, meetings, notes; /* places */
    size_t page;
    uint64_t spare, end; /* notes */
    struct rp_order_rank *ranks;
    uint64_t *bounds;
    struct look *looks;
    uint64_t *missing; /* of each rank, words for all */
    size_t words;
} side;

static uint64_t up(uint64_t size)
{
    return (size + side.page - 1) / side.page * side.page;
}

static uint64_t lay_out(uint32_t ranks)
{
    side.page = (size_t)sysconf(_SC_PAGESIZE);
    side.clocks = up(sizeof(struct shared));
    side.states = side.clocks + ranks * side.page;
    side.meetings = up(side.states + ranks * sizeof(struct rp_side_rank));
    side.notes = side.meetings + MEETINGS_ROOM;
    side.words = (ranks + 63) / 64;
    return side.notes + ranks * NOTES_ROOM;
}

enum rp_status rp_side_create(uint32_t ranks, char *name, size_t room, struct rp_problem *why)
{
    const char *place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    uint64_t size = lay_out(ranks);

    snprintf(name, room, "%s/reprise-det-XXXXXX", place);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", name, strerror(errno));
    int rc = ftruncate(fd, (off_t)size);
    close(fd);
    if (rc == 0)
        return RP_OK;
    unlink(name);
    return rp_fail(why, RP_SYSTEM, "%s: cannot make it %llu bytes long: %s", name, (unsigned long long)size, strerror(errno));
}

static enum rp_status make_room(uint32_t ranks, struct rp_problem *why)
{
    side.ranks = calloc(ranks, sizeof *side.ranks);
    side.bounds = calloc(ranks, sizeof *side.bounds);
    side.looks = calloc(ranks, sizeof *side.looks);
    side.missing = calloc(ranks * side.words, sizeof *side.missing);
    if (!side.ranks || !side.bounds || !side.looks || !side.missing)
        return rp_fail(why, RP_MEMORY, "out of memory");
    return RP_OK;
}

static _Atomic uint64_t *clock_page(uint32_t rank)
{
    return (_Atomic uint64_t *)(rp_side.memory + side.clocks + rank * side.page);
}

enum rp_status rp_side_map(const char *name, uint32_t ranks, uint32_t rank, struct rp_problem *why)
{
    uint64_t size = lay_out(ranks);
    int fd = open(name, O_RDWR | O_CLOEXEC);
    void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

    if (memory == MAP_FAILED) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return rp_fail(why, RP_SYSTEM, "%s: cannot map %llu bytes: %s", name, (unsigned long long)size, strerror(error));
    }
    close(fd);
    rp_side.memory = memory;
    rp_side.ranks = ranks;
    rp_side.rank = rank;
    rp_side.all = (struct rp_side_rank *)(rp_side.memory + side.states);
    rp_side.own = &rp_side.all[rank];
    rp_side.clock = clock_page(rank);
    side.shared = memory;
    side.end = side.notes + rank * NOTES_ROOM;
    atomic_store(&rp_side.own->version, 1);
    return make_room(ranks, why);
}

void rp_side_remove(const char *name)
{
    unlink(name);
}

void rp_side_finish(void)
{
    atomic_store(&rp_side.clock[1], RP_ORDER_NEVER - atomic_load(&rp_side.clock[0]));
    atomic_thread_fence(memory_order_seq_cst);
}

/* Both parts only grow, so that what is read is never later than the clock is. A clock that was set to `never` may have counted on. */
uint64_t rp_side_clock_of(uint32_t rank)
{
    _Atomic uint64_t *clock = clock_page(rank);
    uint64_t added = atomic_load_explicit(&clock[1], memory_order_acquire), counted = atomic_load_explicit(&clock[0], memory_order_acquire);

    return added > RP_ORDER_NEVER / 2 ? RP_ORDER_NEVER : added + counted;
}

static void *counter_page; /* of the program */

void rp_side_leave_counter(void)
{
    uint64_t counted = rp_side_now();

    if (counter_page && mmap(counter_page, side.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == counter_page)
        *(uint64_t *)counter_page = counted;
}

enum rp_status rp_side_adopt_counter(void *page, size_t size, struct rp_problem *why)
{
    uint64_t counted = *(uint64_t *)page;

    if ((uintptr_t)page % side.page != 0 || size < side.page)
        return rp_fail(why, RP_UNSUPPORTED, "the program's counter is not a page of its own");
    atomic_store(&rp_side.clock[0], counted);
    /* Not by mremap itself: UCX stands before that, and loses the address. */
    if (syscall(SYS_mremap, rp_side.clock, (size_t)0, side.page, MREMAP_MAYMOVE | MREMAP_FIXED, page) != (long)page)
        return rp_fail(why, RP_SYSTEM, "the program's counter cannot be shared: %s", strerror(errno));
    counter_page = page;
    return RP_OK;
}

/* Messages */

static bool has_returned(void)
{
    if (side.spare == 0)
        side.spare = atomic_exchange(&rp_side.own->returned, 0);
    return side.spare != 0;
}

struct rp_letter_note *rp_side_new_note(void)
{
    uint64_t place = side.end;

    if (has_returned()) {
        place = side.spare;
        side.spare = rp_side_note(place)->next;
    } else {
        side.end += sizeof(struct rp_letter_note);
        if (side.end > side.notes + (rp_side.rank + 1) * NOTES_ROOM) {
            rp_error("more than %llu messages are under way that were not received", (unsigned long long)(NOTES_ROOM / sizeof(struct rp_letter_note)));
            abort();
        }
    }
    struct rp_letter_note *note = rp_side_note(place);
    memset(note, 0, sizeof *note);
    return note;
}

static void push(_Atomic uint64_t *list, struct rp_letter_note *note)
{
    uint64_t first = atomic_load_explicit(list, memory_order_relaxed);

    do
        note->next = first;
    while (!atomic_compare_exchange_weak(list, &first, rp_side_place(note)));
}

void rp_side_push(uint32_t dest, struct rp_letter_note *note)
{
    push(&rp_side.all[dest].inbox, note);
    atomic_thread_fence(memory_order_seq_cst); /* the clock must not be seen to move on before, also if the program itself moves it */
}

void rp_side_give_back(struct rp_letter_note *note)
{
    push(&rp_side.all[note->source].returned, note);
}

uint64_t rp_side_take_mail(void)
{
    uint64_t newest = atomic_exchange(&rp_side.own->inbox, 0), oldest = 0;

    while (newest != 0) {
        struct rp_letter_note *note = rp_side_note(newest);
        uint64_t next = note->next;
        note->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

/* Waiting */

void rp_side_block(const struct rp_side_plan *plan, const char *what)
{
    struct rp_side_rank *own = rp_side.own;

    atomic_store_explicit(&own->wait, plan->wait, memory_order_relaxed);
    atomic_store_explicit(&own->target, plan->target, memory_order_relaxed);
    atomic_store_explicit(&own->candidate, plan->candidate, memory_order_relaxed);
    atomic_store_explicit(&own->object, plan->object, memory_order_relaxed);
    strncpy(own->what, what, sizeof own->what - 1);
    atomic_fetch_add(&own->version, 1);
}

void rp_side_unblock(void)
{
    atomic_fetch_add(&rp_side.own->version, 1);
    atomic_thread_fence(memory_order_seq_cst);
}

/* Meetings */

static void lock(_Atomic uint32_t *one)
{
    while (atomic_exchange_explicit(one, 1, memory_order_acquire) != 0)
        sched_yield();
}

static void unlock(_Atomic uint32_t *one)
{
    atomic_store_explicit(one, 0, memory_order_release);
}

static struct rp_meeting *meeting_at(uint64_t place)
{
    return (struct rp_meeting *)(rp_side.memory + place);
}

static uint64_t meeting_size(void)
{
    return (sizeof(struct rp_meeting) + 2 * side.words * sizeof(uint64_t) + 63) / 64 * 64;
}

static uint64_t new_meeting(void)
{
    struct shared *shared = side.shared;

    lock(&shared->spare_lock);
    uint64_t place = shared->spare;
    if (place != 0) {
        shared->spare = meeting_at(place)->next;
    } else {
        place = side.meetings + shared->end;
        shared->end += meeting_size();
    }
    unlock(&shared->spare_lock);
    if (place + meeting_size() > side.notes) {
        rp_error("too many collective calls are under way at once");
        abort();
    }
    return place;
}

static uint32_t bucket_of(uint64_t comm, uint64_t number)
{
    return (uint32_t)((comm ^ comm >> 32 ^ number * 37) % BUCKETS);
}

static struct rp_meeting *find_meeting(uint64_t first, uint64_t comm, uint64_t number)
{
    for (uint64_t at = first; at != 0; at = meeting_at(at)->next)
        if (meeting_at(at)->comm == comm && meeting_at(at)->number == number)
            return meeting_at(at);
    return NULL;
}

static struct rp_meeting *open_meeting(uint64_t *first, uint64_t comm, uint64_t number, const uint64_t *members, uint32_t size)
{
    uint64_t place = new_meeting();
    struct rp_meeting *meeting = meeting_at(place);

    memset(meeting, 0, meeting_size());
    meeting->comm = comm;
    meeting->number = number;
    meeting->size = size;
    for (size_t i = 0; i < side.words; i++)
        atomic_store(&meeting->bits[i], members[i]);
    meeting->next = *first;
    *first = place;
    return meeting;
}

static void come(struct rp_meeting *meeting)
{
    uint64_t now = rp_side_now();

    if (now > atomic_load(&meeting->latest))
        atomic_store(&meeting->latest, now);
    atomic_fetch_or(&meeting->bits[side.words + rp_side.rank / 64], UINT64_C(1) << rp_side.rank % 64);
    atomic_fetch_add(&meeting->count, 1);
}

struct rp_meeting *rp_side_meet(uint64_t comm, uint64_t number, const uint64_t *members, uint32_t size)
{
    uint32_t bucket = bucket_of(comm, number);

    lock(&side.shared->bucket[bucket].lock);
    struct rp_meeting *meeting = find_meeting(side.shared->bucket[bucket].first, comm, number);
    if (!meeting)
        meeting = open_meeting(&side.shared->bucket[bucket].first, comm, number, members, size);
    come(meeting);
    unlock(&side.shared->bucket[bucket].lock);
    atomic_thread_fence(memory_order_seq_cst); /* as above */
    return meeting;
}

static void unlink_meeting(uint64_t *first, struct rp_meeting *meeting)
{
    while (meeting_at(*first) != meeting)
        first = &meeting_at(*first)->next;
    *first = meeting->next;
}

void rp_side_leave(struct rp_meeting *meeting)
{
    uint32_t bucket = bucket_of(meeting->comm, meeting->number);

    lock(&side.shared->bucket[bucket].lock);
    bool is_last = atomic_fetch_add(&meeting->left, 1) + 1 == meeting->size;
    if (is_last)
        unlink_meeting(&side.shared->bucket[bucket].first, meeting);
    unlock(&side.shared->bucket[bucket].lock);
    if (!is_last)
        return;
    lock(&side.shared->spare_lock);
    meeting->next = side.shared->spare;
    side.shared->spare = rp_side_place(meeting);
    unlock(&side.shared->spare_lock);
}

/* Bounds */

bool rp_side_is_deaf(uint32_t rank)
{
    const struct rp_side_rank *state = &rp_side.all[rank];

    return rp_side_clock_of(rank) == RP_ORDER_NEVER || (atomic_load(&state->version) % 2 == 0 && atomic_load(&state->wait) == RP_SIDE_DEAF);
}

static void look_at_meeting(uint32_t rank, uint64_t place)
{
    const struct rp_meeting *meeting = meeting_at(place);
    struct rp_order_rank *r = &side.ranks[rank];
    uint64_t *missing = &side.missing[rank * side.words];

    side.looks[rank].seen = atomic_load(&meeting->count);
    for (size_t i = 0; i < side.words; i++)
        missing[i] = atomic_load(&meeting->bits[i]) & ~atomic_load(&meeting->bits[side.words + i]);
    r->kind = RP_ORDER_ALL;
    r->missing = missing;
    r->candidate = atomic_load(&meeting->latest);
}

static void look_at_taker(uint32_t rank, uint64_t place)
{
    const struct rp_letter_note *note = rp_side_note(place);
    bool is_deaf = rp_side_is_deaf(side.ranks[rank].target);
    uint32_t taken = side.looks[rank].seen = atomic_load(&note->taken);

    if (taken == RP_TAKEN_NOT || (taken == RP_TAKEN_NEW && is_deaf))
        side.ranks[rank].kind = RP_ORDER_ONE;
}

static bool read_state(uint32_t rank, struct look *look, struct rp_order_rank *r)
{
    struct rp_side_rank *state = &rp_side.all[rank];
    uint64_t version = atomic_load(&state->version);

    look->version = version;
    if (version % 2 != 0)
        return false;
    look->wait = atomic_load(&state->wait);
    look->object = atomic_load(&state->object);
    r->target = atomic_load(&state->target);
    r->candidate = atomic_load(&state->candidate);
    return atomic_load(&state->version) == version;
}

/* Our own, which nobody changes but we. */
static bool read_plan(const struct rp_side_plan *plan, struct look *look, struct rp_order_rank *r)
{
    *look = (struct look){.version = atomic_load(&rp_side.own->version), .wait = plan->wait, .object = plan->object};
    r->target = plan->target;
    r->candidate = plan->candidate;
    return true;
}

/* What a rank waits for, if it does. */
static void look_at(uint32_t rank, const struct rp_side_plan *plan)
{
    struct rp_order_rank *r = &side.ranks[rank];
    struct look *look = &side.looks[rank];

    *r = (struct rp_order_rank){.clock = rp_side_clock_of(rank), .kind = RP_ORDER_RUNS};
    look->waits = plan && rank == rp_side.rank ? read_plan(plan, look, r) : read_state(rank, look, r);
    if (!look->waits)
        return;
    if (look->wait == RP_SIDE_MESSAGE)
        r->kind = RP_ORDER_ONE;
    else if (look->wait == RP_SIDE_ANY)
        r->kind = RP_ORDER_ANY;
    else if (look->wait == RP_SIDE_TAKER)
        look_at_taker(rank, look->object);
    else
        look_at_meeting(rank, look->object);
}

static void lower(uint64_t *time, uint64_t other)
{
    if (other < *time)
        *time = other;
}

/* When a synchronous message can have been taken: by a receive that was under way at its time. Those to come are not earlier than the bound of their rank. */
static uint64_t least_taken(const struct rp_letter_note *note)
{
    bool is_deaf = rp_side_is_deaf(note->dest);
    uint32_t taken = atomic_load(&note->taken);

    if (taken == RP_TAKEN)
        return atomic_load(&note->taken_at);
    return taken == RP_TAKEN_NOT || (taken == RP_TAKEN_NEW && is_deaf) ? RP_ORDER_NEVER : note->stamp;
}

/* The first of several acts that may have come to pass already. */
static uint64_t least_act(uint64_t place)
{
    uint64_t least = RP_ORDER_NEVER;

    for (; place != 0; place = atomic_load(&rp_side_note(place)->also)) {
        const struct rp_letter_note *note = rp_side_note(place);
        const struct rp_meeting *meeting = meeting_at(note->meeting);
        if (note->meeting == 0)
            lower(&least, least_taken(note));
        else if (rp_side_is_complete(meeting))
            lower(&least, atomic_load(&meeting->latest));
    }
    return least;
}

/* The version is asked last: until then the rank has waited, and taken nothing out of its inbox. */
static bool is_unchanged(uint32_t rank)
{
    struct rp_side_rank *state = &rp_side.all[rank];
    const struct look *look = &side.looks[rank];
    bool is_same = look->wait == RP_SIDE_DEAF || atomic_load(&state->inbox) == 0;

    if (look->wait == RP_SIDE_DEAF || look->wait == RP_SIDE_MEETING)
        is_same &= atomic_load(&meeting_at(look->object)->count) == look->seen;
    else if (look->wait == RP_SIDE_TAKER)
        is_same &= atomic_load(&rp_side_note(look->object)->taken) == look->seen;
    else if (look->wait == RP_SIDE_ANY)
        lower(&side.ranks[rank].candidate, least_act(look->object));
    return atomic_load(&state->version) == look->version && is_same;
}

const uint64_t *rp_side_bounds(const struct rp_side_plan *plan)
{
    for (uint32_t i = 0; i < rp_side.ranks; i++)
        look_at(i, plan);
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < rp_side.ranks; i++)
        if (side.looks[i].waits && !is_unchanged(i))
            side.ranks[i].kind = RP_ORDER_RUNS;
    rp_order_bounds(side.ranks, rp_side.ranks, rp_side.latency, rp_side.ranks, side.bounds);
    return side.bounds;
}

static void put_missing(struct rp_buffer *text, const struct rp_meeting *meeting)
{
    const char *between = "";

    for (uint32_t i = 0; i < rp_side.ranks; i++)
        if ((atomic_load(&meeting->bits[i / 64]) & ~atomic_load(&meeting->bits[side.words + i / 64])) >> i % 64 & 1) {
            rp_buffer_printf(text, "%s%u", between, i);
            between = ", ";
        }
}

static void put_wait(struct rp_buffer *text, const struct rp_side_rank *state)
{
    uint32_t target = atomic_load(&state->target);

    switch (atomic_load(&state->wait)) {
    case RP_SIDE_MESSAGE:
        rp_buffer_printf(text, "for a message from rank %u", target);
        break;
    case RP_SIDE_ANY:
        rp_buffer_printf(text, "for a message from any rank");
        break;
    case RP_SIDE_TAKER:
        rp_buffer_printf(text, "until rank %u receives its message", target);
        break;
    default:
        rp_buffer_printf(text, "for rank ");
        put_missing(text, meeting_at(atomic_load(&state->object)));
    }
}

void rp_side_describe(struct rp_buffer *text)
{
    for (uint32_t i = 0; i < rp_side.ranks; i++) {
        const struct rp_side_rank *state = &rp_side.all[i];
        if (rp_side_clock_of(i) == RP_ORDER_NEVER) {
            rp_buffer_printf(text, "\n  rank %u has ended", i);
        } else if (atomic_load(&state->version) % 2 != 0) {
            rp_buffer_printf(text, "\n  rank %u runs", i);
        } else {
            rp_buffer_printf(text, "\n  rank %u waits in %.*s ", i, (int)sizeof state->what, state->what);
            put_wait(text, state);
        }
    }
}

bool rp_side_may_report(void)
{
    return atomic_exchange(&side.shared->reported, 1) == 0;
}
