/* SPDX-License-Identifier: MIT */
/*
 * The memory: a page of what all share, with a table of the meetings that have begun; a page for each rank's clock; the ranks' states; room for meetings; and for each rank room for the notes of its
 * messages. Where there are several hosts, what is mirrored of others is between the states and the meetings. It is a sparse file: what was never used takes no memory. Notes go back to the rank that made them, so that it needs no more of them than were ever under way at once.
 */
#include "det/sideband.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/message.h"
#include "det/sideband_inner.h"
#include "match/order.h"

#define NOTES_ROOM (UINT64_C(256) << 20) /* for each rank */
#define MEETINGS_ROOM (UINT64_C(256) << 20)

struct rp_side rp_side;

static struct {
    struct rp_side_shared *shared;
    uint64_t clocks, states, mirrors, sent, meetings, notes; /* places */
    size_t page;
    uint64_t spare, end; /* notes */
    struct rp_order_rank *ranks;
    uint64_t *bounds;
    struct rp_side_look *looks;
    uint64_t *missing; /* of each rank, words for all */
    size_t words;
    char *mirror; /* as last read, and when */
    uint64_t mirrored;
    int wake; /* a pipe to the leader */
    uint32_t heard;
} side;

static uint64_t up(uint64_t size)
{
    return (size + side.page - 1) / side.page * side.page;
}

static size_t mirror_size(void)
{
    return sizeof(struct rp_side_mirror) + side.words * sizeof(uint64_t);
}

static struct rp_side_mirror *mirror_in(char *mirrors, uint32_t rank)
{
    return (struct rp_side_mirror *)(void *)(mirrors + rank * mirror_size());
}

struct rp_side_mirror *rp_side_mirror(uint32_t rank)
{
    return mirror_in(rp_side.memory + side.mirrors, rank);
}

/* As last read. */
static struct rp_side_mirror *mirror_of(uint32_t rank)
{
    return mirror_in(side.mirror, rank);
}

static uint64_t lay_out(uint32_t ranks)
{
    side.page = (size_t)sysconf(_SC_PAGESIZE);
    side.clocks = up(sizeof(struct rp_side_shared));
    side.states = side.clocks + ranks * side.page;
    side.mirrors = side.states + ranks * sizeof(struct rp_side_rank);
    side.words = (ranks + 63) / 64;
    side.sent = side.mirrors + ranks * mirror_size();
    side.meetings = up(side.sent + ranks * sizeof(uint64_t));
    side.notes = side.meetings + MEETINGS_ROOM;
    return side.notes + ranks * NOTES_ROOM;
}

static void wake_name(const char *name, char *pipe, size_t room)
{
    snprintf(pipe, room, "%s.wake", name);
}

static enum rp_status make_pipe(const char *name, struct rp_problem *why)
{
    char pipe[128];

    wake_name(name, pipe, sizeof pipe);
    if (mkfifo(pipe, 0600) == 0)
        return RP_OK;
    int error = errno;
    unlink(name);
    return rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", pipe, strerror(error));
}

enum rp_status rp_side_create(uint32_t ranks, bool is_alone, char *name, size_t room, struct rp_problem *why)
{
    const char *place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    uint64_t size = lay_out(ranks);
    struct rlimit limit;

    snprintf(name, room, "%s/reprise-det-XXXXXX", place);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size)
        return rp_fail(why, RP_SYSTEM, "%s: the limit for the size of files (ulimit -f) is %llu bytes, and %llu are needed", place, (unsigned long long)limit.rlim_cur, (unsigned long long)size);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", name, strerror(errno));
    int rc = ftruncate(fd, (off_t)size);
    close(fd);
    if (rc == 0)
        return is_alone ? RP_OK : make_pipe(name, why);
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

void rp_side_spread(const uint32_t *host_of, uint32_t hosts, uint32_t host)
{
    rp_side.host_of = host_of;
    rp_side.hosts = hosts;
    rp_side.host = host;
}

static bool make_mirrors(uint32_t ranks)
{
    side.mirror = calloc(ranks, mirror_size());
    for (uint32_t i = 0; side.mirror && i < ranks; i++)
        mirror_of(i)->wait = RP_SIDE_RUNS;
    return side.mirror;
}

static enum rp_status open_pipe(const char *name, struct rp_problem *why)
{
    char pipe[128];

