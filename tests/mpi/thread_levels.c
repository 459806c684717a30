/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: differs
// about: MPI_THREAD_MULTIPLE requested, but only the main thread calls MPI; the level provided is
//     the MPI's own
#include "check.h"

enum { ROUNDS = 6, TAG = 1 };

static void note_level(int provided)
{
    int queried = -1, is_main = 0;

    MPI_Query_thread(&queried);
    MPI_Is_thread_main(&is_main);
    CHECK(queried == provided, "provided %d, queried %d", provided, queried);
    CHECK(is_main, "not the main thread");
    check_note(provided);
    if (check.rank == 0)
        printf("LEVEL provided=%d\n",
               provided); // to compare with the level that the MPI provides without us
}

int main(int argc, char **argv)
{
    note_level(check_start_thread(&argc, &argv, MPI_THREAD_MULTIPLE));
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++)
        check_send_paced(0, TAG, step);
    for (int i = 0; check.rank == 0 && i < ROUNDS * (check.size - 1); i++) {
        long value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        check_note_message(value, &status);
    }
    return check_end();
}
