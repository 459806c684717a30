/* SPDX-License-Identifier: MIT */
#include "entry/comms.h"

#include <stdlib.h>

#include "base/diagnostics.h"
#include "preload/constants.h"
#include "entry/engine.h"

struct rp_comms rp_comms;

void rp_comms_init(void)
{
    rp_comms_number(rp_constant.world);
}

static int count_peers(MPI_Comm comm)
{
    int between = 0, peers = 0;

    rp_pmpi.Comm_test_inter(comm, &between);
    (between ? rp_pmpi.Comm_remote_size : rp_pmpi.Comm_size)(comm, &peers);
    return peers;
}

static void add(MPI_Comm comm)
{
    if (rp_comms.count == rp_comms.room) {
        rp_comms.room = rp_comms.room ? rp_comms.room * 2 : 16;
        rp_comms.known = realloc(rp_comms.known, rp_comms.room * sizeof *rp_comms.known);
        if (!rp_comms.known)
            rp_bug(__FILE__, __LINE__, "out of memory for communicators");
    }
    rp_comms.known[rp_comms.count++] =
        (struct rp_comm_number){comm, rp_comms.next++, count_peers(comm)};
}

static struct rp_comm_number *find(MPI_Comm comm)
{
    for (size_t i = 0; i < rp_comms.count; i++)
        if (rp_comms.known[i].comm == comm)
            return &rp_comms.known[i];
    return NULL;
}

uint32_t rp_comms_expected(MPI_Comm comm)
{
    struct rp_comm_number *known = find(comm);

    if (rp_comms.are_unnumbered)
        return 0;
    return known ? known->number : rp_comms.next;
}

int rp_comms_peers(MPI_Comm comm)
{
    struct rp_comm_number *known = find(comm);

    if (rp_comms.are_unnumbered)
        return comm == rp_constant.comm_null ? 0 : count_peers(comm);
    return known ? known->peers : 0;
}

void rp_comms_stop_numbering(void)
{
    rp_comms.are_unnumbered = 1;
    rp_comms.last = rp_constant.comm_null;
}

uint32_t rp_comms_lookup(MPI_Comm comm)
{
    if (rp_comms.are_unnumbered)
        return 0;
    if (!find(comm))
        add(comm);
    rp_comms.last = comm;
    rp_comms.last_number = find(comm)->number;
    return rp_comms.last_number;
}

void rp_comms_forget(MPI_Comm comm)
{
    struct rp_comm_number *known = find(comm);

    if (!known || rp_comms.are_unnumbered)
        return;
    *known = rp_comms.known[--rp_comms.count];
    rp_comms.last = rp_comms.known[0].comm; /* MPI_COMM_WORLD is never freed */
    rp_comms.last_number = rp_comms.known[0].number;
}
