/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// exit: 6
// about: rank 2, not the receiver, aborts with 6 in the middle of the traffic, while rank 0 polls
//     for more
#include "traffic.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    traffic();
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 2) {
        check_sleep_ms(100);
        MPI_Abort(MPI_COMM_WORLD, 6);
    }
    for (int flag = 0; !flag;) {
        MPI_Iprobe(MPI_ANY_SOURCE, TRAFFIC_TAG_NEVER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        sched_yield();
    }
    return 0;
}
