/* SPDX-License-Identifier: MIT */
#include "entry/refuse.h"

#include <mpi.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "job/settings.h"
#include "peers/peer_reprise.h"
#include "preload/constants.h"
#include "preload/family.h"
#include "entry/engine.h"
#include "entry/thread_state.h"
#include "next.h"
#include "reprise.h"

void reprise_refused(const char *function)
{
    if (rp_engine && rp_engine->refused)
        rp_engine->refused(function);
}

__attribute__((noreturn)) static void end_refused(const char *function)
{
    reprise_refused(function);
    rp_end_job(REPRISE_EXIT_UNSUPPORTED);
}

bool rp_is_allowed(const char *function)
{
    return rp_list_has(rp_setting("REPRISE_ALLOW"), function);
}

void rp_refuse(const char *function)
{
    const char *mode = rp_setting("REPRISE_MODE");
    bool is_window = strncmp(function, "MPI_Win_", 8) == 0 ||
                     strncmp(function, "MPI", 3) != 0; /* or OpenSHMEM */

    if (rp_is_inside() || !mode || rp_is_allowed(function))
        return;
    if (is_window && strcmp(mode, "record") == 0 &&
        (rp_setting("REPRISE_RANKS") || rp_setting("REPRISE_SOLO")))
        return; /* a partial replay can */
    rp_error(
        "%s cannot be replayed yet%s, so the program is stopped here rather than replayed wrongly; "
        "'--allow %s' lets it through unrecorded%s",
        function, is_window ? " in this way" : "", function,
        is_window ? "; 'reprise record --ranks all' records it, and 'reprise replay' without a "
                    "launcher replays that"
                  : "");
    end_refused(function);
}

void rp_refuse_unforeseen(const char *function)
{
    if (rp_list_has(rp_setting("REPRISE_ALLOW"), function))
        return;
    rp_error("%s was called, but nothing that was loaded when MPI was initialised asks for it: to "
             "record it, link the program with what calls it",
             function);
    end_refused(function);
}

void rp_refuse_unknown(const char *function)
{
    rp_error("%s is not in the mpi.h that reprise was built with, so the program is stopped here "
             "rather than replayed wrongly; build reprise with this MPI, or let it through "
             "unrecorded with '--allow %s'",
             function, function);
    end_refused(function);
}

void rp_refuse_thread(const char *function)
{
    static atomic_int said;

    if (rp_is_inside() || !rp_engine || !rp_engine->refuses_threads)
        return;
    while (atomic_exchange(&said, 1)) /* other threads may get here too */
        pause();
    rp_error("%s was called by another thread than the one that initialised MPI, which asked for "
             "no thread level that allows it (MPI_THREAD_SERIALIZED or "
             "MPI_THREAD_MULTIPLE), or by a thread that a library made; 'reprise record --threads' "
             "records the calls of the program's threads all the same",
             function);
    end_refused(function);
}

void rp_end_job(int exit_status)
{
    struct timespec pause = {0, 100000000};

    nanosleep(&pause,
              NULL); /* some launchers drop what they have not forwarded yet when a job aborts */
    if (rp_is_openmpi() && &rp_thread_state != rp_owner && rp_owner)
        _exit(exit_status); /* its launcher ends the job; an abort by another thread makes it hang
                               now and then */
    if (rp_state.is_initialised && rp_pmpi.Abort)
        rp_pmpi.Abort(rp_constant.world, exit_status);
    _exit(exit_status);
}
