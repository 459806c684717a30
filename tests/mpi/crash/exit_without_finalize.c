/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// exit: any
// vanishes: a rank ends unseen, and the launcher ends the others
// about: all ranks end by exit(0) or _exit(0) after wildcard traffic, without MPI_Finalize
#include <unistd.h>

#include "traffic.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    traffic();
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank % 2)
        _exit(0);
    exit(0);
}
