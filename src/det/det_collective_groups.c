/* SPDX-License-Identifier: MIT */
/*
 * The ranks wait for each other before the real call, in which then nobody waits for long: so what
 * a rank waits for is known to the others.
 */
#include "det/det_collective_groups.h"

#include <string.h>

static void meet_all(struct rp_det_comm *c, struct rp_det_operation what)
{
    struct rp_shared_call call = rp_det_call(c, what);

    rp_det_collective_wait(c->id, ++c->collectives, c->members, c->member_count, &call);
}

void rp_det_collective_file(MPI_File file, struct rp_det_operation what)
{
    struct rp_det_comm *c = rp_det_file_comm(file);

    if (c)
        meet_all(c, what);
}

static uint32_t count_members(const uint64_t *members, size_t words)
{
    uint32_t count = 0;

    for (size_t i = 0; i < words; i++)
        count += (uint32_t)__builtin_popcountll(members[i]);
    return count;
}

/* The ranks of a group wait for each other. `key` is what only they know. */
static void meet_group(MPI_Group group, uint64_t key, const struct rp_shared_call *call)
{
    size_t words = rp_shared_words();
    uint64_t members[words];

    memset(members, 0, sizeof members);
    rp_det_add_members(members, group);
    for (size_t i = 0; i < words; i++)
        key = rp_det_mix(key, members[i]);
    if (members[rp_shared.rank / 64] >> rp_shared.rank % 64 & 1)
        rp_det_collective_wait(key, rp_det_count_of(key), members, count_members(members, words),
                               call);
}

void rp_det_collective_group(MPI_Comm comm, MPI_Group group, int tag, struct rp_det_operation what)
{
    const struct rp_det_comm *c = rp_det_comm_find(comm);
    struct rp_shared_call call = rp_det_call(c, what);

    meet_group(group, rp_det_mix(c ? c->id : 0, (uint64_t)tag + 11), &call);
}

/* Leaders of two sides wait for each other. */
static void meet_leader(uint32_t other, uint64_t tag, const struct rp_shared_call *call)
{
    uint32_t own = rp_shared.rank, first = own < other ? own : other,
             second = own < other ? other : own;
    size_t words = rp_shared_words();
    uint64_t members[words], key = rp_det_mix(rp_det_mix(first, second), tag + 13);

    memset(members, 0, sizeof members);
    members[own / 64] |= UINT64_C(1) << own % 64;
    members[other / 64] |= UINT64_C(1) << other % 64;
    rp_det_collective_wait(key, rp_det_count_of(key), members, 2, call);
}

/* The leaders of both sides wait for each other, and all ranks of each side for their leader,
 * before and after that. */
void rp_det_collective_leaders(MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag,
                               struct rp_det_operation what)
{
    struct rp_det_comm *c = rp_det_comm_find(local);

    if (!c || leader < 0 || leader >= c->size)
        return;
    what.root = leader;
    meet_all(c, what);
    const struct rp_det_comm *between = c->from == leader ? rp_det_comm_find(peer) : NULL;
    if (between && remote >= 0 && remote < between->size) {
        struct rp_shared_call call =
            rp_det_call(c, (struct rp_det_operation){what.function, RP_DET_NO_ROOT, 0});
        meet_leader(between->world[remote], (uint64_t)tag, &call);
    }
    meet_all(c, what);
}

void rp_det_collective_set(MPI_Group group, uint64_t tag, struct rp_det_operation what)
{
    struct rp_shared_call call = rp_det_call(NULL, what);

    meet_group(group, rp_det_mix(tag, 15), &call);
}

void rp_det_collective_sets(MPI_Group local, int leader, MPI_Group other, int remote, uint64_t tag,
                            struct rp_det_operation what)
{
    rp_det_collective_set(local, tag, what);
    if (rp_det_rank_in_job(local, leader) == rp_shared.rank) {
        uint32_t there = rp_det_rank_in_job(other, remote);
        struct rp_shared_call call = rp_det_call(NULL, what);
        if (there != UINT32_MAX)
            meet_leader(there, tag, &call);
    }
    rp_det_collective_set(local, tag, what);
}