    wake_name(name, pipe, sizeof pipe);
    side.wake = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (side.wake < 0)
        return rp_fail(why, RP_SYSTEM, "%s: cannot open: %s", pipe, strerror(errno));
    return make_mirrors(rp_side.ranks) ? RP_OK : rp_fail(why, RP_MEMORY, "out of memory");
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
    enum rp_status status = make_room(ranks, why);
    return status == RP_OK && rp_side.host_of ? open_pipe(name, why) : status;
}

void rp_side_remove(const char *name)
{
    char pipe[128];

    unlink(name);
    wake_name(name, pipe, sizeof pipe);
    if (rp_side.host_of)
        unlink(pipe);
}

/* The leader: it is woken when there is something for it and it does not look by itself. */
static void wake_leader(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load(&side.shared->sleeps) && atomic_exchange(&side.shared->sleeps, 0) && write(side.wake, "", 1) < 0 && errno != EAGAIN)
        rp_error("cannot wake the thread that speaks to other hosts: %s", strerror(errno));
}

void rp_side_finish(void)
{
    atomic_store(&rp_side.clock[1], RP_ORDER_NEVER - atomic_load(&rp_side.clock[0]));
    atomic_thread_fence(memory_order_seq_cst);
    if (rp_side.host_of)
        wake_leader();
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

/* Counted before, so that a count is never less than what is in the outbox. */
static void push_out(struct rp_letter_note *note)
{
    atomic_fetch_add(note->kind == RP_SIDE_ARRIVAL ? &side.shared->arrivals : rp_side_sent(note->dest), 1);
    push(&side.shared->outbox, note);
    wake_leader();
}

void rp_side_push(uint32_t dest, struct rp_letter_note *note)
{
    if (rp_side_is_away(dest)) {
        note->kind = RP_SIDE_LETTER;
        push_out(note);
        return;
    }
    push(&rp_side.all[dest].inbox, note);
    atomic_thread_fence(memory_order_seq_cst); /* the clock must not be seen to move on before, also if the program itself moves it */
    rp_bell_ring(&rp_side.all[dest].bell);
}

void rp_side_give_back(struct rp_letter_note *note)
{
    push(&rp_side.all[note->source].returned, note);
}

static void tell_away(struct rp_letter_note *copy, enum rp_taken taken, uint64_t at)
{
    if (atomic_load_explicit(&copy->taken, memory_order_relaxed) == taken)
        return;
    atomic_store_explicit(&copy->taken, taken, memory_order_relaxed);
    struct rp_letter_note *item = rp_side_new_note();
    item->kind = RP_SIDE_TAKES;
    item->source = rp_side.rank;
    item->dest = copy->source;
    item->home = copy->home;
    item->stamp = at;
    atomic_store_explicit(&item->taken, taken, memory_order_relaxed);
    push_out(item);
    if (taken == RP_TAKEN)
        rp_side_give_back(copy);
}

void rp_side_tell(struct rp_letter_note *note, enum rp_taken taken, uint64_t at)
{
    if (__builtin_expect(note->is_copy, 0)) {
        tell_away(note, taken, at);
        return;
    }
    uint32_t source = note->source;
    if (taken == RP_TAKEN)
        atomic_store(&note->taken_at, at);
    atomic_store(&note->taken, taken);
    atomic_thread_fence(memory_order_seq_cst);
    rp_bell_ring(&rp_side.all[source].bell);
}

uint64_t rp_side_take_mail(void)
{
    return rp_side_turn_round(atomic_exchange(&rp_side.own->inbox, 0));
}

uint64_t rp_side_turn_round(uint64_t newest)
{
    uint64_t oldest = 0;

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

void rp_side_listen(void)
{
    side.heard = rp_bell_listen(&rp_side.own->bell);
}

void rp_side_sleep(long microseconds)
{
    rp_bell_sleep(&rp_side.own->bell, side.heard, microseconds);
}

void rp_side_stop_listening(void)
{
    rp_bell_stop_listening(&rp_side.own->bell);
}

void rp_side_hunger(void)
{
    if (!rp_side.host_of)
        return;
    atomic_store(&rp_side.own->is_hungry, 1);
    wake_leader();
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
    struct rp_side_shared *shared = side.shared;

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
    return (uint32_t)((comm ^ comm >> 32 ^ number * 37) % RP_SIDE_BUCKETS);
}

static struct rp_meeting *find_meeting(uint64_t first, uint64_t comm, uint64_t number)
{
    for (uint64_t at = first; at != 0; at = meeting_at(at)->next)
        if (meeting_at(at)->comm == comm && meeting_at(at)->number == number)
            return meeting_at(at);
    return NULL;
}

static uint32_t count_here(const uint64_t *members)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < rp_side.ranks; i++)
        count += (members[i / 64] >> i % 64 & 1) && !rp_side_is_away(i);
    return count;
}

