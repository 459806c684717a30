/* SPDX-License-Identifier: MIT */
/*
 * What the ranks of a deterministic run tell each other beside MPI, in memory that those of a host
 * share (and hosts.h carries to others): the clock of each, what it waits for, a note of every
 * message (before the message itself is sent), and who has come to which collective call. No MPI.
 *
 * A rank's version is odd while it runs and even while it waits; what it waits for changes only
 * while it is odd. It empties its inbox only while it is odd. So whoever finds a version even and
 * the same before and after, and the inbox empty both times, knows that the rank waited all the
 * time, with no message on its way to it.
 */
#ifndef RP_SHARED_STATE_H
#define RP_SHARED_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/futex_wait.h"
#include "base/status.h"

/* Of a synchronous message; its receiver changes it, before its own clock moves on. */
enum rp_det_taken {
    RP_TAKEN_NEW,  /* the receiver has not looked yet */
    RP_TAKEN_OPEN, /* a receive under way may still turn out to take it */
    RP_TAKEN_NOT,  /* none under way will */
    RP_TAKEN,      /* at taken_at */
};

/* A note of a message. Places are offsets in the shared memory; 0 is none. */
struct rp_message_note {
    uint64_t next;
    uint64_t stamp;
    uint64_t comm; /* its number, the same in all ranks */
    int32_t tag;
    int32_t from;    /* the sender's rank in the communicator */
    uint32_t source; /* and in the job */
    uint32_t dest;   /* in the job */
    uint8_t is_synchronous;
    uint8_t is_copy;       /* the sender is on another host */
    uint8_t kind;          /* in the outbox: enum rp_shared_item */
    uint32_t site;         /* of the sender's sites: where it was sent */
    uint64_t own_next;     /* in the receiver's lists */
    _Atomic uint64_t also; /* another that its sender waits for at the same time */
    uint64_t meeting;      /* it is no message, but stands for a meeting in such a chain */
    _Atomic uint32_t taken;
    union {
        _Atomic uint64_t taken_at;
        uint64_t home; /* of a copy, and in the outbox: its place there */
    };
};

/* What ranks put into the outbox for other hosts. */
enum rp_shared_item {
    RP_SHARED_LETTER,
    RP_SHARED_TAKES,   /* what `taken` of a message from elsewhere has become; at `stamp` */
    RP_SHARED_ARRIVAL, /* at a meeting */
};

enum rp_shared_wait {
    RP_SHARED_MESSAGE, /* for a message of rank `target` */
    RP_SHARED_ANY,     /* for a message of any rank; `candidate` is the stamp of what it has, or
                        RP_SEND_NEVER; or for the first of the acts that `object` and what is
                        chained to it by `also` tell; 0: none */
    RP_SHARED_TAKER,   /* until rank `target` takes message `object` */
    RP_SHARED_MEETING, /* for others to come to meeting `object`; it looks after its inbox */
    RP_SHARED_DEAF,    /* the same, but it does not look, and has no receive under way */
};

/* What a rank waits for, or is about to. */
struct rp_shared_plan {
    enum rp_shared_wait wait;
    uint32_t target;
    uint64_t candidate, object;
};

enum { RP_SHARED_STORY = 512 };

struct rp_shared_rank {
    _Alignas(64) _Atomic uint64_t version;
    _Atomic uint32_t wait, target;
    _Atomic uint64_t candidate, object;
    char what[40];            /* the MPI function; changes while odd */
    _Atomic uint32_t is_idle; /* while odd: it is until others do something */
    _Alignas(64) _Atomic uint64_t inbox;
    _Alignas(64) _Atomic uint64_t returned; /* notes that receivers have done with */
    _Alignas(64) uint64_t digest, matches, answers;
    _Alignas(64) struct rp_futex
        bell; /* for this rank: a message, one of its own was taken, or a meeting is complete */
    _Atomic uint32_t is_hungry; /* it waits, and news of other hosts may help */
    _Atomic uint32_t is_told;   /* in a deadlock: what it waits for, in words */
    char story[RP_SHARED_STORY];
    char
        where[96]; /* " on NAME": the communicator of its collective call, if it waits inside MPI */
    _Atomic uint64_t sites; /* bytes of records of its call sites (format.md, section 4) */
};

