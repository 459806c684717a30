/* SPDX-License-Identifier: MIT */
// ranks: 2
// native: same
// clocks: 1
// refuses: MPI_Isendrecv
// about: with clocks, an Isendrecv that names its partner: MPICH 4.0 does not tell how much it received
#include "../check.h"

int main(int argc, char **argv)
{
    long out = 1, in = 0;
    MPI_Request request;

    check_start(&argc, &argv);
#if MPI_VERSION >= 4
    MPI_Isendrecv(&out, 1, MPI_LONG, 1 - check.rank, 1, &in, 1, MPI_LONG, 1 - check.rank, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return check_end();
#else
    (void)out, (void)in, (void)request;
    return check_skip();
#endif
}
