/* SPDX-License-Identifier: MIT */
#include "mpi/comms.h"

#include <stdlib.h>

#include "base/message.h"
#include "mpi/constants.h"

struct rp_comms rp_comms;

void rp_comms_init(void)
{
    rp_comms_number(rp_constant.world);
}

static void add(MPI_Comm comm)
{
    if (rp_comms.count == rp_comms.room) {
        rp_comms.room = rp_comms.room ? rp_comms.room * 2 : 16;
        rp_comms.known = realloc(rp_comms.known, rp_comms.room * sizeof *rp_comms.known);
        if (!rp_comms.known)
            rp_bug(__FILE__, __LINE__, "out of memory for communicators");
    }
    rp_comms.known[rp_comms.count++] = (struct rp_comm_number){comm, rp_comms.next++};
}

uint32_t rp_comms_lookup(MPI_Comm comm)
{
    size_t i = 0;

    while (i < rp_comms.count && rp_comms.known[i].comm != comm)
        i++;
    if (i == rp_comms.count)
        add(comm);
    rp_comms.last = comm;
    rp_comms.last_number = rp_comms.known[i].number;
    return rp_comms.last_number;
}

void rp_comms_forget(MPI_Comm comm)
{
    for (size_t i = 0; i < rp_comms.count; i++)
        if (rp_comms.known[i].comm == comm) {
            rp_comms.known[i] = rp_comms.known[--rp_comms.count];
            rp_comms.last = rp_comms.known[0].comm;
            rp_comms.last_number = rp_comms.known[0].number;
            return;
        }
}
