/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// exit: hang
// timeout: 2
// about: after wildcard traffic all ranks block in MPI_Recv for ever
#include "traffic.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    traffic();
    traffic_block();
    return 0;
}
