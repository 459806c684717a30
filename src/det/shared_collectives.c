/* SPDX-License-Identifier: MIT */
/*
 * A hash table by communicator and number, in the memory that all ranks of the host share. The rank
 * that arrives first makes an entry. The last one that leaves frees it, when all other hosts have
 * been sent the arrivals of this host.
 *
 * The entry keeps the first call, and each later call is compared with it. A rank whose call does
 * not match does not count as arrived: so no rank leaves, and any rank that looks finds the
 * mismatch.
 */
#include "det/shared_collectives.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"
#include "det/shared_messages.h"

static void lock(_Atomic uint32_t *one)
{
    while (atomic_exchange_explicit(one, 1, memory_order_acquire) != 0)
        sched_yield();
}

static void unlock(_Atomic uint32_t *one)
{
    atomic_store_explicit(one, 0, memory_order_release);
}

static uint64_t collective_size(void)
{
    return (sizeof(struct rp_shared_collective) + 2 * rp_shared_words() * sizeof(uint64_t) + 63) /
           64 * 64;
}

static uint64_t new_collective(void)
{
    struct rp_shared_common *shared = rp_shared_common();
    uint64_t last, first = rp_shared_collectives_room(&last);

    lock(&shared->spare_lock);
    uint64_t place = shared->spare;
    if (place != 0) {
        shared->spare = rp_shared_collective_at(place)->next;
    } else {
        place = first + shared->end;
        shared->end += collective_size();
    }
    unlock(&shared->spare_lock);
    if (place + collective_size() > last) {
        rp_error("too many collective calls are under way at once");
        abort();
    }
    return place;
}

static uint32_t bucket_of(uint64_t comm, uint64_t number)
{
    return (uint32_t)((comm ^ comm >> 32 ^ number * 37) % RP_SHARED_BUCKETS);
}

static struct rp_shared_collective *find_collective(uint64_t first, uint64_t comm, uint64_t number)
{
    for (uint64_t at = first; at != 0; at = rp_shared_collective_at(at)->next)
        if (rp_shared_collective_at(at)->comm == comm &&
            rp_shared_collective_at(at)->number == number)
            return rp_shared_collective_at(at);
    return NULL;
}

static uint32_t count_here(const uint64_t *members)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < rp_shared.ranks; i++)
        count += (members[i / 64] >> i % 64 & 1) && !rp_shared_is_remote(i);
    return count;
}

static struct rp_shared_collective *open_collective(uint64_t *first, uint64_t comm, uint64_t number,
                                                    const uint64_t *members, uint32_t size)
{
    uint64_t place = new_collective();
    struct rp_shared_collective *collective = rp_shared_collective_at(place);

    memset(collective, 0, collective_size());
    collective->comm = comm;
    collective->number = number;
    collective->size = size;
    collective->here = rp_shared.host_of ? count_here(members) : size;
    for (size_t i = 0; i < rp_shared_words(); i++)
        atomic_store(&collective->bits[i], members[i]);
    collective->next = *first;
    *first = place;
    return collective;
}

static void ring_all(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    uint32_t ranks = atomic_load(&rp_shared_common()->ranks);
    for (uint32_t i = 0; i < ranks; i++)
        rp_futex_ring(&rp_shared.all[i].futex);
}

static bool calls_match(const struct rp_shared_call *one, const struct rp_shared_call *other)
{
    bool is_same_root = one->root == other->root || one->root == RP_SHARED_SOME_ROOT ||
                        other->root == RP_SHARED_SOME_ROOT;

    return one->function == other->function && one->op == other->op && is_same_root;
}

/* With the lock. A call that names the root is kept rather than one that does not. */
static bool compare_call(struct rp_shared_collective *collective, const struct rp_shared_call *call)
{
    bool is_first = atomic_load(&collective->count) == 0;

    if (!is_first && !calls_match(&collective->first, call)) {
        collective->other = *call;
        atomic_store(&rp_shared_common()->mismatch, rp_shared_offset(collective));
        ring_all();
        return false;
    }
    if (is_first || collective->first.root == RP_SHARED_SOME_ROOT)
        collective->first = *call;
    return true;
}

const struct rp_shared_collective *rp_shared_mismatch(void)
{
    uint64_t place = atomic_load_explicit(&rp_shared_common()->mismatch, memory_order_acquire);

    return __builtin_expect(place != 0, 0) ? rp_shared_collective_at(place) : NULL;
}

static void add_arrival(struct rp_shared_collective *collective, uint32_t rank, uint64_t clock)
{
    if (clock > atomic_load(&collective->latest))
        atomic_store(&collective->latest, clock);
    atomic_fetch_or(&collective->bits[rp_shared_words() + rank / 64], UINT64_C(1) << rank % 64);
    if (atomic_fetch_add(&collective->count, 1) + 1 == collective->size)
        ring_all();
}

