/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// exit: nonzero
// about: a wildcard receive has taken a message, a later named one the next, and the program dies
//     before it asks for the first
#include "traffic.h"

static void receive_both_and_die(void)
{
    long first = -1, second = -1;
    MPI_Request requests[2];

    MPI_Irecv(&first, 1, MPI_LONG, MPI_ANY_SOURCE, TRAFFIC_TAG_LAST, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&second, 1, MPI_LONG, 1, TRAFFIC_TAG_LAST, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    check_note(first);
    check_note(second);
    CHECK(first == 1 && second == 2, "first %ld, second %ld", first, second);
    check_partial();
    check_sleep_ms(100);
    abort();
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    traffic();
    if (check.rank == 0)
        receive_both_and_die();
    for (long value = 1; check.rank == 1 && value <= 2; value++)
        MPI_Send(&value, 1, MPI_LONG, 0, TRAFFIC_TAG_LAST, MPI_COMM_WORLD);
    traffic_block();
    return 0;
}
