/* SPDX-License-Identifier: MIT */
/*
 * Collective calls under way: a table by communicator and number, in the memory that all share.
 * Whoever comes first opens a meeting; whoever leaves last, when all hosts have been told of those
 * who came here, gives its room back.
 *
 * The first call is kept, and each that comes is compared with it. Who calls something else does
 * not come: nobody passes then, and whoever looks finds the mismatch.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "det/shared_state_inner.h"

static void lock(_Atomic uint32_t *one)
{
    while (atomic_exchange_explicit(one, 1, memory_order_acquire) != 0)
        sched_yield();
}

static void unlock(_Atomic uint32_t *one)
{
    atomic_store_explicit(one, 0, memory_order_release);
}

static uint64_t meeting_size(void)
{
    return (sizeof(struct rp_shared_collective) + 2 * rp_shared_words() * sizeof(uint64_t) + 63) /
           64 * 64;
}

static uint64_t new_meeting(void)
{
    struct rp_shared_shared *shared = rp_shared_shared();
    uint64_t last, first = rp_shared_meetings_room(&last);

    lock(&shared->spare_lock);
    uint64_t place = shared->spare;
    if (place != 0) {
        shared->spare = rp_shared_meeting_at(place)->next;
    } else {
        place = first + shared->end;
        shared->end += meeting_size();
    }
    unlock(&shared->spare_lock);
    if (place + meeting_size() > last) {
        rp_error("too many collective calls are under way at once");
        abort();
    }
    return place;
}

static uint32_t bucket_of(uint64_t comm, uint64_t number)
{
    return (uint32_t)((comm ^ comm >> 32 ^ number * 37) % RP_SHARED_BUCKETS);
}

static struct rp_shared_collective *find_meeting(uint64_t first, uint64_t comm, uint64_t number)
{
    for (uint64_t at = first; at != 0; at = rp_shared_meeting_at(at)->next)
        if (rp_shared_meeting_at(at)->comm == comm && rp_shared_meeting_at(at)->number == number)
            return rp_shared_meeting_at(at);
    return NULL;
}

static uint32_t count_here(const uint64_t *members)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        count += (members[i / 64] >> i % 64 & 1) && !rp_shared_is_away(i);
    return count;
}

static struct rp_shared_collective *open_meeting(uint64_t *first, uint64_t comm, uint64_t number,
                                                 const uint64_t *members, uint32_t size)
{
    uint64_t place = new_meeting();
    struct rp_shared_collective *meeting = rp_shared_meeting_at(place);

    memset(meeting, 0, meeting_size());
    meeting->comm = comm;
    meeting->number = number;
    meeting->size = size;
    meeting->here = rp_shared_side.host_of ? count_here(members) : size;
    for (size_t i = 0; i < rp_shared_words(); i++)
        atomic_store(&meeting->bits[i], members[i]);
    meeting->next = *first;
    *first = place;
    return meeting;
}

static void ring_all(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < rp_shared_side.ranks; i++)
        rp_futex_ring(&rp_shared_side.all[i].bell);
}

static bool calls_match(const struct rp_shared_call *one, const struct rp_shared_call *other)
{
    bool is_same_root = one->root == other->root || one->root == RP_SHARED_SOME_ROOT ||
                        other->root == RP_SHARED_SOME_ROOT;

    return one->function == other->function && one->op == other->op && is_same_root;
}

/* With the lock. A call that names the root is kept rather than one that does not. */
static bool join(struct rp_shared_collective *meeting, const struct rp_shared_call *call)
{
    bool is_first = atomic_load(&meeting->count) == 0;

    if (!is_first && !calls_match(&meeting->first, call)) {
        meeting->other = *call;
        atomic_store(&rp_shared_shared()->mismatch, rp_shared_place(meeting));
        ring_all();
        return false;
    }
    if (is_first || meeting->first.root == RP_SHARED_SOME_ROOT)
        meeting->first = *call;
    return true;
}

const struct rp_shared_collective *rp_shared_mismatch(void)
{
    uint64_t place = atomic_load_explicit(&rp_shared_shared()->mismatch, memory_order_acquire);

    return __builtin_expect(place != 0, 0) ? rp_shared_meeting_at(place) : NULL;
}

static void come(struct rp_shared_collective *meeting, uint32_t rank, uint64_t clock)
{
    if (clock > atomic_load(&meeting->latest))
        atomic_store(&meeting->latest, clock);
    atomic_fetch_or(&meeting->bits[rp_shared_words() + rank / 64], UINT64_C(1) << rank % 64);
    if (atomic_fetch_add(&meeting->count, 1) + 1 == meeting->size)
        ring_all();
}