static struct rp_meeting *open_meeting(uint64_t *first, uint64_t comm, uint64_t number, const uint64_t *members, uint32_t size)
{
    uint64_t place = new_meeting();
    struct rp_meeting *meeting = meeting_at(place);

    memset(meeting, 0, meeting_size());
    meeting->comm = comm;
    meeting->number = number;
    meeting->size = size;
    meeting->here = rp_side.host_of ? count_here(members) : size;
    for (size_t i = 0; i < side.words; i++)
        atomic_store(&meeting->bits[i], members[i]);
    meeting->next = *first;
    *first = place;
    return meeting;
}

static void ring_all(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < rp_side.ranks; i++)
        rp_bell_ring(&rp_side.all[i].bell);
}

static void come(struct rp_meeting *meeting, uint32_t rank, uint64_t clock)
{
    if (clock > atomic_load(&meeting->latest))
        atomic_store(&meeting->latest, clock);
    atomic_fetch_or(&meeting->bits[side.words + rank / 64], UINT64_C(1) << rank % 64);
    if (atomic_fetch_add(&meeting->count, 1) + 1 == meeting->size)
        ring_all();
}

/* With the lock of its bucket. */
static struct rp_meeting *find_or_open(uint32_t bucket, uint64_t comm, uint64_t number, const uint64_t *members, uint32_t size)
{
    struct rp_meeting *meeting = find_meeting(side.shared->bucket[bucket].first, comm, number);

    return meeting ? meeting : open_meeting(&side.shared->bucket[bucket].first, comm, number, members, size);
}

/* Other hosts learn of it before they learn of anything that this rank does later. */
static void tell_arrival(struct rp_meeting *meeting, uint64_t clock)
{
    struct rp_letter_note *item = rp_side_new_note();

    item->kind = RP_SIDE_ARRIVAL;
    item->source = rp_side.rank;
    item->stamp = clock;
    item->home = rp_side_place(meeting);
    push_out(item);
}

struct rp_meeting *rp_side_meet(uint64_t comm, uint64_t number, const uint64_t *members, uint32_t size)
{
    uint32_t bucket = bucket_of(comm, number);
    uint64_t now = rp_side_now();

    lock(&side.shared->bucket[bucket].lock);
    struct rp_meeting *meeting = find_or_open(bucket, comm, number, members, size);
    come(meeting, rp_side.rank, now);
    meeting->untold += rp_side.host_of != NULL;
    unlock(&side.shared->bucket[bucket].lock);
    if (rp_side.host_of)
        tell_arrival(meeting, now);
    atomic_thread_fence(memory_order_seq_cst); /* as above */
    return meeting;
}

static void unlink_meeting(uint64_t *first, struct rp_meeting *meeting)
{
    while (meeting_at(*first) != meeting)
        first = &meeting_at(*first)->next;
    *first = meeting->next;
}

/* Gives the lock of the bucket back; and the meeting, if nobody needs it any more. */
static void unlock_meeting(uint32_t bucket, struct rp_meeting *meeting)
{
    bool is_over = atomic_load(&meeting->left) == meeting->here && rp_side_is_complete(meeting) && meeting->untold == 0;

    if (is_over)
        unlink_meeting(&side.shared->bucket[bucket].first, meeting);
    unlock(&side.shared->bucket[bucket].lock);
    if (!is_over)
        return;
    lock(&side.shared->spare_lock);
    meeting->next = side.shared->spare;
    side.shared->spare = rp_side_place(meeting);
    unlock(&side.shared->spare_lock);
}

void rp_side_leave(struct rp_meeting *meeting)
{
    uint32_t bucket = bucket_of(meeting->comm, meeting->number);

    lock(&side.shared->bucket[bucket].lock);
    atomic_fetch_add(&meeting->left, 1);
    unlock_meeting(bucket, meeting);
}

