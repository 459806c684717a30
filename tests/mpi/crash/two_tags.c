/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// exit: nonzero
// about: one Waitall completes receives of two tags; a third, older than both, has taken a message
//     but is never asked for
#include "traffic.h"

enum { OTHER_TAG = TRAFFIC_TAG_LAST + 1 };

static void receive_and_die(void)
{
    long first = -1, second = -1, other = -1;
    MPI_Request requests[3];

    MPI_Irecv(&first, 1, MPI_LONG, MPI_ANY_SOURCE, TRAFFIC_TAG_LAST, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&second, 1, MPI_LONG, MPI_ANY_SOURCE, TRAFFIC_TAG_LAST, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&other, 1, MPI_LONG, MPI_ANY_SOURCE, OTHER_TAG, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(2, requests + 1, MPI_STATUSES_IGNORE);
    check_note(second);
    check_note(other);
    CHECK(second == 2 && other == 3, "second %ld, other %ld", second, other);
    check_partial();
    check_sleep_ms(100);
    abort();
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    traffic();
    if (check.rank == 0)
        receive_and_die();
    for (long value = 1; check.rank == 1 && value <= 3; value++)
        MPI_Send(&value, 1, MPI_LONG, 0, value < 3 ? TRAFFIC_TAG_LAST : OTHER_TAG, MPI_COMM_WORLD);
    traffic_block();
    return 0;
}
