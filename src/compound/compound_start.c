/* SPDX-License-Identifier: MIT */
#include "compound/compound_start.h"

#include <mpi.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "compound/bypass.h"
#include "peers/peer_reprise.h"
#include "preload/constants.h"
#include "preload/lost_status.h"
#include "next.h"
#include "reprise.h"

/* What this library asks, the program asks. The libraries behind it mend what MPI loses by their
 * own questions. */
void rp_lost_status_mend(void)
{
}

static void find_all(void)
{
    rp_bypass_end();
    rp_next_resolve();
    rp_constants_find();
}

void rp_compound_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_all);
}

void rp_compound_refuse(const char *function, const char *what)
{
    struct timespec pause = {0, 100000000};
    int rank;

    if (rp_pmpi.Comm_rank(rp_constant.world, &rank) == MPI_SUCCESS)
        rp_diagnostics_process("rank", rank);
    rp_error("%s of %s is not supported, so the program is stopped here", function, what);
    if (reprise_refused)
        reprise_refused(function);
    nanosleep(&pause,
              NULL); /* some launchers drop what they have not forwarded yet when a job aborts */
    rp_pmpi.Abort(rp_constant.world, REPRISE_EXIT_UNSUPPORTED);
    _exit(REPRISE_EXIT_UNSUPPORTED);
}
