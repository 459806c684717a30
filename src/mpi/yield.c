/* SPDX-License-Identifier: MIT */
/*
 * A program that polls, and yields when the answer is no, does both as often in a replay as in the recorded run, whoever else wants the core by then. But in a replay the next answer is known
 * already, and who really waits sleeps: such a yield only lets the ranks take turns for nothing. It is a hint to the scheduler, so that nobody sees that it was not taken.
 */
#include "mpi/caller.h"
#include "mpi/entry.h"
#include "mpi/self.h"

typedef int yield_function(void);

RP_ENTRY int sched_yield(void);

int sched_yield(void)
{
    if (rp_self.needs_no_yield) {
        rp_self.needs_no_yield = 0;
        return 0;
    }
    return RP_REAL(yield_function, "sched_yield")();
}
