/* SPDX-License-Identifier: MIT */
// ranks: 1
// about: more communicators are made and freed than an MPI has room for at once, while a receive
//     from anyone is under way on another
#include "check.h"

enum { DUPLICATES = 2100, TAG = 1 };

int main(int argc, char **argv)
{
    MPI_Comm control, copy;
    MPI_Request request;
    int value = -1, sent = 5;

    check_start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &control);
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, control, &request);
    for (int i = 0; i < DUPLICATES; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_free(&copy);
        CHECK(copy == MPI_COMM_NULL, "not freed");
    }
    MPI_Send(&sent, 1, MPI_INT, 0, TAG, control);
    MPI_Comm_free(&control); /* its receive is under way */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(value == sent, "%d", value);
    check_note(value);
    return check_end();
}
