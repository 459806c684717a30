/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks
// about: MPI_Sendrecv_replace that receives from MPI_ANY_SOURCE and any tag
#include "check.h"

enum { ROUNDS = 4 };

// A token that each rank passes on; which token comes next is a matter of arrival.
static void pass_tokens(void)
{
    long token = check_value(check.rank, 0);

    for (int step = 0; step < ROUNDS; step++)
        for (int k = 1; k < check.size; k++) {
            MPI_Status status;
            check_pace(step + k);
            MPI_Sendrecv_replace(&token, 1, MPI_LONG, (check.rank + k) % check.size, k,
                                 MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            check_note(token);
            check_note_status(&status);
        }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    pass_tokens();
    return check_end();
}