/* With the lock of its bucket. */
static struct rp_shared_collective *find_or_open(uint32_t bucket, uint64_t comm, uint64_t number,
                                                 const uint64_t *members, uint32_t size)
{
    struct rp_shared_collective *meeting =
        find_meeting(rp_shared_shared()->bucket[bucket].first, comm, number);

    return meeting ? meeting
                   : open_meeting(&rp_shared_shared()->bucket[bucket].first, comm, number, members,
                                  size);
}

/* Other hosts learn of it before they learn of anything that this rank does later. */
static void tell_arrival(struct rp_shared_collective *meeting, const struct rp_shared_call *call,
                         uint64_t clock)
{
    struct rp_message_note *item = rp_shared_new_note();

    item->kind = RP_SHARED_ARRIVAL;
    item->source = rp_shared_side.rank;
    item->stamp = clock;
    item->home = rp_shared_place(meeting);
    item->comm = call->function | (uint64_t)call->root << 32;
    item->tag = (int32_t)call->op;
    item->from = call->said;
    item->site = call->site;
    rp_shared_push_out(item);
}

struct rp_shared_collective *rp_shared_meet(uint64_t comm, uint64_t number, const uint64_t *members,
                                            uint32_t size, const struct rp_shared_call *call)
{
    uint32_t bucket = bucket_of(comm, number);
    uint64_t now = rp_shared_now();

    lock(&rp_shared_shared()->bucket[bucket].lock);
    struct rp_shared_collective *meeting = find_or_open(bucket, comm, number, members, size);
    bool matches = join(meeting, call);
    if (matches)
        come(meeting, rp_shared_side.rank, now);
    meeting->untold += rp_shared_side.host_of && matches;
    unlock(&rp_shared_shared()->bucket[bucket].lock);
    if (rp_shared_side.host_of && matches)
        tell_arrival(meeting, call, now);
    atomic_thread_fence(memory_order_seq_cst); /* as above */
    return meeting;
}

static void unlink_meeting(uint64_t *first, struct rp_shared_collective *meeting)
{
    while (rp_shared_meeting_at(*first) != meeting)
        first = &rp_shared_meeting_at(*first)->next;
    *first = meeting->next;
}

/* Gives the lock of the bucket back; and the meeting, if nobody needs it any more. */
static void unlock_meeting(uint32_t bucket, struct rp_shared_collective *meeting)
{
    bool is_over = atomic_load(&meeting->left) == meeting->here && rp_shared_is_complete(meeting) &&
                   meeting->untold == 0;

    if (is_over)
        unlink_meeting(&rp_shared_shared()->bucket[bucket].first, meeting);
    unlock(&rp_shared_shared()->bucket[bucket].lock);
    if (!is_over)
        return;
    lock(&rp_shared_shared()->spare_lock);
    meeting->next = rp_shared_shared()->spare;
    rp_shared_shared()->spare = rp_shared_place(meeting);
    unlock(&rp_shared_shared()->spare_lock);
}

void rp_shared_leave(struct rp_shared_collective *meeting)
{
    uint32_t bucket = bucket_of(meeting->comm, meeting->number);

    lock(&rp_shared_shared()->bucket[bucket].lock);
    atomic_fetch_add(&meeting->left, 1);
    unlock_meeting(bucket, meeting);
}

/* For the leader */

void rp_shared_arrive(uint64_t comm, uint64_t number, const uint64_t *members, uint32_t size,
                      const struct rp_shared_call *call, uint64_t clock)
{
    uint32_t bucket = bucket_of(comm, number);

    lock(&rp_shared_shared()->bucket[bucket].lock);
    struct rp_shared_collective *meeting = find_or_open(bucket, comm, number, members, size);
    if (join(meeting, call))
        come(meeting, call->rank, clock);
    unlock_meeting(bucket, meeting);
}

void rp_shared_told(struct rp_shared_collective *meeting)
{
    uint32_t bucket = bucket_of(meeting->comm, meeting->number);

    lock(&rp_shared_shared()->bucket[bucket].lock);
    meeting->untold--;
    unlock_meeting(bucket, meeting);
}

/* For who looks at others: it stays as long as it is held. */

struct rp_shared_collective *rp_shared_hold_meeting(uint64_t comm, uint64_t number)
{
    uint32_t bucket = bucket_of(comm, number);

    lock(&rp_shared_shared()->bucket[bucket].lock);
    struct rp_shared_collective *meeting =
        find_meeting(rp_shared_shared()->bucket[bucket].first, comm, number);
    if (!meeting)
        unlock(&rp_shared_shared()->bucket[bucket].lock);
    return meeting;
}

void rp_shared_let_go(const struct rp_shared_collective *meeting)
{
    unlock(&rp_shared_shared()->bucket[bucket_of(meeting->comm, meeting->number)].lock);
}
