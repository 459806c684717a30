/* SPDX-License-Identifier: MIT */
/* Who this process is, and where it is in its program. */
#include "ft/ft_state.h"

#include <string.h>
#include <time.h>

#include "base/diagnostics.h"

struct rp_ft_state rp_ft = {.rank = -1, .iteration = -1, .in_setup = true};

void rp_ft_set_world(MPI_Comm world, const int *process_of)
{
    rp_ft.world = world;
    memcpy(rp_ft.process_of, process_of, (size_t)rp_ft.ranks * sizeof *process_of);
    rp_diagnostics_process("rank", rp_ft.rank);
}

double rp_ft_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
