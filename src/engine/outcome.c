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

bool rp_outcome_matched(int rc)
{
    return rc == MPI_SUCCESS || rp_outcome_class(rc) == MPI_ERR_TRUNCATE;
}

bool rp_outcome_some(int rc)
{
    return rc == MPI_SUCCESS || rp_outcome_class(rc) == MPI_ERR_IN_STATUS;
}

bool rp_outcome_cancelled(const struct rp_request *entry, const MPI_Status *status)
{
    int cancelled = 0;

    if (entry->flags & (RP_REQUEST_CANCELLING | RP_REQUEST_OTHER))
        rp_pmpi.Test_cancelled(status, &cancelled);
    return cancelled;
}
