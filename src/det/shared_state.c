/* SPDX-License-Identifier: MIT */
/*
 * The memory: a page of what all share, with a table of the meetings that have begun; a page for
 * each rank's clock; the ranks' states; room for meetings; and for each rank room for the notes of
 * its messages; at last, room for the records of its call sites. Where there are several hosts,
 * what is mirrored of others is between the states and the meetings. It is a sparse file: what was
 * never used takes no memory. Notes go back to the rank that made them, so that it needs no more of
 * them than were ever under way at once.
 */
#include "det/shared_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "det/shared_state_inner.h"
#include "match/send_bounds.h"

#define NOTES_ROOM (UINT64_C(256) << 20) /* for each rank */
#define MEETINGS_ROOM (UINT64_C(256) << 20)
#define SITES_ROOM (UINT64_C(1) << 20) /* for each rank */

struct rp_shared_side rp_shared_side;

static struct {
    struct rp_shared_shared *shared;
    uint64_t clocks, states, mirrors, sent, meetings, notes, sites; /* places */
    size_t page;
    uint64_t spare, end; /* notes */
    size_t words;
    int wake; /* a pipe to the leader */
    uint32_t heard;
} side;

static uint64_t up(uint64_t size)
{
    return (size + side.page - 1) / side.page * side.page;
}

size_t rp_shared_copy_size(void)
{
    return sizeof(struct rp_shared_copy) + side.words * sizeof(uint64_t);
}

struct rp_shared_copy *rp_shared_copy(uint32_t rank)
{
    return rp_shared_copy_in(rp_shared_side.memory + side.mirrors, rank);
}

static uint64_t lay_out(uint32_t ranks)
{
    side.page = (size_t)sysconf(_SC_PAGESIZE);
    side.clocks = up(sizeof(struct rp_shared_shared));
    side.states = side.clocks + ranks * side.page;
    side.mirrors = side.states + ranks * sizeof(struct rp_shared_rank);
    side.words = (ranks + 63) / 64;
    side.sent = side.mirrors + ranks * rp_shared_copy_size();
    side.meetings = up(side.sent + ranks * sizeof(uint64_t));
    side.notes = side.meetings + MEETINGS_ROOM;
    side.sites = side.notes + ranks * NOTES_ROOM;
    return side.sites + ranks * SITES_ROOM;
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

enum rp_status rp_shared_create(uint32_t ranks, bool is_alone, char *name, size_t room,
                                struct rp_problem *why)
{
    const char *place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    uint64_t size = lay_out(ranks);
    struct rlimit limit;

    snprintf(name, room, "%s/reprise-det-XXXXXX", place);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size)
        return rp_fail(
            why, RP_SYSTEM,
            "%s: the limit for the size of files (ulimit -f) is %llu bytes, and %llu are needed",
            place, (unsigned long long)limit.rlim_cur, (unsigned long long)size);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", name, strerror(errno));
    int rc = ftruncate(fd, (off_t)size);
    close(fd);
    if (rc == 0)
        return is_alone ? RP_OK : make_pipe(name, why);
    unlink(name);
    return rp_fail(why, RP_SYSTEM, "%s: cannot make it %llu bytes long: %s", name,
                   (unsigned long long)size, strerror(errno));
}

void rp_shared_spread(const uint32_t *host_of, uint32_t hosts, uint32_t host)
{
    rp_shared_side.host_of = host_of;
    rp_shared_side.hosts = hosts;
    rp_shared_side.host = host;
}

static enum rp_status open_pipe(const char *name, struct rp_problem *why)
{
    char pipe[128];

    wake_name(name, pipe, sizeof pipe);
    side.wake = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (side.wake < 0)
        return rp_fail(why, RP_SYSTEM, "%s: cannot open: %s", pipe, strerror(errno));
    return RP_OK;
}

static _Atomic uint64_t *clock_page(uint32_t rank)
{
    return (_Atomic uint64_t *)(rp_shared_side.memory + side.clocks + rank * side.page);
}

enum rp_status rp_shared_map(const char *name, uint32_t ranks, uint32_t rank,
                             struct rp_problem *why)
{
    uint64_t size = lay_out(ranks);
    int fd = open(name, O_RDWR | O_CLOEXEC);
    void *memory =
        fd < 0 ? MAP_FAILED
               : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

    if (memory == MAP_FAILED) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return rp_fail(why, RP_SYSTEM, "%s: cannot map %llu bytes: %s", name,
                       (unsigned long long)size, strerror(error));
    }
    close(fd);
    rp_shared_side.memory = memory;
    rp_shared_side.ranks = ranks;
    rp_shared_side.rank = rank;
    rp_shared_side.all = (struct rp_shared_rank *)(rp_shared_side.memory + side.states);
    rp_shared_side.own = &rp_shared_side.all[rank];
    rp_shared_side.clock = clock_page(rank);
    side.shared = memory;
    side.end = side.notes + rank * NOTES_ROOM;
    atomic_store(&rp_shared_side.own->version, 1);
    enum rp_status status = rp_shared_bounds_start(why);
    return status == RP_OK && rp_shared_side.host_of ? open_pipe(name, why) : status;
}

