/* SPDX-License-Identifier: MIT */
/* The ways to end. */
#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "envelope/letters.h"
#include "mpi/constants.h"
#include "mpi/refused.h"
#include "reprise.h"

int rp_envelope_inside, rp_envelope_guards;

void rp_envelope_end_job(int exit_status)
{
    struct timespec pause = {0, 100000000};

    nanosleep(&pause,
              NULL); /* some launchers drop what they have not forwarded yet when a job aborts */
    rp_pmpi.Abort(rp_constant.world, exit_status);
    _exit(exit_status);
}

void rp_envelope_refuse(const char *function)
{
    rp_error("%s cannot be recorded with clocks", function);
    if (reprise_refused)
        reprise_refused(function);
    rp_envelope_end_job(REPRISE_EXIT_UNSUPPORTED);
}