/* For the leader */

void rp_side_arrive(uint64_t comm, uint64_t number, const uint64_t *members, uint32_t size, uint32_t rank, uint64_t clock)
{
    uint32_t bucket = bucket_of(comm, number);

    lock(&side.shared->bucket[bucket].lock);
    struct rp_meeting *meeting = find_or_open(bucket, comm, number, members, size);
    come(meeting, rank, clock);
    unlock_meeting(bucket, meeting);
}

void rp_side_told(struct rp_meeting *meeting)
{
    uint32_t bucket = bucket_of(meeting->comm, meeting->number);

    lock(&side.shared->bucket[bucket].lock);
    meeting->untold--;
    unlock_meeting(bucket, meeting);
}

void rp_side_deliver(uint32_t dest, struct rp_letter_note *note)
{
    push(&rp_side.all[dest].inbox, note);
    atomic_thread_fence(memory_order_seq_cst);
    rp_bell_ring(&rp_side.all[dest].bell);
}

struct rp_side_shared *rp_side_shared(void)
{
    return side.shared;
}

_Atomic uint64_t *rp_side_sent(uint32_t rank)
{
    return (_Atomic uint64_t *)(rp_side.memory + side.sent) + rank;
}

_Atomic uint64_t *rp_side_clock_page(uint32_t rank)
{
    return clock_page(rank);
}

size_t rp_side_words(void)
{
    return side.words;
}

uint64_t rp_side_notes_of(uint32_t rank, uint64_t *end)
{
    *end = side.notes + (rank + 1) * NOTES_ROOM;
    return side.notes + rank * NOTES_ROOM;
}

struct rp_meeting *rp_side_meeting_at(uint64_t place)
{
    return meeting_at(place);
}

int rp_side_wake_pipe(void)
{
    return side.wake;
}

/* Looking at ranks */

bool rp_side_is_deaf(uint32_t rank)
{
    const struct rp_side_rank *state = &rp_side.all[rank];

    return rp_side_clock_of(rank) == RP_ORDER_NEVER || (atomic_load(&state->version) % 2 == 0 && atomic_load(&state->wait) == RP_SIDE_DEAF);
}

static void lower(uint64_t *time, uint64_t other)
{
    if (other < *time)
        *time = other;
}