void rp_shared_remove(const char *name)
{
    char pipe[128];

    unlink(name);
    wake_name(name, pipe, sizeof pipe);
    if (rp_shared_side.host_of)
        unlink(pipe);
}

/* The leader: it is woken when there is something for it and it does not look by itself. */
static void wake_leader(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load(&side.shared->sleeps) && atomic_exchange(&side.shared->sleeps, 0) &&
        write(side.wake, "", 1) < 0 && errno != EAGAIN)
        rp_error("cannot wake the thread that speaks to other hosts: %s", strerror(errno));
}

void rp_shared_finish(void)
{
    atomic_store(&rp_shared_side.clock[1], RP_SEND_NEVER - atomic_load(&rp_shared_side.clock[0]));
    atomic_thread_fence(memory_order_seq_cst);
    if (rp_shared_side.host_of)
        wake_leader();
}

/* Both parts only grow, so that what is read is never later than the clock is. A clock that was set
 * to `never` may have counted on. */
uint64_t rp_shared_clock_of(uint32_t rank)
{
    _Atomic uint64_t *clock = clock_page(rank);
    uint64_t added = atomic_load_explicit(&clock[1], memory_order_acquire),
             counted = atomic_load_explicit(&clock[0], memory_order_acquire);

    return added > RP_SEND_NEVER / 2 ? RP_SEND_NEVER : added + counted;
}

static void *counter_page; /* of the program */

void rp_shared_leave_counter(void)
{
    uint64_t counted = rp_shared_now();

    if (counter_page && mmap(counter_page, side.page, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == counter_page)
        *(uint64_t *)counter_page = counted;
}

enum rp_status rp_shared_adopt_counter(void *page, size_t size, struct rp_problem *why)
{
    uint64_t counted = *(uint64_t *)page;

    if ((uintptr_t)page % side.page != 0 || size < side.page)
        return rp_fail(why, RP_UNSUPPORTED, "the program's counter is not a page of its own");
    atomic_store(&rp_shared_side.clock[0], counted);
    /* Not by mremap itself: UCX stands before that, and loses the address. */
    if (syscall(SYS_mremap, rp_shared_side.clock, (size_t)0, side.page,
                MREMAP_MAYMOVE | MREMAP_FIXED, page) != (long)page)
        return rp_fail(why, RP_SYSTEM, "the program's counter cannot be shared: %s",
                       strerror(errno));
    counter_page = page;
    return RP_OK;
}

/* Messages */

static bool has_returned(void)
{
    if (side.spare == 0)
        side.spare = atomic_exchange(&rp_shared_side.own->returned, 0);
    return side.spare != 0;
}

struct rp_message_note *rp_shared_new_note(void)
{
    uint64_t place = side.end;

    if (has_returned()) {
        place = side.spare;
        side.spare = rp_shared_note(place)->next;
    } else {
        side.end += sizeof(struct rp_message_note);
        if (side.end > side.notes + (rp_shared_side.rank + 1) * NOTES_ROOM) {
            rp_error("more than %llu messages are under way that were not received",
                     (unsigned long long)(NOTES_ROOM / sizeof(struct rp_message_note)));
            abort();
        }
    }
    struct rp_message_note *note = rp_shared_note(place);
    memset(note, 0, sizeof *note);
    return note;
}

static void push(_Atomic uint64_t *list, struct rp_message_note *note)
{
    uint64_t first = atomic_load_explicit(list, memory_order_relaxed);

    do
        note->next = first;
    while (!atomic_compare_exchange_weak(list, &first, rp_shared_place(note)));
}

/* Counted before, so that a count is never less than what is in the outbox. */
void rp_shared_push_out(struct rp_message_note *note)
{
    atomic_fetch_add(note->kind == RP_SHARED_ARRIVAL ? &side.shared->arrivals
                                                     : rp_shared_sent(note->dest),
                     1);
    push(&side.shared->outbox, note);
    wake_leader();
}

void rp_shared_push(uint32_t dest, struct rp_message_note *note)
{
    if (rp_shared_is_away(dest)) {
        note->kind = RP_SHARED_LETTER;
        rp_shared_push_out(note);
        return;
    }
    push(&rp_shared_side.all[dest].inbox, note);
    atomic_thread_fence(memory_order_seq_cst); /* the clock must not be seen to move on before, also
                                                  if the program itself moves it */
    rp_futex_ring(&rp_shared_side.all[dest].bell);
}

void rp_shared_give_back(struct rp_message_note *note)
{
    push(&rp_shared_side.all[note->source].returned, note);
}

static void tell_away(struct rp_message_note *copy, enum rp_det_taken taken, uint64_t at)
{
    if (atomic_load_explicit(&copy->taken, memory_order_relaxed) == taken)
        return;
    atomic_store_explicit(&copy->taken, taken, memory_order_relaxed);
    struct rp_message_note *item = rp_shared_new_note();
    item->kind = RP_SHARED_TAKES;
    item->source = rp_shared_side.rank;
    item->dest = copy->source;
    item->home = copy->home;
    item->stamp = at;
    atomic_store_explicit(&item->taken, taken, memory_order_relaxed);
    rp_shared_push_out(item);
    if (taken == RP_TAKEN)
        rp_shared_give_back(copy);
}

void rp_shared_tell(struct rp_message_note *note, enum rp_det_taken taken, uint64_t at)
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
    rp_futex_ring(&rp_shared_side.all[source].bell);
}

