/* SPDX-License-Identifier: MIT */
/* The real functions, as in mpi/next.c, and the ways to end. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/message.h"
#include "envelope/letters.h"
#include "mpi/constants.h"
#include "reprise.h"

int rp_envelope_inside, rp_envelope_guards;

void rp_next_find(const char *name, void *slot, size_t size)
{
    void *symbol = rp_library_symbol(name);

    if (symbol)
        memcpy(slot, &symbol, size);
}

void rp_next_missing(const char *name)
{
    rp_error("%s: the MPI library of this program does not have it, or could not be found", name);
    _exit(REPRISE_EXIT_INTERNAL);
}

void rp_envelope_end_job(int exit_status)
{
    struct timespec pause = {0, 100000000};

    nanosleep(&pause, NULL); /* some launchers drop what they have not forwarded yet when a job aborts */
    rp_pmpi.Abort(rp_constant.world, exit_status);
    _exit(exit_status);
}

void rp_envelope_refuse(const char *function)
{
    rp_error("%s cannot be recorded with clocks", function);
    rp_envelope_end_job(REPRISE_EXIT_UNSUPPORTED);
}
