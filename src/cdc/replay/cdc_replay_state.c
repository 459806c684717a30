/* SPDX-License-Identifier: MIT */
#include "cdc/replay/cdc_replay_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "cdc/model/cdc_lower_bound.h"

struct slot {
    _Alignas(64) _Atomic uint64_t version; /* odd: it is being changed */
    _Atomic uint64_t clock, least;
    _Atomic uint32_t waits;
    _Atomic uint32_t where;    /* in a collective call on this communicator, + 1 */
    _Atomic uint64_t arrivals; /* that it waits for */
    _Atomic int64_t unseen;    /* since when it is in a collective call of which nobody sees who is
                                  missing; 0: it is not */
};

static struct {
    struct slot *slots;
    _Atomic uint64_t *sent, *arrived; /* by source, then destination */
    _Atomic uint64_t *under_way_to; /* by destination: the sum of sent less arrived, so that nobody
                                       has to look at all pairs */
    _Atomic uint64_t *entered;      /* by communicator */
    uint32_t ranks, rank;
    uint64_t *versions, *bounds;
    struct rp_cdc_bound_rank *seen;
    bool *under_way; /* to this rank, by source */
} all;

static size_t size_for(uint32_t ranks)
{
    return ranks * sizeof(struct slot) + (2 * (size_t)ranks + 1) * ranks * sizeof(uint64_t) +
           (size_t)ranks * RP_CDC_REPLAY_COMMS * sizeof(uint64_t);
}

enum rp_status rp_cdc_replay_create(const char *path, uint32_t ranks, struct rp_problem *why)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, RP_PRIVATE_FILE);

    if (fd < 0)
        return rp_fail(why, RP_SYSTEM, "%s: cannot create: %s", path, strerror(errno));
    int error = posix_fallocate(fd, 0, (off_t)size_for(ranks));
    close(fd);
    return error ? rp_fail(why, RP_SYSTEM, "%s: cannot allocate: %s", path, strerror(error))
                 : RP_OK;
}

enum rp_status rp_cdc_replay_map(const char *path, uint32_t ranks, uint32_t rank,
                                 struct rp_problem *why)
{
    int fd = rp_open_regular(path, O_RDWR);
    void *memory = fd < 0 ? MAP_FAILED
                          : mmap(NULL, size_for(ranks), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (fd >= 0)
        close(fd);
    if (memory == MAP_FAILED)
        return rp_fail(why, RP_SYSTEM, "%s: cannot map: %s", path, strerror(errno));
    all.slots = memory;
    all.sent = (_Atomic uint64_t *)(all.slots + ranks);
    all.arrived = all.sent + (size_t)ranks * ranks;
    all.under_way_to = all.arrived + (size_t)ranks * ranks;
    all.entered = all.under_way_to + ranks;
    all.ranks = ranks;
    all.rank = rank;
    all.versions = calloc(ranks, sizeof *all.versions);
    all.bounds = calloc(ranks, sizeof *all.bounds);
    all.seen = calloc(ranks, sizeof *all.seen);
    all.under_way = calloc(ranks, sizeof *all.under_way);
    if (!all.versions || !all.bounds || !all.seen || !all.under_way)
        return rp_fail(why, RP_MEMORY, "out of memory");
    rp_cdc_replay_begin();
    rp_cdc_replay_set_least(RP_NEVER);
    rp_cdc_replay_end();
    return RP_OK;
}

void rp_cdc_replay_begin(void)
{
    atomic_fetch_add(&all.slots[all.rank].version, 1);
    atomic_thread_fence(memory_order_seq_cst);
}

void rp_cdc_replay_end(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    atomic_fetch_add(&all.slots[all.rank].version, 1);
    atomic_thread_fence(memory_order_seq_cst); /* before the message itself */
}

void rp_cdc_replay_set_clock(uint64_t clock)
{
    atomic_store(&all.slots[all.rank].clock, clock);
}

void rp_cdc_replay_set_least(uint64_t least)
{
    atomic_store(&all.slots[all.rank].least, least);
}

void rp_cdc_replay_set_unseen(int64_t since)
{
    atomic_store(&all.slots[all.rank].unseen, since);
}

void rp_cdc_replay_set_waits(bool waits)
{
    atomic_store(&all.slots[all.rank].waits, waits);
}

static _Atomic uint64_t *pair(_Atomic uint64_t *counts, uint32_t source, uint32_t dest)
{
    return &counts[(size_t)source * all.ranks + dest];
}

void rp_cdc_replay_count_sent(uint32_t dest)
{
    atomic_fetch_add(pair(all.sent, all.rank, dest), 1);
    atomic_fetch_add(&all.under_way_to[dest], 1);
}

void rp_cdc_replay_count_arrived(uint32_t source)
{
    atomic_fetch_add(pair(all.arrived, source, all.rank), 1);
    atomic_fetch_sub(&all.under_way_to[all.rank], 1);
}

static bool is_under_way(uint32_t source, uint32_t dest)
{
    return atomic_load(pair(all.sent, source, dest)) !=
           atomic_load(pair(all.arrived, source, dest));
}

void rp_cdc_replay_enter(uint32_t comm, uint64_t arrivals)
{
    rp_cdc_replay_begin();
    atomic_fetch_add(&all.entered[comm], 1);
    atomic_store(&all.slots[all.rank].arrivals, arrivals);
    atomic_store(&all.slots[all.rank].where, comm + 1);
    rp_cdc_replay_end();
}

void rp_cdc_replay_leave(void)
{
    rp_cdc_replay_begin();
    atomic_store(&all.slots[all.rank].where, 0);
    rp_cdc_replay_end();
}

/* Some rank has not arrived at the collective call yet. When this rank leaves the call, its clock
 * is at least that rank's. */
static bool is_in_collective(const struct slot *slot)
{
    enum { CERTAINLY_MS = 100 };
    uint32_t where = atomic_load(&slot->where);
    int64_t unseen = atomic_load(&slot->unseen);
    struct timespec now;

    if (unseen != 0) { /* if all ranks had arrived, this one would have left by now */
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - unseen > CERTAINLY_MS;
    }
    return where > 0 && atomic_load(&all.entered[where - 1]) < atomic_load(&slot->arrivals);
}

static void collect(void)
{
    for (uint32_t i = 0; i < all.ranks; i++) {
        const struct slot *slot = &all.slots[i];
        bool waits = atomic_load(&slot->waits) && atomic_load(&all.under_way_to[i]) == 0;
        all.seen[i] = (struct rp_cdc_bound_rank){atomic_load(&slot->clock),
                                                 waits ? atomic_load(&slot->least) : RP_NEVER,
                                                 waits || is_in_collective(slot)};
        all.under_way[i] = is_under_way(i, all.rank);
    }
}

const uint64_t *rp_cdc_replay_bounds(const bool **under_way)
{
    for (uint32_t i = 0; i < all.ranks; i++)
        if ((all.versions[i] = atomic_load(&all.slots[i].version)) % 2 != 0)
            return NULL;
    atomic_thread_fence(memory_order_seq_cst);
    collect();
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < all.ranks; i++)
        if (atomic_load(&all.slots[i].version) != all.versions[i])
            return NULL;
    rp_cdc_lower_bounds_find(all.seen, all.ranks, all.bounds);
    *under_way = all.under_way;
    return all.bounds;
}
