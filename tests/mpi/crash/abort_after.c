/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// exit: 7
// about: rank 0 calls MPI_Abort(MPI_COMM_WORLD, 7) after wildcard traffic, while the others block
//     in a receive
#include "traffic.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    traffic();
    if (check.rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    traffic_block();
    return 0;
}
