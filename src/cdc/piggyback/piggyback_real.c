/* SPDX-License-Identifier: MIT */
/* The ways to end. */
#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "cdc/piggyback/piggyback_entries.h"
#include "preload/constants.h"
#include "peers/peer_reprise.h"
#include "reprise.h"

int rp_piggyback_inside, rp_piggyback_guards;

void rp_piggyback_end_job(int exit_status)
{
    struct timespec pause = {0, 100000000};

    nanosleep(&pause,
              NULL); /* some launchers drop what they have not forwarded yet when a job aborts */
    rp_pmpi.Abort(rp_constant.world, exit_status);
    _exit(exit_status);
}

void rp_piggyback_refuse(const char *function)
{
    rp_error("%s cannot be recorded with clocks", function);
    if (reprise_refused)
        reprise_refused(function);
    rp_piggyback_end_job(REPRISE_EXIT_UNSUPPORTED);
}