/* What a rank calls as a collective call: function, operation and root must be the same in all
 * ranks. */
#define RP_SHARED_NO_ROOT UINT32_MAX
#define RP_SHARED_SOME_ROOT (UINT32_MAX - 1) /* of its group, which the others name */
#define RP_SHARED_BAD_ROOT (UINT32_MAX - 2)

struct rp_shared_call {
    uint32_t function, op; /* the same numbers in all ranks */
    uint32_t root;         /* in the job */
    int32_t said;          /* the root as the program says it */
    uint32_t rank, site;   /* who calls, and where: one of its sites */
};

/* A collective call. */
struct rp_shared_collective {
    uint64_t next, comm, number;
    _Atomic uint32_t count, left;
    uint32_t size, here;                /* members; those of this host */
    uint32_t untold;                    /* arrivals here that other hosts have not been sent yet */
    _Atomic uint64_t latest;            /* clock of those that came */
    struct rp_shared_call first, other; /* who came; whose call does not match, and has not come */
    _Atomic uint64_t bits[];            /* that have to come, then that have come, by rank */
};

struct rp_shared_side {
    uint32_t ranks, rank;
    struct rp_shared_rank *all, *own;
    _Atomic uint64_t *clock; /* own: [0] counts by itself in instrumented programs, [1] is added */
    char *memory;
    uint64_t latency;
    uint32_t hosts, host;
    const uint32_t *host_of; /* by rank; NULL: all are on one */
};

extern struct rp_shared_side rp_shared_side;

/* The rank that makes the memory, under a name that it finds; the others map it by that name; all
 * have, then it is removed. */
enum rp_status rp_shared_create(uint32_t ranks, bool is_alone, char *name, size_t room,
                                struct rp_problem *why);
enum rp_status rp_shared_map(const char *name, uint32_t ranks, uint32_t rank,
                             struct rp_problem *why);
void rp_shared_remove(const char *name);

/* Before it is mapped: on which host each rank is (kept); of several. */
void rp_shared_spread(const uint32_t *host_of, uint32_t hosts, uint32_t host);

static inline bool rp_shared_is_away(uint32_t rank)
{
    return rp_shared_side.host_of && rp_shared_side.host_of[rank] != rp_shared_side.host;
}

/* Time */

static inline uint64_t rp_shared_now(void)
{
    return atomic_load_explicit(&rp_shared_side.clock[0], memory_order_relaxed) +
           atomic_load_explicit(&rp_shared_side.clock[1], memory_order_relaxed);
}

static inline void rp_shared_tick(uint64_t units)
{
    atomic_store_explicit(&rp_shared_side.clock[1],
                          atomic_load_explicit(&rp_shared_side.clock[1], memory_order_relaxed) +
                              units,
                          memory_order_release);
}

static inline void rp_shared_raise(uint64_t to)
{
    uint64_t now = rp_shared_now();

    if (to > now)
        rp_shared_tick(to - now);
}

/* Nothing more is sent. */
void rp_shared_finish(void);

uint64_t rp_shared_clock_of(uint32_t rank);

/* The instrumented program's counter, a page of its own: from now on it is the shared clock. */
enum rp_status rp_shared_adopt_counter(void *page, size_t size, struct rp_problem *why);

/* In a child process: its counter is its own again. */
void rp_shared_leave_counter(void);

/* Messages */

static inline struct rp_message_note *rp_shared_note(uint64_t place)
{
    return (struct rp_message_note *)(rp_shared_side.memory + place);
}

static inline uint64_t rp_shared_place(const void *object)
{
    return (uint64_t)((const char *)object - rp_shared_side.memory);
}

static inline struct rp_shared_collective *rp_shared_meeting_at(uint64_t place)
{
    return (struct rp_shared_collective *)(rp_shared_side.memory + place);
}

struct rp_message_note *rp_shared_new_note(void);
void rp_shared_push(uint32_t dest, struct rp_message_note *note);
void rp_shared_give_back(struct rp_message_note *note);

/* The sender of a synchronous message learns what has become of it. After RP_TAKEN the note is not
 * the receiver's any more. */
