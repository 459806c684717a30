/* SPDX-License-Identifier: MIT */
#include "preload/yield.h"

#include <mpi.h>

#include "preload/caller.h"

typedef int yield_function(void);

__thread bool rp_needs_no_yield;

__attribute__((visibility("default"))) int sched_yield(void);

int sched_yield(void)
{
    if (rp_needs_no_yield) {
        rp_needs_no_yield = false;
        return 0;
    }
    return RP_REAL(yield_function, "sched_yield")();
}

#ifndef OPEN_MPI

/*
 * MPICH over UCX waits without ever yielding. With more ranks than processors, a rank that waits
 * uses up its share of time while the rank that it waits for does not run. All its waits call this
 * function, which yields if nothing has arrived for a while. (Open MPI yields by itself.)
 */
typedef unsigned progress_function(void *worker);

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    enum { SPINS = 200 }; /* some microseconds */
    static __thread unsigned idle;
    unsigned done = RP_REAL(progress_function, "ucp_worker_progress")(worker);

    idle = done ? 0 : idle + 1;
    if (idle > SPINS)
        sched_yield();
    return done;
}

#endif
