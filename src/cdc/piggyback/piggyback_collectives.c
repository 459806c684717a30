/* SPDX-License-Identifier: MIT */
/*
 * Clocks in collective calls. The clocks of Clock Delta Compression know of messages alone; but a
 * process may learn by a collective call what others received, and then send. If its clock did not
 * show that, a message could have a smaller clock than one that it depends on, and a replay that
 * waits for smaller clocks would wait for ever. So the clock of everybody who takes part in a
 * collective call becomes larger than theirs: the exchange of clocks follows the call, on the same
 * communicator. So every such call has all wait for all, also where only some have to, such as for
 * the root: MPI leaves that open, and a replay can then do the same.
 */
#include "peers/peer_piggyback.h"
#include "cdc/piggyback/piggyback_entries.h"
#include "preload/constants.h"

void rp_sync_entering(MPI_Comm comm)
{
    if (rp_hooks)
        rp_hooks->entering(comm);
}

void rp_sync_unseen(int enters)
{
    if (rp_hooks)
        rp_hooks->unseen(enters);
}

static void adopt(uint64_t largest)
{
    if (largest >= reprise_piggyback_clock())
        reprise_piggyback_received(largest);
}

void rp_sync_all(MPI_Comm comm)
{
    uint64_t own = reprise_piggyback_clock(), all = own;

    rp_piggyback_inside++;
    int rc = rp_pmpi.Allreduce(&own, &all, 1, rp_constant.uint64, rp_constant.max, comm);
    rp_piggyback_inside--;
    if (rc == MPI_SUCCESS)
        adopt(all);
}

void rp_sync_made(MPI_Comm comm)
{
    if (rp_hooks && comm != rp_constant.comm_null)
        rp_hooks->made(comm);
}

void rp_sync_child(MPI_Comm comm)
{
    if (comm == rp_constant.comm_null)
        return;
    rp_sync_made(comm);
    rp_sync_all(comm);
}