void rp_shared_tell(struct rp_message_note *note, enum rp_det_taken taken, uint64_t at);

static inline bool rp_shared_has_mail(void)
{
    return atomic_load_explicit(&rp_shared_side.own->inbox, memory_order_acquire) != 0;
}

/* All notes in the inbox, oldest first, chained by `next`; 0: none. Only while odd. */
uint64_t rp_shared_take_mail(void);

/* Waiting */

void rp_shared_block(const struct rp_shared_plan *plan, const char *what);
void rp_shared_unblock(void);

static inline bool rp_shared_is_blocked(void)
{
    return atomic_load_explicit(&rp_shared_side.own->version, memory_order_relaxed) % 2 == 0;
}

/* To wait without polling: what tells nobody (clocks, and what others wait for) is found when the
 * time is over. Between listening and sleeping, look once more. */
void rp_shared_listen(void);
void rp_shared_sleep(long microseconds);
void rp_shared_stop_listening(void);

/* This rank has waited for a while; and it goes on. */
void rp_shared_hunger(void);

static inline void rp_shared_sate(void)
{
    if (rp_shared_side.host_of)
        atomic_store_explicit(&rp_shared_side.own->is_hungry, 0, memory_order_relaxed);
}

/* Whether another rank of this host runs: the earliest time at which it can send is its clock. */
static inline bool rp_shared_runs(uint32_t rank)
{
    return rank != rp_shared_side.rank && !rp_shared_is_away(rank) &&
           atomic_load_explicit(&rp_shared_side.all[rank].version, memory_order_relaxed) % 2 != 0;
}

/* Collective calls: number `number` on a communicator, of which `members` are `size` ranks; this
 * rank has come, unless its call does not match (rp_shared_mismatch). Left by all, it is gone. */
struct rp_shared_collective *rp_shared_meet(uint64_t comm, uint64_t number, const uint64_t *members,
                                            uint32_t size, const struct rp_shared_call *call);
void rp_shared_leave(struct rp_shared_collective *meeting);

/* A meeting of calls that do not match, which is never complete; NULL: none was found here. */
const struct rp_shared_collective *rp_shared_mismatch(void);

static inline bool rp_shared_is_complete(const struct rp_shared_collective *meeting)
{
    return atomic_load_explicit(&meeting->count, memory_order_acquire) == meeting->size;
}

/* The connection to another host broke, and that was said: nothing comes any more. */
bool rp_shared_is_cut_off(void);

/* Call sites. Adds records to those of this rank; false if there is no room. */
bool rp_shared_put_sites(const void *bytes, size_t length);
const uint8_t *rp_shared_sites_of(uint32_t rank, size_t *length);

/* Whether a rank has ended, or waits and has no receive under way: a message that it has not looked
 * at, if asked for after this, is taken by none that is. */
bool rp_shared_is_deaf(uint32_t rank);

/*
 * By rank, the earliest time at which it can still send. Valid until the next call. Messages that
 * were sent earlier are in the inbox when this returns. If this rank has a plan, it must keep to
 * it; with none (NULL) it is as it says.
 */
const uint64_t *rp_shared_bounds(const struct rp_shared_plan *plan);

/* The ranks that wait for each other for ever (match/deadlock_cycle.h), by the bounds that were
 * found last, which are given: a message that has come since, though of no use, would hide it. */
struct rp_deadlock_cycle;
const uint64_t *rp_shared_knot(struct rp_deadlock_cycle *knot);

/* In words, for people: who waits for whom in the knot, and then what every rank does. `put_comm`
 * says " on NAME" of a communicator's number, if it is known. */
struct rp_buffer;
typedef void rp_shared_put_comm(struct rp_buffer *text, uint64_t id);
void rp_shared_describe(struct rp_buffer *text, const struct rp_deadlock_cycle *knot,
                        const uint64_t *bounds, rp_shared_put_comm *put_comm);
void rp_shared_put_missing(struct rp_buffer *text,
                           const struct rp_shared_collective *meeting); /* who has not come yet */

/* Once for all ranks: whether it is this one that may speak. */
bool rp_shared_may_report(void);
bool rp_shared_is_reported(void); /* one of this host does, or has */

#endif
