/* SPDX-License-Identifier: MIT */
#include "engine/return_codes.h"

#include "preload/constants.h"
#include "entry/engine.h"

int rp_return_code_class(int rc)
{
    int class = MPI_SUCCESS;

    if (rc != MPI_SUCCESS)
        rp_pmpi.Error_class(rc, &class);
    return class;
}

bool rp_return_code_was_cancelled(const MPI_Status *status)
{
    int cancelled = 0;

    rp_pmpi.Test_cancelled(status, &cancelled);
    return cancelled;
}

bool rp_return_code_all_null(int count, const MPI_Request *requests)
{
    if (count < 0 || (count > 0 && !requests))
        return false; /* an error, which is the real call's to find */
    for (int i = 0; i < count; i++)
        if (requests[i] != rp_constant.request_null)
            return false;
    return true;
}

#ifdef OPEN_MPI
void rp_quiet_begin(void)
{
}

void rp_quiet_end(void)
{
}
#else
static MPI_Errhandler usual;
static int quiet; /* several threads may want it */

void rp_quiet_begin(void)
{
    if (quiet++ > 0)
        return;
    rp_pmpi.Comm_get_errhandler(rp_constant.world, &usual);
    rp_pmpi.Comm_set_errhandler(rp_constant.world, rp_constant.errors_return);
}

void rp_quiet_end(void)
{
    if (--quiet > 0)
        return;
    rp_pmpi.Comm_set_errhandler(rp_constant.world, usual);
    rp_pmpi.Errhandler_free(&usual);
}
#endif
