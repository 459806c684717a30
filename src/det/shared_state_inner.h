/* SPDX-License-Identifier: MIT */
/*
 * What sideband.c, side_meetings.c and side_bounds.c share with each other and with hosts.c, which
 * carries it to other hosts. Each host has memory of its own with room for all ranks; of ranks of
 * other hosts it has mirrors, which one thread of the host (its leader) writes. Notes for them are
 * put into the outbox.
 *
 * A mirror is what a rank was at a moment M of its host. It is believed if the rank had by then
 * received all that every host is known to have told it (hosts.c says why that is enough).
 */
#ifndef RP_SHARED_STATE_INNER_H
#define RP_SHARED_STATE_INNER_H

#include "det/shared_state.h"

enum { RP_SHARED_BUCKETS = 256 };

struct rp_shared_shared {
    _Atomic uint32_t reported;
    _Atomic uint64_t mismatch; /* the place of a meeting */
    struct {
        _Alignas(64) _Atomic uint32_t lock;
        uint64_t first;
    } bucket[RP_SHARED_BUCKETS];
    _Alignas(64) _Atomic uint32_t spare_lock;
    uint64_t spare, end; /* meetings that are over; how far the room was ever used */
    /* Several hosts: */
    _Alignas(64) _Atomic uint64_t outbox;
    _Alignas(64) _Atomic uint64_t arrivals; /* at meetings, that all other hosts are told */
    _Alignas(64) _Atomic uint32_t sleeps;   /* the leader does, and has to be woken */
    _Atomic uint32_t asks, answer;          /* the first host, whether a rank may report */
    _Atomic uint32_t is_cut_off;
    _Alignas(64) _Atomic uint64_t mirrored; /* odd while mirrors change */
};

enum { RP_SHARED_RUNS = 255 }; /* beside enum rp_shared_wait */

/* All words, to be read while they change; then `mirrored` tells. */
struct rp_shared_copy {
    _Atomic uint64_t clock, wait, target, candidate;
    _Atomic uint64_t comm, number; /* the meeting */
    _Atomic uint64_t fresh;        /* as in a look */
    _Atomic uint64_t meets;
    _Atomic uint64_t received,
        heard; /* from this host: what was sent to the rank; arrivals at meetings, by its host */
    _Atomic uint64_t is_believed, has_heard; /* the same, as far as other hosts are concerned */
    _Atomic uint64_t relied[];               /* a bit for each rank */
};

/* What was found of a rank, at the first look and, if it waits, at the second. */
struct rp_shared_look {
    bool waits;
    bool may_go_on; /* who waits for a taker: it may have been taken */
    bool relies;    /* it was not, because `target` is deaf */
    bool meets;     /* of the acts that it waits for, some are meetings that are not complete */
    uint32_t wait, target;
    uint32_t seen; /* how many had come to its meeting, or whether its message was taken */
    uint64_t clock, version, object;
    uint64_t candidate; /* at the second look: also the first of its acts */
    uint64_t fresh;     /* the time of the first that would be one, were its receiver not deaf */
};

/* All ranks are looked at once, then there is a full fence, then those that wait are looked at
 * again. If all that is unchanged, they waited at one moment between. `relied` (or NULL) gets a bit
 * for each rank whose deafness counted. */
void rp_shared_look(uint32_t rank, struct rp_shared_look *look);
bool rp_shared_look_again(uint32_t rank, struct rp_shared_look *look, uint64_t *relied);

/* side_bounds.c: in a process that has mapped the memory. */
enum rp_status rp_shared_bounds_start(struct rp_problem *why);

struct rp_shared_shared *rp_shared_shared(void);
struct rp_shared_copy *rp_shared_copy(uint32_t rank);
size_t rp_shared_copy_size(void);
_Atomic uint64_t *rp_shared_sent(uint32_t rank); /* what this host sent to a rank elsewhere; counted
                                                  before it is put into the outbox */
_Atomic uint64_t *rp_shared_clock_page(uint32_t rank);
size_t rp_shared_words(void);
uint64_t
rp_shared_notes_of(uint32_t rank,
                   uint64_t *end); /* the room for notes of a rank: where it begins and ends */
uint64_t rp_shared_meetings_room(uint64_t *end); /* likewise */
int rp_shared_wake_pipe(void);

/* For a list of notes that was taken out as a whole: oldest first. */
uint64_t rp_shared_turn_round(uint64_t newest);

/* Into the outbox. */
void rp_shared_push_out(struct rp_message_note *note);

static inline struct rp_shared_copy *rp_shared_copy_in(char *mirrors, uint32_t rank)
{
    return (struct rp_shared_copy *)(void *)(mirrors + rank * rp_shared_copy_size());
}

/* Meetings: side_meetings.c. One that is held stays; NULL: it is over, or has not begun. */
struct rp_shared_collective *rp_shared_hold_meeting(uint64_t comm, uint64_t number);
void rp_shared_let_go(const struct rp_shared_collective *meeting);

/* Of ranks elsewhere. */
void rp_shared_deliver(uint32_t dest, struct rp_message_note *note);
void rp_shared_arrive(uint64_t comm, uint64_t number, const uint64_t *members, uint32_t size,
                      const struct rp_shared_call *call, uint64_t clock);
bool rp_shared_add_sites(uint32_t rank, const void *bytes, size_t length);
void rp_shared_told(struct rp_shared_collective *meeting); /* all hosts, of an arrival here */

#endif