/* With the lock of its bucket. */
static struct rp_shared_collective *find_or_open(uint32_t bucket, uint64_t comm, uint64_t number,
                                                 const uint64_t *members, uint32_t size)
{
    struct rp_shared_collective *collective =
        find_collective(rp_shared_common()->bucket[bucket].first, comm, number);

    return collective ? collective
                      : open_collective(&rp_shared_common()->bucket[bucket].first, comm, number,
                                        members, size);
}

/* Other hosts learn of it before they learn of anything that this rank does later. */
static void publish_arrival(struct rp_shared_collective *collective,
                            const struct rp_shared_call *call, uint64_t clock)
{
    struct rp_shared_message *item = rp_shared_message_new();

    item->kind = RP_SHARED_ITEM_ARRIVAL;
    item->source = rp_shared.rank;
    item->stamp = clock;
    item->home = rp_shared_offset(collective);
    item->comm = call->function | (uint64_t)call->root << 32;
    item->tag = (int32_t)call->op;
    item->from = call->said;
    item->site = call->site;
    rp_shared_outbox_put(item);
}

struct rp_shared_collective *rp_shared_collective_arrive(uint64_t comm, uint64_t number,
                                                         const uint64_t *members, uint32_t size,
                                                         const struct rp_shared_call *call)
{
    uint32_t bucket = bucket_of(comm, number);
    uint64_t now = rp_shared_now();

    lock(&rp_shared_common()->bucket[bucket].lock);
    struct rp_shared_collective *collective = find_or_open(bucket, comm, number, members, size);
    bool matches = compare_call(collective, call);
    if (matches)
        add_arrival(collective, rp_shared.rank, now);
    collective->unforwarded += rp_shared.host_of && matches;
    unlock(&rp_shared_common()->bucket[bucket].lock);
    if (rp_shared.host_of && matches)
        publish_arrival(collective, call, now);
    atomic_thread_fence(memory_order_seq_cst); /* as above */
    return collective;
}

static void unlink_collective(uint64_t *first, struct rp_shared_collective *collective)
{
    while (rp_shared_collective_at(*first) != collective)
        first = &rp_shared_collective_at(*first)->next;
    *first = collective->next;
}

/* Gives the lock of the bucket back; and frees the collective, if nobody needs it any more. */
static void unlock_collective(uint32_t bucket, struct rp_shared_collective *collective)
{
    bool is_over = atomic_load(&collective->left) == collective->here &&
                   rp_shared_collective_is_complete(collective) && collective->unforwarded == 0;

    if (is_over)
        unlink_collective(&rp_shared_common()->bucket[bucket].first, collective);
    unlock(&rp_shared_common()->bucket[bucket].lock);
    if (!is_over)
        return;
    lock(&rp_shared_common()->spare_lock);
    collective->next = rp_shared_common()->spare;
    rp_shared_common()->spare = rp_shared_offset(collective);
    unlock(&rp_shared_common()->spare_lock);
}

void rp_shared_collective_leave(struct rp_shared_collective *collective)
{
    uint32_t bucket = bucket_of(collective->comm, collective->number);

    lock(&rp_shared_common()->bucket[bucket].lock);
    atomic_fetch_add(&collective->left, 1);
    unlock_collective(bucket, collective);
}

/* For the leader */

void rp_shared_collective_arrive_remote(uint64_t comm, uint64_t number, const uint64_t *members,
                                        uint32_t size, const struct rp_shared_call *call,
                                        uint64_t clock)
{
    uint32_t bucket = bucket_of(comm, number);

    lock(&rp_shared_common()->bucket[bucket].lock);
    struct rp_shared_collective *collective = find_or_open(bucket, comm, number, members, size);
    if (compare_call(collective, call))
        add_arrival(collective, call->rank, clock);
    unlock_collective(bucket, collective);
}

void rp_shared_collective_forwarded(struct rp_shared_collective *collective)
{
    uint32_t bucket = bucket_of(collective->comm, collective->number);

    lock(&rp_shared_common()->bucket[bucket].lock);
    collective->unforwarded--;
    unlock_collective(bucket, collective);
}

/* For who looks at others: it stays as long as it is held. */

struct rp_shared_collective *rp_shared_collective_lock(uint64_t comm, uint64_t number)
{
    uint32_t bucket = bucket_of(comm, number);

    lock(&rp_shared_common()->bucket[bucket].lock);
    struct rp_shared_collective *collective =
        find_collective(rp_shared_common()->bucket[bucket].first, comm, number);
    if (!collective)
        unlock(&rp_shared_common()->bucket[bucket].lock);
    return collective;
}

void rp_shared_collective_unlock(const struct rp_shared_collective *collective)
{
    unlock(&rp_shared_common()->bucket[bucket_of(collective->comm, collective->number)].lock);
}
