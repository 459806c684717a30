/* SPDX-License-Identifier: MIT */
#include "partial/partial_state.h"

#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "peers/peer_reprise.h"
#include "reprise.h"

__thread int rp_data_off = 1;
struct rp_partial rp_partial;

void rp_data_end_job(int exit_status)
{
    struct timespec pause = {0, 100000000};

    rp_data_off = 1;
    if (rp_partial.hooks)
        rp_partial.hooks->job_ends();
    nanosleep(&pause,
              NULL); /* some launchers drop what they have not forwarded yet when a job aborts */
    if (!rp_partial.is_feeding)
        rp_pmpi.Abort(rp_constant.world, exit_status);
    _exit(exit_status);
}

void rp_data_refuse(const char *function)
{
    rp_error("%s: a rank that calls it cannot be replayed alone yet, so the program is stopped "
             "here rather than replayed wrongly",
             function);
    if (reprise_refused)
        reprise_refused(function);
    rp_data_end_job(REPRISE_EXIT_UNSUPPORTED);
}
