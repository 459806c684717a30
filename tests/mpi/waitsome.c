/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: MPI_Waitsome over wildcard receives, posted again as they complete; several complete in
//     one call
#include "check.h"

enum { ROUNDS = 8, SLOTS = 4, TAG = 1 };

static void receive_all(void)
{
    int count, posted = SLOTS, indices[SLOTS], messages = ROUNDS * (check.size - 1);
    long values[SLOTS];
    MPI_Request requests[SLOTS];
    MPI_Status statuses[SLOTS];

    for (int i = 0; i < SLOTS; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[i]);
    while (MPI_Waitsome(SLOTS, requests, &count, indices, statuses), count != MPI_UNDEFINED) {
        CHECK(count >= 1 && count <= SLOTS, "count %d", count);
        check_note(count);
        for (int i = 0; i < count; i++) {
            int slot = indices[i];
            check_note(slot);
            check_note_message(values[slot], &statuses[i]);
            if (posted++ < messages)
                MPI_Irecv(&values[slot], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                          &requests[slot]);
        }
        check_sleep_ms(2); // so that several may complete in the next call
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        check_send_paced(0, TAG, step);
    if (check.rank == 0)
        receive_all();
    return check_end();
}
