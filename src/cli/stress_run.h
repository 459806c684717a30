/* SPDX-License-Identifier: MIT */
/* One of many runs of a command: recorded and disturbed, in a process of its own, for a limited
 * time. */
#ifndef RP_STRESS_RUN_H
#define RP_STRESS_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct rp_stress_run {
    char **command;
    const char *directory; /* of the record; what the run writes goes to the same with .out and .err
                              behind */
    const char *mpi;       /* or NULL */
    uint64_t seed;
    uint64_t seconds;
};

struct rp_stress_end {
    int status;
    bool hung;        /* it did not end in time, and got a signal */
    bool interrupted; /* so were we */
    struct rp_buffer
        stall; /* of a run that hung: a line for each rank, what it waited for; to be freed */
};

struct rp_stress_end rp_stress_run(const struct rp_stress_run *run);

#endif
