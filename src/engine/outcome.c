/* SPDX-License-Identifier: MIT */
#include "engine/outcome.h"

#include "mpi/engine.h"

int rp_outcome_class(int rc)
{
    int class = MPI_SUCCESS;

    if (rc != MPI_SUCCESS)
        rp_pmpi.Error_class(rc, &class);
    return class;
}

bool rp_outcome_was_cancelled(const MPI_Status *status)
{
    int cancelled = 0;

    rp_pmpi.Test_cancelled(status, &cancelled);
    return cancelled;
}