uint64_t rp_shared_take_mail(void)
{
    return rp_shared_turn_round(atomic_exchange(&rp_shared_side.own->inbox, 0));
}

uint64_t rp_shared_turn_round(uint64_t newest)
{
    uint64_t oldest = 0;

    while (newest != 0) {
        struct rp_message_note *note = rp_shared_note(newest);
        uint64_t next = note->next;
        note->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

/* Call sites */

const uint8_t *rp_shared_sites_of(uint32_t rank, size_t *length)
{
    *length = (size_t)atomic_load_explicit(&rp_shared_side.all[rank].sites, memory_order_acquire);
    return (const uint8_t *)rp_shared_side.memory + side.sites + rank * SITES_ROOM;
}

bool rp_shared_add_sites(uint32_t rank, const void *bytes, size_t length)
{
    uint64_t used = atomic_load_explicit(&rp_shared_side.all[rank].sites, memory_order_relaxed);

    if (length > SITES_ROOM - used)
        return false;
    memcpy(rp_shared_side.memory + side.sites + rank * SITES_ROOM + used, bytes, length);
    atomic_store_explicit(&rp_shared_side.all[rank].sites, used + length, memory_order_release);
    return true;
}

bool rp_shared_put_sites(const void *bytes, size_t length)
{
    return rp_shared_add_sites(rp_shared_side.rank, bytes, length);
}

/* Waiting */

void rp_shared_block(const struct rp_shared_plan *plan, const char *what)
{
    struct rp_shared_rank *own = rp_shared_side.own;

    atomic_store_explicit(&own->wait, plan->wait, memory_order_relaxed);
    atomic_store_explicit(&own->target, plan->target, memory_order_relaxed);
    atomic_store_explicit(&own->candidate, plan->candidate, memory_order_relaxed);
    atomic_store_explicit(&own->object, plan->object, memory_order_relaxed);
    strncpy(own->what, what, sizeof own->what - 1);
    atomic_fetch_add(&own->version, 1);
}

void rp_shared_listen(void)
{
    side.heard = rp_futex_listen(&rp_shared_side.own->bell);
}

void rp_shared_sleep(long microseconds)
{
    rp_futex_sleep(&rp_shared_side.own->bell, side.heard, microseconds);
}

void rp_shared_stop_listening(void)
{
    rp_futex_stop_listening(&rp_shared_side.own->bell);
}

void rp_shared_hunger(void)
{
    if (!rp_shared_side.host_of)
        return;
    atomic_store(&rp_shared_side.own->is_hungry, 1);
    wake_leader();
}

void rp_shared_unblock(void)
{
    atomic_fetch_add(&rp_shared_side.own->version, 1);
    atomic_thread_fence(memory_order_seq_cst);
}

void rp_shared_deliver(uint32_t dest, struct rp_message_note *note)
{
    push(&rp_shared_side.all[dest].inbox, note);
    atomic_thread_fence(memory_order_seq_cst);
    rp_futex_ring(&rp_shared_side.all[dest].bell);
}

struct rp_shared_shared *rp_shared_shared(void)
{
    return side.shared;
}

_Atomic uint64_t *rp_shared_sent(uint32_t rank)
{
    return (_Atomic uint64_t *)(rp_shared_side.memory + side.sent) + rank;
}

_Atomic uint64_t *rp_shared_clock_page(uint32_t rank)
{
    return clock_page(rank);
}

size_t rp_shared_words(void)
{
    return side.words;
}

uint64_t rp_shared_meetings_room(uint64_t *end)
{
    *end = side.notes;
    return side.meetings;
}

uint64_t rp_shared_notes_of(uint32_t rank, uint64_t *end)
{
    *end = side.notes + (rank + 1) * NOTES_ROOM;
    return side.notes + rank * NOTES_ROOM;
}

int rp_shared_wake_pipe(void)
{
    return side.wake;
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

bool rp_shared_is_cut_off(void)
{
    return atomic_load_explicit(&side.shared->is_cut_off, memory_order_relaxed);
}

bool rp_shared_may_report(void)
{
    bool is_first = atomic_exchange(&side.shared->reported, 1) == 0;

    return is_first && (rp_shared_side.host == 0 || ask_first_host());
}

bool rp_shared_is_reported(void)
{
    return atomic_load_explicit(&side.shared->reported, memory_order_relaxed);
}
