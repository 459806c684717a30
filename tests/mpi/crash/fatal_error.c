/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// exit: nonzero
// about: a truncated wildcard receive under MPI_ERRORS_ARE_FATAL ends the program after wildcard
//     traffic
#include "traffic.h"

int main(int argc, char **argv)
{
    long values[2] = {0, 0};

    check_start(&argc, &argv);
    traffic();
    if (check.rank == 1)
        MPI_Send(values, 2, MPI_LONG, 0, TRAFFIC_TAG_LAST, MPI_COMM_WORLD);
    if (check.rank == 0)
        MPI_Recv(values, 1, MPI_LONG, MPI_ANY_SOURCE, TRAFFIC_TAG_LAST, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(check.rank != 0, "a fatal error returned");
    traffic_block();
    return 0;
}
