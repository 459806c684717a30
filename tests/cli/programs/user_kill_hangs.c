/* SPDX-License-Identifier: MIT */
/* usage: HOW...: messages, after which each rank hangs in the way that its argument names. */
#include "traffic.h"
#include <unistd.h>

/* How each rank waits for what nobody sends: any, named, some, poll or barrier; or it ends unseen:
 * exit. */
static void hang(const char *how)
{
    MPI_Request request[2];
    int peer = (check.rank + 1) % check.size, index, flag = 0;
    switch (how[0]) {
    case 'a':
        traffic_block();
        break;
    case 'n':
        MPI_Recv(NULL, 0, MPI_LONG, peer, TRAFFIC_TAG_NEVER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case 'e':
        _exit(7);
    case 'b':
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case 's':
        MPI_Irecv(NULL, 0, MPI_LONG, MPI_ANY_SOURCE, TRAFFIC_TAG_NEVER, MPI_COMM_WORLD,
                  &request[0]);
        MPI_Irecv(NULL, 0, MPI_LONG, peer, TRAFFIC_TAG_LAST, MPI_COMM_WORLD, &request[1]);
        MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
        break;
    default:
        while (!flag)
            MPI_Iprobe(MPI_ANY_SOURCE, TRAFFIC_TAG_NEVER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    traffic();
    hang(argv[1 + check.rank]);
    return 0;
}
