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

void rp_det_collective_group(MPI_Comm comm, MPI_Group group, int tag, struct rp_det_operation what)
{
    const struct rp_det_comm *c = rp_det_comm_find(comm);
    size_t words = rp_shared_words();
    uint64_t members[words], key = rp_det_mix(c ? c->id : 0, (uint64_t)tag + 11);
    struct rp_shared_call call = rp_det_call(c, what);

    memset(members, 0, sizeof members);
    rp_det_add_members(members, group);
    for (size_t i = 0; i < words; i++)
        key = rp_det_mix(key, members[i]);
    if (members[rp_shared.rank / 64] >> rp_shared.rank % 64 & 1)
        rp_det_collective_wait(key, rp_det_count_of(key), members, count_members(members, words),
                               &call);
}

/* The leaders of both sides wait for each other, and all ranks of each side for their leader,
 * before and after that. */
void rp_det_collective_leaders(MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag,
                               struct rp_det_operation what)
{
    struct rp_det_comm *c = rp_det_comm_find(local);
    size_t words = rp_shared_words();

    if (!c || leader < 0 || leader >= c->size)
        return;
    what.root = leader;
    meet_all(c, what);
    const struct rp_det_comm *between = c->from == leader ? rp_det_comm_find(peer) : NULL;
    if (between && remote >= 0 && remote < between->size) {
        uint32_t own = rp_shared.rank, other = between->world[remote],
                 first = own < other ? own : other, second = own < other ? other : own;
        uint64_t members[words], key = rp_det_mix(rp_det_mix(first, second), (uint64_t)tag + 13);
        struct rp_shared_call call =
            rp_det_call(c, (struct rp_det_operation){what.function, RP_DET_NO_ROOT, 0});
        memset(members, 0, sizeof members);
        members[own / 64] |= UINT64_C(1) << own % 64;
        members[other / 64] |= UINT64_C(1) << other % 64;
        rp_det_collective_wait(key, rp_det_count_of(key), members, 2, &call);
    }
    meet_all(c, what);
}
