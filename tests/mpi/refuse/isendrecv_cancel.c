/* SPDX-License-Identifier: MIT */
// ranks: 2
// natively: 40
// refuses: MPI_Cancel of a request that MPI_Isendrecv
// about: MPI does not say what the cancellation of an exchange cancels; MPICH answers with an error
#include "../check.h"

int main(int argc, char **argv)
{
    long out = 1, in = 0;
    MPI_Request request;

    check_start(&argc, &argv);
#if CHECK_HAS_MPI_4
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Isendrecv(&out, 1, MPI_LONG, 1 - check.rank, 1, &in, 1, MPI_LONG, MPI_ANY_SOURCE, 1,
                  MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return check_end();
#else
    (void)out, (void)in, (void)request;
    return check_skip();
#endif
}
