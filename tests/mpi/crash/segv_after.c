/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// exit: signal 11
// about: rank 0 writes to an invalid address after wildcard traffic, while the others block in a
//     receive
#include "traffic.h"

static int *volatile nowhere;

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    traffic();
    if (check.rank == 0)
        *nowhere = 1;
    traffic_block();
    return 0;
}
