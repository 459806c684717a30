/* SPDX-License-Identifier: MIT */
// What the programs under crash do before they end badly: wildcard traffic to rank 0, which then
// prints `PARTIAL rank=0 hash=...` of what it has received. A replay of the ended run must print
// the same line.
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "../check.h"

enum { TRAFFIC_ROUNDS = 5, TRAFFIC_TAG = 1, TRAFFIC_TAG_NEVER = 2, TRAFFIC_TAG_LAST = 3 };

static inline void traffic(void)
{
    for (int step = 0; check.rank > 0 && step < TRAFFIC_ROUNDS; step++)
        check_send_paced(0, TRAFFIC_TAG, step);
    for (int i = 0; check.rank == 0 && i < TRAFFIC_ROUNDS * (check.size - 1); i++) {
        long value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TRAFFIC_TAG, MPI_COMM_WORLD, &status);
        check_note_message(value, &status);
    }
    if (check.rank > 0)
        return;
    check_partial();
    check_sleep_ms(100); // lets the launcher forward the line before the program ends
}

// Blocks for ever: no such message is sent.
static inline void traffic_block(void)
{
    MPI_Recv(NULL, 0, MPI_LONG, MPI_ANY_SOURCE, TRAFFIC_TAG_NEVER, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

#endif
