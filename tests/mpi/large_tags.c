/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// across: MPI_TAG_UB
// about: tags up to MPI_TAG_UB seen through MPI_ANY_TAG
#include "check.h"

enum { TAGS = 8 };

static int upper_bound(void)
{
    int flag = 0, *upper = NULL;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag);
    CHECK(flag, "no MPI_TAG_UB");
    return *upper;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int upper = upper_bound();
    const int tags[TAGS] = {upper, 0, upper / 2, 32767, 255, upper - 1, 256, 1};
    for (int step = 0; check.rank > 0 && step < TAGS; step++)
        check_send_paced(0, tags[(step + check.rank) % TAGS], step);
    for (int i = 0; check.rank == 0 && i < TAGS * (check.size - 1); i++) {
        long value = -1;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_TAG == tags[(value % 1000000 + status.MPI_SOURCE) % TAGS], "tag %d",
              status.MPI_TAG);
        check_note_message(value, &status);
    }
    return check_end();
}
