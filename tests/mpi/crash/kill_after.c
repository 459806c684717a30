/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// exit: signal 9
// vanishes: a rank ends unseen, and the launcher ends the others
// about: rank 0 kills itself (SIGKILL: no handler runs) after wildcard traffic, while the others
//     block in a receive
#include <signal.h>

#include "traffic.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    traffic();
    if (check.rank == 0)
        raise(SIGKILL);
    traffic_block();
    return 0;
}