static bool read_state(uint32_t rank, struct rp_side_look *look)
{
    struct rp_side_rank *state = &rp_side.all[rank];
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
static uint32_t read_taken(const struct rp_letter_note *note, bool *is_deaf)
{
    *is_deaf = rp_side_is_deaf(note->dest);
    return atomic_load(&note->taken);
}

/* What it waits for: how many had come, or whether it was taken. */
static void read_object(struct rp_side_look *look)
{
    bool is_deaf;

    if (look->wait == RP_SIDE_TAKER) {
        look->seen = read_taken(rp_side_note(look->object), &is_deaf);
        look->relies = look->seen == RP_TAKEN_NEW && is_deaf;
        look->may_go_on = look->seen != RP_TAKEN_NOT && !look->relies;
    } else if (look->wait == RP_SIDE_MEETING || look->wait == RP_SIDE_DEAF) {
        look->seen = atomic_load(&meeting_at(look->object)->count);
    }
}

void rp_side_look(uint32_t rank, struct rp_side_look *look)
{
    *look = (struct rp_side_look){.clock = rp_side_clock_of(rank), .fresh = RP_ORDER_NEVER};
    look->waits = read_state(rank, look);
    if (look->waits)
        read_object(look);
}

/* When a synchronous message can have been taken: by a receive that was under way at its time. Those to come are not earlier than the bound of their rank. */
static void look_at_note(const struct rp_letter_note *note, struct rp_side_look *look, uint64_t *relied)
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
static void look_at_acts(struct rp_side_look *look, uint64_t *relied)
{
    for (uint64_t place = look->object; place != 0; place = atomic_load(&rp_side_note(place)->also)) {
        const struct rp_letter_note *note = rp_side_note(place);
        const struct rp_meeting *meeting = meeting_at(note->meeting);
        if (note->meeting == 0)
            look_at_note(note, look, relied);
        else if (rp_side_is_complete(meeting))
            lower(&look->candidate, atomic_load(&meeting->latest));
        else
            look->meets = true;
    }
}

/* The version is asked last: until then the rank has waited, and taken nothing out of its inbox. */
bool rp_side_look_again(uint32_t rank, struct rp_side_look *look, uint64_t *relied)
{
    struct rp_side_rank *state = &rp_side.all[rank];
    bool is_same = look->wait == RP_SIDE_DEAF || atomic_load(&state->inbox) == 0;

    if (look->wait == RP_SIDE_DEAF || look->wait == RP_SIDE_MEETING)
        is_same &= atomic_load(&meeting_at(look->object)->count) == look->seen;
    else if (look->wait == RP_SIDE_TAKER)
        is_same &= atomic_load(&rp_side_note(look->object)->taken) == look->seen;
    else if (look->wait == RP_SIDE_ANY)
        look_at_acts(look, relied);
    if (look->relies && relied)
        relied[look->target / 64] |= UINT64_C(1) << look->target % 64;
    return atomic_load(&state->version) == look->version && is_same;
}

/* Bounds */

static void look_at_missing(uint32_t rank, const struct rp_meeting *meeting)
{
    struct rp_order_rank *r = &side.ranks[rank];
    uint64_t *missing = &side.missing[rank * side.words];

    for (size_t i = 0; i < side.words; i++)
        missing[i] = atomic_load(&meeting->bits[i]) & ~atomic_load(&meeting->bits[side.words + i]);
    r->kind = RP_ORDER_ALL;
    r->missing = missing;
    r->candidate = atomic_load(&meeting->latest);
}

/* Our own, which nobody changes but we. */
static void look_at_plan(const struct rp_side_plan *plan, struct rp_side_look *look)
{
    *look = (struct rp_side_look){.clock = rp_side_clock_of(rp_side.rank), .waits = true, .version = atomic_load(&rp_side.own->version), .wait = plan->wait, .target = plan->target,
                                  .candidate = plan->candidate, .object = plan->object, .fresh = RP_ORDER_NEVER};
    read_object(look);
}

static void look_at(uint32_t rank, const struct rp_side_plan *plan)
{
    struct rp_order_rank *r = &side.ranks[rank];
    struct rp_side_look *look = &side.looks[rank];

    if (plan && rank == rp_side.rank)
        look_at_plan(plan, look);
    else
        rp_side_look(rank, look);
    *r = (struct rp_order_rank){.clock = look->clock, .kind = RP_ORDER_RUNS, .target = look->target, .candidate = look->candidate};
    if (!look->waits || look->may_go_on)
        return;
    if (look->wait == RP_SIDE_MEETING || look->wait == RP_SIDE_DEAF)
        look_at_missing(rank, meeting_at(look->object));
    else
        r->kind = look->wait == RP_SIDE_ANY ? RP_ORDER_ANY : RP_ORDER_ONE;
}

static void look_at_again(uint32_t rank)
{
    struct rp_order_rank *r = &side.ranks[rank];
    struct rp_side_look *look = &side.looks[rank];

    if (!look->waits)
        return;
    if (!rp_side_look_again(rank, look, NULL))
        r->kind = RP_ORDER_RUNS;
    if (r->kind == RP_ORDER_ANY)
        r->candidate = look->candidate;
}

/* Ranks of other hosts */

static void copy_mirrors(void)
{
    _Atomic uint64_t *from = (_Atomic uint64_t *)(void *)(rp_side.memory + side.mirrors);
    uint64_t *into = (uint64_t *)(void *)side.mirror;

    for (size_t i = 0; i < rp_side.ranks * mirror_size() / sizeof *into; i++)
        into[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
}

static void read_mirrors(void)
{
    uint64_t before = atomic_load_explicit(&side.shared->mirrored, memory_order_acquire);

    while (before != side.mirrored) {
        copy_mirrors();
        atomic_thread_fence(memory_order_acquire);
        uint64_t after = atomic_load_explicit(&side.shared->mirrored, memory_order_acquire);
        if (before % 2 == 0 && before == after)
            side.mirrored = before;
        else
            sched_yield();
        before = after;
    }
}

static bool is_deaf_in_mirror(uint32_t rank)
{
    const struct rp_side_mirror *m = mirror_of(rank);

    return rp_side_is_away(rank) ? m->wait == RP_SIDE_DEAF || m->clock == RP_ORDER_NEVER : rp_side_is_deaf(rank);
}

/* Whether all are deaf that it relies on. It is asked before what was sent: so a rank that is deaf has not looked at anything that is not counted. */
static bool are_deaf(const struct rp_side_mirror *m)
{
    for (uint32_t i = 0; i < rp_side.ranks; i++)
        if ((m->relied[i / 64] >> i % 64 & 1) && !is_deaf_in_mirror(i))
            return false;
    return true;
}

/* Whether a rank that waits knew all that was told to it by the moments at which we know the others. */
static bool is_believed(uint32_t rank)
{
    const struct rp_side_mirror *m = mirror_of(rank);

    if (m->wait == RP_SIDE_DEAF)
        return true;
    if (!m->is_believed || m->received < atomic_load(rp_side_sent(rank)))
        return false;
    return !m->meets || (m->has_heard && m->heard >= atomic_load(&side.shared->arrivals));
}

static void look_at_meeting_of(uint32_t rank)
{
    const struct rp_side_mirror *m = mirror_of(rank);
    uint32_t bucket = bucket_of(m->comm, m->number);

    lock(&side.shared->bucket[bucket].lock);
    const struct rp_meeting *meeting = find_meeting(side.shared->bucket[bucket].first, m->comm, m->number);
    if (meeting) /* else it is over */
        look_at_missing(rank, meeting);
    unlock(&side.shared->bucket[bucket].lock);
}

/* After all ranks of this host: who is missing at a meeting here comes later than the clock that was read. */
static void look_at_mirror(uint32_t rank)
{
    const struct rp_side_mirror *m = mirror_of(rank);
    struct rp_order_rank *r = &side.ranks[rank];

    side.looks[rank].waits = false;
    *r = (struct rp_order_rank){.clock = m->clock, .kind = RP_ORDER_RUNS, .target = (uint32_t)m->target, .candidate = m->candidate};
    bool is_firm = m->wait != RP_SIDE_RUNS && are_deaf(m);
    if (m->wait == RP_SIDE_RUNS || !is_believed(rank))
        return;
    if (m->wait == RP_SIDE_MEETING || m->wait == RP_SIDE_DEAF)
        look_at_meeting_of(rank);
    else if (m->wait == RP_SIDE_ANY)
        r->kind = RP_ORDER_ANY;
    else if (is_firm)
        r->kind = RP_ORDER_ONE;
    if (m->wait == RP_SIDE_ANY && !is_firm)
        lower(&r->candidate, m->fresh);
}

static void look_at_mirrors(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < rp_side.ranks; i++)
        if (rp_side_is_away(i))
            look_at_mirror(i);
}

const uint64_t *rp_side_bounds(const struct rp_side_plan *plan)
{
    if (rp_side.host_of)
        read_mirrors();
    for (uint32_t i = 0; i < rp_side.ranks; i++)
        if (!rp_side_is_away(i))
            look_at(i, plan);
    if (rp_side.host_of)
        look_at_mirrors();
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < rp_side.ranks; i++)
        look_at_again(i);
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

static const struct rp_meeting *meeting_of(uint32_t rank)
{
    const struct rp_side_mirror *m = rp_side_mirror(rank);

    if (!rp_side_is_away(rank))
        return meeting_at(atomic_load(&rp_side.all[rank].object));
    return find_meeting(side.shared->bucket[bucket_of(m->comm, m->number)].first, m->comm, m->number);
}

static void put_wait(struct rp_buffer *text, uint32_t rank)
{
    const struct rp_side_rank *state = &rp_side.all[rank];
    const struct rp_meeting *meeting;
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
        if ((meeting = meeting_of(rank)))
            put_missing(text, meeting);
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
            put_wait(text, i);
        }
    }
}

/* The first host decides. */
static bool ask_first_host(void)
{
    struct timespec pause = {0, 1000000};

    atomic_store(&side.shared->asks, 1);
    wake_leader();
    while (atomic_load(&side.shared->answer) == 0)
        nanosleep(&pause, NULL);
    return atomic_load(&side.shared->answer) == 1;
}

bool rp_side_is_cut_off(void)
{
    return atomic_load_explicit(&side.shared->is_cut_off, memory_order_relaxed);
}

bool rp_side_may_report(void)
{
    bool is_first = atomic_exchange(&side.shared->reported, 1) == 0;

    return is_first && (rp_side.host == 0 || ask_first_host());
}
